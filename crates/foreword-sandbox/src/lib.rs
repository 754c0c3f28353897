//! Sandboxes in which agents run, the trust a person puts in a workspace, and what an agent left under
//! governed names.
//!
//! This crate owns the [`Sandbox`] trait and its implementations, what each really promises
//! ([`Guarantees`]), the launcher that confines a process of the host, [`Trust`] and [`Quarantine`]. It
//! builds commands; whoever calls it spawns them. It must not know of prompts, sessions or models, and
//! reads neither clock nor environment.
//!
//! ```no_run
//! use foreword_sandbox::{Bwrap, Sandbox, SandboxSpec};
//! # fn spec() -> SandboxSpec { unimplemented!() }
//!
//! let sandbox = Bwrap::new("/usr/bin/bwrap".into());
//! sandbox.trial()?;
//! assert!(!sandbox.guarantees().advisory());
//! let child = sandbox.command(&spec())?.spawn()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bwrap;
mod choose;
#[cfg(target_os = "linux")]
mod confine;
mod docker;
mod error;
mod expect;
mod launcher;
mod mounts;
mod nsjail;
#[cfg(target_os = "linux")]
mod process_tree;
mod quarantine;
mod remember;
mod repositories;
mod sandbox;
mod seatbelt;
mod spec;
mod subprocess;
#[cfg(target_os = "linux")]
mod supervise;
mod system;
#[cfg(test)]
mod testing;
mod trial;
mod trust;
mod width;

pub use bwrap::Bwrap;
pub use choose::{Available, programs_in};
pub use docker::Docker;
pub use error::SandboxError;
pub use launcher::{LAUNCHER_COMMAND, LAUNCHER_FAILED, die_with_parent_args, run_launcher};
pub use nsjail::Nsjail;
pub use quarantine::{PutAside, Quarantine, Quarantined};
pub use repositories::run_by_host;
pub use sandbox::{DEFAULT_PATH, Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox, SandboxKind};
pub use seatbelt::Seatbelt;
pub use spec::SandboxSpec;
pub use subprocess::{Launcher, Subprocess, landlock_level};
pub use trust::{Standing, Trust, TrustChange};
pub use width::check_workspace;
