//! `foreword sandbox`: what the sandbox of this machine guarantees.

use std::fmt::Write as _;
use std::path::Path;

use clap::Subcommand;
use foreword::{Choice, SandboxChoice};
use foreword_sandbox::{
    Available, Check, LAUNCHER_COMMAND, Launcher, Limits, Point, Sandbox, Topic, programs_in,
};
use foreword_workspace::{CONFIG_FILE, Settings, Workspace};
use serde_json::json;

use crate::error::CliError;
use crate::program;
use crate::terminal::{Terminal, paint};
use crate::user_env;
use crate::workspace_arg::WorkspaceArg;

/// Test sandboxes
#[derive(Subcommand, Debug)]
pub(crate) enum SandboxCommand {
    /// Test from inside what the sandbox guarantees on this machine
    ///
    /// Starts a program in the sandbox that tries to reach the network, your home and keys, to change
    /// governed files, to read `.foreword` and to exceed the limits. Exits with 0 if every attempt fails
    /// and with 1 if one succeeds. Uses a temporary workspace; yours is not touched.
    #[command(after_help = "\
Examples:
  foreword sandbox check
  foreword sandbox check --sandbox subprocess
  foreword sandbox check --json | jq '.points[] | select(.holds | not)'")]
    Check {
        /// Sandbox to test
        #[arg(long, value_name = "NAME")]
        sandbox: Option<SandboxChoice>,
    },
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &SandboxCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let SandboxCommand::Check { sandbox } = command;
    let workspace = &*workspace.find_or_here();
    let settings = workspace.join(CONFIG_FILE).is_file().then(|| Workspace::open(workspace));
    let settings = settings.transpose()?.map(|workspace| workspace.config().host.clone());
    let settings = settings.unwrap_or_default();
    let personal = Settings::load(&user_env::config_dir()?)?;
    let limits = Limits::default().set(&personal.sandbox).tightened(&settings.limits);
    let launcher = launcher()?;
    let found = find(sandbox.unwrap_or(settings.sandbox), workspace, &launcher)?;
    let points = check(found.as_ref(), &launcher, limits)?;
    let holds = points.iter().all(Point::holds);
    if terminal.json {
        terminal.print_json(&as_json(found.as_ref(), &points, limits))?;
    } else {
        terminal.print(&table(found.as_ref(), &points, limits))?;
    }
    if holds {
        return Ok(());
    }
    let missing = points.iter().filter(|point| !point.holds()).count();
    Err(CliError::failed(format!("{missing} guarantees do not hold in sandbox {}", found.name()))
        .hint("see docs/sandboxes.md for what each sandbox guarantees; install bubblewrap for the strongest"))
}

fn launcher() -> Result<Launcher, CliError> {
    Ok(Launcher {
        program: program::executable()?,
        library: program::library(),
        command: vec![LAUNCHER_COMMAND.into()],
    })
}

fn find(
    choice: SandboxChoice,
    workspace: &Path,
    launcher: &Launcher,
) -> Result<Box<dyn Sandbox>, CliError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    let lookup = programs_in(&path, &root);
    let available = Available {
        lookup: &lookup,
        launcher: launcher.clone(),
        docker_image: std::env::var("FOREWORD_DOCKER_IMAGE").ok(),
        // A test asks the machine, not what was found out before.
        remember_in: None,
    };
    match choice {
        Choice::Auto => Ok(available.best()),
        Choice::Fixed(kind) => {
            available.named(kind).map_err(|error| CliError::usage(error.to_string()))
        }
    }
}

fn check(
    sandbox: &dyn Sandbox,
    launcher: &Launcher,
    limits: Limits,
) -> Result<Vec<Point>, CliError> {
    let failed = |error: String| CliError::internal(format!("cannot test the sandbox: {error}"));
    let scratch = ScratchDir::create().map_err(|error| failed(error.to_string()))?;
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let keys = user_env::config_dir().map(|at| vec![at.join("audit.key")]).unwrap_or_default();
    let home = home.as_deref();
    let check = Check { sandbox, launcher, scratch: &scratch.0, home, keys, limits };
    check.run().map_err(|error| failed(error.to_string()))
}

/// A directory for the test, removed afterwards.
struct ScratchDir(std::path::PathBuf);

impl ScratchDir {
    fn create() -> std::io::Result<Self> {
        let name = format!("foreword-check-{}-{}", std::process::id(), user_env::now_ms());
        let path = std::env::temp_dir().canonicalize()?.join(name);
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700)
            .create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn table(sandbox: &dyn Sandbox, points: &[Point], limits: Limits) -> String {
    let mut out = format!("sandbox {}\n", sandbox.name());
    for point in points {
        let (name, good, bad) = words(point.topic);
        let verdict = match (point.holds(), point.promised) {
            (true, _) => paint(good, "32"),
            (false, true) => paint(&format!("BROKEN: {bad}"), "31"),
            (false, false) => paint(bad, "33"),
        };
        let _ = writeln!(out, "  {name:<16} {verdict}");
        for found in &point.found {
            let _ = writeln!(out, "  {:<16}   {found}", "");
        }
        if point.topic == Topic::Limits {
            let _ = writeln!(out, "  {:<16}   {}", "", limits_line(limits));
        }
    }
    let dies = sandbox.guarantees().dies_with_host;
    let outlive = if dies { "no (not tested here)" } else { "possible" };
    let _ = writeln!(out, "  {:<16} {outlive}", "outlives host");
    out
}

fn limits_line(limits: Limits) -> String {
    let mib = |bytes: u64| bytes >> 20;
    format!(
        "{} processes and threads, {} MiB memory, {} open files, {} MiB per file, {} MiB temporary files",
        limits.processes,
        mib(limits.memory_bytes),
        limits.open_files,
        mib(limits.file_bytes),
        mib(limits.temporary_bytes)
    )
}

/// The name of a topic, and what is said if it holds and if it does not.
fn words(topic: Topic) -> (&'static str, &'static str, &'static str) {
    match topic {
        Topic::Workspace => ("workspace", "writable", "not writable"),
        Topic::Network => ("network", "closed", "open"),
        Topic::Home => ("home", "hidden", "visible"),
        Topic::Keys => ("keys", "hidden", "visible"),
        Topic::Governed => ("governed files", "read-only", "writable"),
        Topic::Private => (".foreword", "hidden", "readable"),
        Topic::Limits => ("limits", "enforced", "not enforced"),
        Topic::KernelCalls => ("user namespaces", "refused", "allowed"),
    }
}

fn as_json(sandbox: &dyn Sandbox, points: &[Point], limits: Limits) -> serde_json::Value {
    let points: Vec<_> = points
        .iter()
        .map(|point| {
            json!({
                "topic": point.topic,
                "promised": point.promised,
                "holds": point.holds(),
                "found": point.found,
            })
        })
        .collect();
    json!({
        "sandbox": sandbox.name(),
        "holds": points.iter().all(|point| point["holds"] == true),
        "points": points,
        "diesWithHost": sandbox.guarantees().dies_with_host,
        "limits": {
            "processes": limits.processes,
            "memoryBytes": limits.memory_bytes,
            "openFiles": limits.open_files,
            "fileBytes": limits.file_bytes,
            "temporaryBytes": limits.temporary_bytes,
            "diskReserveBytes": limits.disk_reserve_bytes,
        },
    })
}
