//! Sandboxes.

use crate::names::{Choice, Inferable, names};

names! {
    /// The sandbox an agent runs in, strongest first.
    ///
    /// ```
    /// use foreword::SandboxKind;
    ///
    /// assert_eq!(SandboxKind::ALL[0].as_str(), "bwrap");
    /// ```
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
///
/// ```
/// use foreword::{Choice, SandboxChoice};
///
/// assert_eq!("auto".parse::<SandboxChoice>(), Ok(Choice::Auto));
/// ```
pub type SandboxChoice = Choice<SandboxKind>;

impl Inferable for SandboxKind {
    const AUTO: &'static str = "The strongest sandbox available.";
    const NAMES: &'static [&'static str] =
        &["auto", "bwrap", "nsjail", "docker", "seatbelt", "subprocess"];
}
