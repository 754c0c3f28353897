//! Sandboxes.

use crate::names::{Choice, Inferable, names};

names! {
    /// The sandbox an agent runs in, strongest first.
    pub enum SandboxKind: "sandbox" {
        /// Linux namespaces through bubblewrap.
        Bwrap = "bwrap",
        /// Linux namespaces through nsjail.
        Nsjail = "nsjail",
        /// A Docker container.
        Docker = "docker",
        /// The macOS sandbox.
        Seatbelt = "seatbelt",
        /// A plain process, confined by Landlock where the kernel supports it.
        Subprocess = "subprocess",
    }
}

/// The sandbox as asked for.
pub type SandboxChoice = Choice<SandboxKind>;

impl Inferable for SandboxKind {
    const AUTO: &'static str = "The strongest sandbox available.";
    const NAMES: &'static [&'static str] =
        &["auto", "bwrap", "nsjail", "docker", "seatbelt", "subprocess"];
}
