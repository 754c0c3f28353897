//! Sandboxes in which agents run.
//!
//! This crate owns the [`Sandbox`] trait and its backends, what each guarantees ([`Guarantees`]), and
//! the launcher that confines a process with Landlock. It builds commands and the caller spawns them.
//! It knows nothing of prompts, sessions or models, and reads neither clock nor environment.
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

mod backends;
#[cfg(target_os = "linux")]
mod check;
mod choose;
mod error;
mod launcher;
mod limits;
mod monitor;
mod mounts;
mod probe_cache;
mod sandbox;
mod spec;
mod system;
#[cfg(test)]
mod testing;
mod trial;
mod workspace_check;

pub use backends::bwrap::Bwrap;
pub use backends::docker::Docker;
pub use backends::nsjail::Nsjail;
pub use backends::seatbelt::Seatbelt;
pub use backends::subprocess::{Launcher, Subprocess, landlock_level};
#[cfg(target_os = "linux")]
pub use check::{Check, Point};
pub use choose::{Available, programs_in};
pub use error::SandboxError;
pub use foreword::SandboxKind;
#[cfg(target_os = "linux")]
pub use launcher::probe::Topic;
pub use launcher::{LAUNCHER_COMMAND, LAUNCHER_FAILED, die_with_parent_args, run_launcher};
pub use limits::Limits;
pub use monitor::{Exceeded, Monitor, Watched};
pub use sandbox::{DEFAULT_PATH, Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox};
pub use spec::SandboxSpec;
pub use workspace_check::check_workspace;
