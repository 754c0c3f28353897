//! What agents may not change on their own, and how a person allows it.
//!
//! Governed files (identity files, instructions, prompts, skills, settings) speak to the model with
//! authority. Before a turn, `trust` compares them with what the person accepted, which `TrustStore` of
//! foreword-workspace keeps outside the workspace; `disclosure` is what the question shows. `protected`
//! says what a sandbox makes read-only or hides. After a turn, `quarantine` moves away every governed file
//! the agent created. An agent that wants such a change proposes it (`identity`), and an action refused
//! because of taint waits for a grant (`grants`). Which calls of tools need a question is in `permissions`. What a turn wrote is noted as tainted (`written_files`),
//! and taint falls only when a person clears it (`taint`).
//!
//! Files that run on the person's machine may be changed. `before` keeps their state from the start of
//! a turn, `changes` puts them back after it (`file_version`), and `held` applies what a person approves.

pub(crate) mod before;
mod changes;
mod disclosure;
mod error;
mod file_version;
mod grants;
mod held;
pub(crate) mod identity;
pub(crate) mod permissions;
pub(crate) mod protected;
pub(crate) mod quarantine;
pub(crate) mod skill_approval;
mod taint;
mod trust;
mod written_files;

pub use disclosure::{
    DisclosedCommand, DisclosedFile, DisclosedModel, DisclosedSetting, DisclosedSkill,
    DisclosedSkillFile, Disclosure, what_it_gives_away,
};
pub use error::GovernanceError;
pub use permissions::{PermissionAnswer, PermissionQuestion, decide_call};
