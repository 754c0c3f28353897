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

mod backends;
mod choose;
mod error;
mod launcher;
mod mounts;
mod remember;
mod sandbox;
mod spec;
mod system;
#[cfg(test)]
mod testing;
mod trial;
mod width;

pub use backends::bwrap::Bwrap;
pub use backends::docker::Docker;
pub use backends::nsjail::Nsjail;
pub use backends::seatbelt::Seatbelt;
pub use backends::subprocess::{Launcher, Subprocess, landlock_level};
pub use choose::{Available, programs_in};
pub use error::SandboxError;
pub use foreword::SandboxKind;
pub use launcher::{LAUNCHER_COMMAND, LAUNCHER_FAILED, die_with_parent_args, run_launcher};
pub use sandbox::{DEFAULT_PATH, Guarantees, HOME_INSIDE, RUN_DIR_INSIDE, Sandbox};
pub use spec::SandboxSpec;
pub use width::check_workspace;
