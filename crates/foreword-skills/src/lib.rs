//! Skills an agent may write, and nobody has to fear.
//!
//! This crate owns the format of skills, their names, how they are listed, and the stores that keep
//! them: [`GitStore`], in which every change is screened, audited and one commit, and
//! [`ReadOnlyStore`]. It must not bypass the audit log: there is no way to change a skill through
//! this crate that leaves no entry. It reads no environment, and no clock but to judge the stamps of
//! files.
//!
//! A change goes through three steps, so that a crash between any two loses nothing: an *intent* in
//! the database, the *commit* in the repository, and *done* in the database. What is found half done
//! is finished or undone before the next change.

mod approvals;
mod carry_out;
mod complete;
mod decide;
mod diff;
mod draft;
mod error;
mod fields;
mod folder;
mod format;
mod git_store;
mod history;
mod listing;
mod listing_cache;
mod lock;
mod message;
mod name;
mod private;
mod propose;
mod read_only;
mod repository;
mod revert;
mod screening;
mod store;
mod taint;
mod take_in;
mod work_tree;

pub use approvals::{Approvals, Standing};
pub use complete::completed;
pub use diff::{is_format, unified, visible_line};
pub use draft::name_of_file;
pub use error::SkillError;
pub use folder::{skill_file, validate_folder};
pub use format::{FormatFault, LONGEST_COMPATIBILITY, SkillDocument, validate};
pub use git_store::{GitStore, GitStoreOptions};
pub use listing::{LIST_CACHE, Listed, Listing, SkillMeta, list};
pub use name::{LONGEST_NAME, NameError, SkillName, name_faults};
pub use read_only::ReadOnlyStore;
pub use screening::Screeners;
pub use store::{
    Act, Committed, LogEntry, LogOptions, ProposalRequest, ProposalResult, SkillContent, SkillStore,
};
pub use taint::TaintState;
pub use take_in::{Taken, TakenState};
