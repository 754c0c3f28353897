//! `foreword lint`: problems of a workspace, and drift from its lock.

use std::fmt::Write as _;

use clap::Args;
use foreword::{Finding, Severity, visible_line};
use foreword_serve::findings;

use crate::error::CliError;
use crate::lock::{self, LOCK_FILE};
use crate::terminal::{Terminal, counted, paint};
use crate::workspace_arg::WorkspaceArg;

/// Check a workspace for identity bleed, wrong order, missing tools and more
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword lint -w examples/roles
  foreword lint --agent planner --json
  foreword lint --lock                 Fail if a prompt differs from foreword.lock")]
pub(crate) struct LintArgs {
    /// Check only this agent
    #[arg(short, long, value_name = "ID")]
    agent: Option<String>,
    /// Blueprint to check against
    #[arg(short, long, value_name = "NAME|FILE")]
    blueprint: Option<String>,
    /// Also fail if a prompt differs from foreword.lock
    #[arg(long)]
    lock: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &LintArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let mut found = findings(workspace, args.agent.as_deref(), args.blueprint.as_deref())?;
    if args.lock {
        found.extend(lock::check(workspace)?.into_iter().map(|drift| {
            Finding {
                rule: "lock",
                severity: Severity::Error,
                file: LOCK_FILE.to_owned(),
                line: 1,
                message: format!(
                    "the prompt of `{}` differs from the lock: {}",
                    drift.agent, drift.message
                ),
                hint:
                    "review the change, then run `foreword build --lock` and commit foreword.lock"
                        .to_owned(),
            }
        }));
    }
    let errors = found.iter().filter(|finding| finding.severity == Severity::Error).count();
    if terminal.json {
        terminal.print_json_list(&found)?;
    } else {
        terminal.print(&list(&found))?;
        if found.is_empty() {
            terminal.say("no problems found");
        }
    }
    if errors > 0 {
        let (errors, warnings) = (errors as u64, (found.len() - errors) as u64);
        return Err(CliError::failed(format!(
            "found {} and {}",
            counted(errors, "error"),
            counted(warnings, "warning")
        )));
    }
    Ok(())
}

fn list(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let severity = match finding.severity {
            Severity::Error => paint("error", "31"),
            Severity::Warning => paint("warning", "33"),
        };
        let Finding { rule, line, .. } = finding;
        // Names and texts are the workspace's words: they stay on their line.
        let (file, message, hint) = (
            visible_line(&finding.file),
            visible_line(&finding.message),
            visible_line(&finding.hint),
        );
        let _ = writeln!(out, "{file}:{line}: {severity} [{rule}] {message}");
        if !hint.is_empty() {
            let _ = writeln!(out, "    {hint}");
        }
    }
    out
}
