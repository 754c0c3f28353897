//! `foreword diff A B`: the first difference of two prompts, its section, and the tokens it bills again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use foreword::{ChangeKind, Difference, Side, diff};
use foreword_gather::{Request, blueprint_by_name, gather};

use crate::error::CliError;
use crate::inputs::{self, display_name, parse_context, read_input};
use crate::terminal::{Terminal, paint};
use crate::user_env::config_dir;
use crate::workspace_arg::WorkspaceArg;

/// Compare two prompts and show what is billed again
#[derive(Args, Debug)]
#[command(after_help = "\
A and B are each a workspace directory, a Context as JSON, or a saved `foreword build --json`.

Examples:
  foreword build --json > before.json; $EDITOR SOUL.md; foreword diff before.json .
  foreword diff main-checkout . \"fix the login bug\"
  foreword diff --exit-code yesterday.json today.json")]
pub(crate) struct DiffArgs {
    /// First prompt
    a: PathBuf,
    /// Second prompt
    b: PathBuf,
    /// Task to build the prompts for, for workspaces and Contexts
    task: Option<String>,
    /// Exit with 1 if the prompts differ
    #[arg(long)]
    exit_code: bool,
    /// Agent, for workspaces
    #[arg(short, long, value_name = "ID")]
    agent: Option<String>,
    /// Blueprint, for workspaces and Contexts
    #[arg(short, long, value_name = "NAME|FILE")]
    blueprint: Option<String>,
}

pub(crate) fn run(_: &WorkspaceArg, args: &DiffArgs, terminal: &Terminal) -> Result<(), CliError> {
    // Both sides get the same time. Two workspaces are compared by their files alone, so that a copy in
    // another directory is identical.
    let asked = Request {
        agent: args.agent.clone(),
        blueprint: args.blueprint.clone(),
        now: Some(inputs::clock()),
        config_dir: config_dir().ok(),
        // A neutral build has no task.
        neutral: args.a.is_dir() && args.b.is_dir() && args.task.is_none(),
        task: args.task.clone(),
        ..Request::default()
    };
    let side = |path: &Path| side(path, &asked);
    let difference = diff(&side(&args.a)?, &side(&args.b)?);
    if terminal.json {
        terminal.print_json(&difference)?;
    } else {
        terminal.print(&table(&difference))?;
    }
    if args.exit_code && !difference.identical {
        return Err(CliError::failed("the prompts differ"));
    }
    Ok(())
}

fn side(path: &Path, asked: &Request) -> Result<Side, CliError> {
    if path.is_dir() {
        let gathered = gather(path, asked)?;
        return Ok(Side::of(&gathered.blueprint.build(&gathered.context)));
    }
    let text = read_input(path)?;
    let in_file = |error: CliError| error.in_file(&display_name(path));
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| in_file(CliError::usage(format!("invalid JSON: {error}"))))?;
    if value.get("sections").is_some() {
        return Side::from_saved(&text)
            .map_err(|error| in_file(CliError::usage(error.to_string())));
    }
    let mut context = parse_context(&text, path).map_err(|error| {
        error.hint("pass a workspace, a Context, or a saved `foreword build --json`")
    })?;
    if let Some(task) = &asked.task {
        context.task = task.as_str().into();
    }
    let blueprint = blueprint_by_name(asked.blueprint.as_deref().unwrap_or("standard"))?;
    Ok(Side::of(&blueprint.build(&context)))
}

/// A difference as text.
pub(crate) fn table(difference: &Difference) -> String {
    let mut out = String::new();
    if difference.identical {
        let _ = writeln!(out, "identical: {} tokens", difference.tokens_after);
        return out;
    }
    if let Some(first) = difference.first_byte {
        let _ = writeln!(
            out,
            "{} {first}, line {}, in section {}",
            paint("first differing byte", "34"),
            difference.line.unwrap_or(1),
            difference.section.as_deref().unwrap_or("(end)")
        );
    }
    let _ = writeln!(out, "  - {}", difference.excerpt_before.as_deref().unwrap_or_default());
    let _ = writeln!(out, "  + {}", difference.excerpt_after.as_deref().unwrap_or_default());
    for change in &difference.changes {
        let kind = match change.kind {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Changed => "changed",
            ChangeKind::Moved => "moved",
        };
        let _ = writeln!(
            out,
            "  {kind:8} {}: {} -> {} tokens",
            change.module, change.tokens_before, change.tokens_after
        );
    }
    let _ = writeln!(
        out,
        "{} -> {} tokens; {} bytes stay cached, {} {} billed again",
        difference.tokens_before,
        difference.tokens_after,
        difference.kept_bytes,
        difference.billed_again_tokens,
        if difference.billed_again_tokens == 1 { "token is" } else { "tokens are" }
    );
    out
}
