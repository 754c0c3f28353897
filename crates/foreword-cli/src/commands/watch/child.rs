//! The program that is watched.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::CliError;
use crate::terminal::Terminal;

/// Runs the program to its end; gives its exit code.
pub(super) fn run(
    command: &[OsString],
    variables: &[(OsString, OsString)],
    terminal: &Terminal,
) -> Result<i32, CliError> {
    let (program, arguments) =
        command.split_first().ok_or_else(|| CliError::usage("no program to watch"))?;
    let mut child = Command::new(program);
    child.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    if terminal.json {
        // Standard output is for the report.
        child.stdout(Stdio::from(io::stderr()));
    }
    // Listens before the program starts, so that no signal ends this process and leaves the program alone.
    let mut signals = listen(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
    let handle = signals.handle();
    let mut child = child.spawn().map_err(|error| {
        let name = program.to_string_lossy();
        let failed = CliError::usage(format!("cannot start `{name}`: {error}"));
        if error.kind() == io::ErrorKind::NotFound {
            failed.hint("check the name of the program and PATH")
        } else {
            failed
        }
    })?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let forwarding = std::thread::spawn(move || {
        for signal in signals.forever() {
            // A terminal sends Ctrl-C to the program by itself.
            let is_sent = matches!(signal, SIGINT | SIGQUIT) && io::stdin().is_terminal();
            let signal = match signal {
                SIGINT => Signal::INT,
                SIGQUIT => Signal::QUIT,
                SIGHUP => Signal::HUP,
                _ => Signal::TERM,
            };
            if let Some(pid) = pid.filter(|_| !is_sent) {
                let _ = kill_process(pid, signal);
            }
        }
    });
    let status = child.wait();
    handle.close();
    let _ = forwarding.join();
    let status = status
        .map_err(|error| CliError::internal(format!("cannot wait for the program: {error}")))?;
    Ok(exit_code(status))
}

#[cfg(unix)]
fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Waits until the person stops the proxy.
pub(super) fn wait_for_interrupt() -> Result<(), CliError> {
    listen(&[SIGINT, SIGTERM, SIGHUP])?.forever().next();
    Ok(())
}

fn listen(signals: &[i32]) -> Result<Signals, CliError> {
    Signals::new(signals)
        .map_err(|error| CliError::internal(format!("cannot install signal handlers: {error}")))
}
