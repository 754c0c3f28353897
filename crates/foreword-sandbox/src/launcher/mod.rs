//! The hidden command that starts a program confined: the host's own binary, run as an intermediate step.
//!
//! Five modes, each with the command to run after `--`; `--limits` sets limits in any of them that
//! becomes the program. `--supervise` stays and ends everything
//! below it when the host or the program ends; `--confine` drops rights and becomes the program;
//! `--check` becomes the program if the mounts are the expected files; `--die-with-parent-only` becomes
//! the program, which then dies with its parent; `--probe` tries what a sandbox should prevent, and the
//! command is the name of a part.

#[cfg(target_os = "linux")]
pub(crate) mod confine;
pub(crate) mod expect;
#[cfg(target_os = "linux")]
pub(crate) mod probe;
#[cfg(target_os = "linux")]
pub(crate) mod process_tree;
#[cfg(target_os = "linux")]
pub(crate) mod restrict;
#[cfg(target_os = "linux")]
pub(crate) mod supervise;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::error::SandboxError;
use crate::limits::Rlimits;
use expect::Expected;

/// The name of the command, for the front end that offers it.
pub const LAUNCHER_COMMAND: &str = "sandbox-launch";
/// The exit status of a launcher that failed.
pub const LAUNCHER_FAILED: u8 = 125;

/// The restrictions on a program.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Confinement {
    /// The ABI of Landlock to enforce; 0 for none.
    pub(crate) landlock: u8,
    pub(crate) workspace: PathBuf,
    pub(crate) writable: bool,
    pub(crate) governed: Vec<PathBuf>,
    pub(crate) private: Vec<PathBuf>,
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) run_dir: PathBuf,
    /// Made if it is not there.
    pub(crate) temporary: PathBuf,
    pub(crate) ports: Vec<u16>,
    pub(crate) limits: Option<Rlimits>,
}

/// The task of the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    Supervise { parent: u32 },
    Confine(Box<Confinement>),
    Check { expected: Vec<Expected>, limits: Option<Rlimits> },
    DieWithParentOnly { parent: u32 },
    Probe,
}

/// Runs the launcher with its arguments, without the name of the command.
///
/// `--supervise` returns the exit status of the program, and `--probe` zero. The other modes replace this
/// process, so they return only on an error, and then the program was not started.
pub fn run_launcher(args: impl Iterator<Item = OsString>) -> Result<u8, SandboxError> {
    let (mode, command) = parse(args)?;
    carry_out(mode, &command)
}

#[cfg(target_os = "linux")]
fn carry_out(mode: Mode, command: &[OsString]) -> Result<u8, SandboxError> {
    match mode {
        Mode::Supervise { parent } => supervise::supervise(parent, command),
        Mode::Confine(confinement) => {
            confine::confine(&confinement)?;
            confinement.limits.map_or(Ok(()), restrict::restrict)?;
            Err(supervise::become_program(command))
        }
        Mode::Check { expected, limits } => {
            expect::check(&expected)?;
            limits.map_or(Ok(()), restrict::restrict)?;
            Err(supervise::become_program(command))
        }
        Mode::DieWithParentOnly { parent } => {
            supervise::die_with(parent)?;
            Err(supervise::become_program(command))
        }
        Mode::Probe => probe::probe(command),
    }
}

#[cfg(not(target_os = "linux"))]
fn carry_out(_mode: Mode, _command: &[OsString]) -> Result<u8, SandboxError> {
    Err(failed("works on Linux only"))
}

/// The arguments for a program that dies with the process that starts it, to be put after the path of
/// the launcher and, where it is a command of a larger program, its name.
#[must_use]
pub fn die_with_parent_args(program: &OsStr) -> Vec<OsString> {
    let parent = std::process::id().to_string();
    vec![
        "--die-with-parent-only".into(),
        "--parent".into(),
        parent.into(),
        "--".into(),
        program.into(),
    ]
}

/// Whether the launcher can refuse user namespaces and key rings here: it knows the system calls.
pub(crate) const fn refuses_user_namespaces() -> bool {
    cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))
}

impl Confinement {
    /// The arguments that say this.
    pub(crate) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["--confine".into()];
        let mut option = |name: &str, value: &OsStr| args.extend([name.into(), value.to_owned()]);
        option("--landlock", self.landlock.to_string().as_ref());
        option("--workspace", self.workspace.as_ref());
        option("--run-dir", self.run_dir.as_ref());
        option("--temporary", self.temporary.as_ref());
        for (name, paths) in [
            ("--governed", &self.governed),
            ("--private", &self.private),
            ("--read-only", &self.read_only),
        ] {
            paths.iter().for_each(|path| option(name, path.as_ref()));
        }
        self.ports.iter().for_each(|port| option("--port", port.to_string().as_ref()));
        if let Some(limits) = self.limits {
            option("--limits", &limits.to_arg());
        }
        if self.writable {
            args.push("--writable".into());
        }
        args
    }
}

fn parse(mut args: impl Iterator<Item = OsString>) -> Result<(Mode, Vec<OsString>), SandboxError> {
    let mode = args.next().ok_or_else(|| failed("missing mode and program"))?;
    let mut confinement = Confinement::default();
    let mut parent = None;
    let mut expected = Vec::new();
    loop {
        let Some(option) = args.next() else {
            return Err(failed("`--` and a program are missing"));
        };
        let name = option.to_str().unwrap_or_default().to_owned();
        if name == "--" {
            break;
        }
        if name == "--writable" {
            confinement.writable = true;
            continue;
        }
        let value = args.next().ok_or_else(|| failed(&format!("`{name}` needs a value")))?;
        let path = PathBuf::from(&value);
        match name.as_str() {
            "--parent" => parent = Some(number(&name, &value)?),
            "--landlock" => confinement.landlock = number(&name, &value)?,
            "--workspace" => confinement.workspace = path,
            "--run-dir" => confinement.run_dir = path,
            "--temporary" => confinement.temporary = path,
            "--governed" => confinement.governed.push(path),
            "--private" => confinement.private.push(path),
            "--read-only" => confinement.read_only.push(path),
            "--expect" => expected.push(
                Expected::parse(&value)
                    .ok_or_else(|| failed("`--expect` needs device, file and path"))?,
            ),
            "--limits" => {
                let limits = Rlimits::parse(&value);
                confinement.limits =
                    Some(limits.ok_or_else(|| failed("`--limits` needs three numbers"))?);
            }
            "--port" => confinement.ports.push(number(&name, &value)?),
            _ => return Err(failed(&format!("unknown option `{}`", option.display()))),
        }
    }
    let command: Vec<OsString> = args.collect();
    if command.is_empty() {
        return Err(failed("missing program after `--`"));
    }
    let parent = |what| parent.ok_or_else(|| failed(&format!("{what} needs --parent")));
    let mode = match mode.to_str() {
        Some("--supervise") => Mode::Supervise { parent: parent("--supervise")? },
        Some("--die-with-parent-only") => {
            Mode::DieWithParentOnly { parent: parent("--die-with-parent-only")? }
        }
        Some("--probe") => Mode::Probe,
        Some("--check") => Mode::Check { expected, limits: confinement.limits },
        Some("--confine") => Mode::Confine(Box::new(confinement)),
        _ => return Err(failed(&format!("unknown mode `{}`", mode.display()))),
    };
    Ok((mode, command))
}

fn number<T: std::str::FromStr>(name: &str, value: &OsStr) -> Result<T, SandboxError> {
    let number = value.to_str().and_then(|text| text.parse().ok());
    number.ok_or_else(|| failed(&format!("`{name}` needs a number, not `{}`", value.display())))
}

pub(crate) fn failed(message: &str) -> SandboxError {
    SandboxError::Launcher { message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn parsed(args: &[&str]) -> Result<(Mode, Vec<OsString>), String> {
        parse(args.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_confinement_is_read_back_as_it_was_written() {
        let confinement = Confinement {
            landlock: 6,
            workspace: "/w s".into(),
            writable: true,
            governed: vec!["/w s/SOUL.md".into(), "/w s/--".into()],
            private: vec!["/w s/.foreword".into()],
            read_only: vec!["/opt/\n".into()],
            run_dir: "/r".into(),
            temporary: "/r/tmp".into(),
            ports: vec![4000, 4001],
            limits: Some(Limits::default().shared_user()),
        };
        let mut args = confinement.to_args();
        args.extend(["--", "/bin/sh", "--", "-c"].map(OsString::from));
        let (mode, command) = parse(args.into_iter()).unwrap();
        assert_eq!(mode, Mode::Confine(Box::new(confinement)));
        assert_eq!(command, ["/bin/sh", "--", "-c"]);
    }

    #[test]
    fn arguments_that_make_no_sense_are_refused() {
        for (args, says) in [
            (&[][..], "missing mode and program"),
            (&["--confine"], "are missing"),
            (&["--confine", "--"], "missing program"),
            (&["--confine", "--port", "x", "--", "a"], "needs a number, not `x`"),
            (&["--confine", "--port"], "needs a value"),
            (&["--confine", "--what", "x", "--", "a"], "unknown option `--what`"),
            (&["--check", "--expect", "1:2", "--", "a"], "needs device"),
            (&["--check", "--limits", "1:2", "--", "a"], "needs three numbers"),
            (&["--run", "--", "a"], "unknown mode `--run`"),
            (&["--supervise", "--", "a"], "needs --parent"),
            (&["--die-with-parent-only", "--", "a"], "needs --parent"),
        ] {
            let error = parsed(args).unwrap_err();
            assert!(error.starts_with("sandbox launcher: ") && error.contains(says), "{error}");
        }
    }
}
