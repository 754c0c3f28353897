//! `foreword lint`: what is wrong with a workspace, and drift from its lock.

use std::fmt::Write as _;
use std::path::Path;

use foreword::{Finding, Severity};
use foreword_gather::lint_workspace;

use crate::args::LintArgs;
use crate::commands::lock::{self, LOCK_FILE};
use crate::error::CliError;
use crate::terminal::{Terminal, paint};

pub(crate) fn run(workspace: &Path, args: &LintArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut found = findings(workspace, args.agent.as_deref(), args.blueprint.as_deref())?;
    if args.lock {
        found.extend(
            lock::check(workspace)?.into_iter().map(|drift| Finding {
                rule: "lock",
                severity: Severity::Error,
                file: LOCK_FILE.to_owned(),
                line: 1,
                message: format!(
                    "the prompt of `{}` is not what the lock says: {}",
                    drift.agent, drift.message
                ),
                hint: "review the change, then run `foreword build --lock` and commit the lock"
                    .to_owned(),
            }),
        );
    }
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
    if terminal.json {
        terminal.print_json(&found)?;
    } else {
        terminal.print(&list(&found))?;
        if found.is_empty() {
            terminal.say("nothing to complain about");
        }
    }
    if errors > 0 {
        return Err(CliError::not_right(format!(
            "{errors} of {} findings are errors",
            found.len()
        )));
    }
    Ok(())
}

pub(crate) fn findings(
    workspace: &Path,
    agent: Option<&str>,
    blueprint: Option<&str>,
) -> Result<Vec<Finding>, CliError> {
    Ok(lint_workspace(workspace, agent, blueprint)?)
}

fn list(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let severity = match finding.severity {
            Severity::Error => paint("error", "31"),
            Severity::Warning => paint("warning", "33"),
        };
        let Finding { rule, file, line, message, hint, .. } = finding;
        let _ = writeln!(out, "{file}:{line}: {severity} [{rule}] {message}");
        if !hint.is_empty() {
            let _ = writeln!(out, "    {hint}");
        }
    }
    out
}
