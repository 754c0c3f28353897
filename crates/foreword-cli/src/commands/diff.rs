//! `foreword diff A B`: where two prompts part, which section caused it, what is billed again.

use std::fmt::Write as _;
use std::path::Path;

use foreword::{ChangeKind, Difference, Side, diff};
use foreword_gather::{Request, blueprint_by_name, gather};

use crate::args::DiffArgs;
use crate::error::CliError;
use crate::inputs::{self, parse_context, read_input, shown};
use crate::person::config_dir;
use crate::terminal::{Terminal, paint};

pub(crate) fn run(args: &DiffArgs, terminal: &Terminal) -> Result<(), CliError> {
    // One time for both sides, so that the clock is no difference; and of two workspaces, only what
    // their files say, so that a copy in another directory is no difference either.
    let asked = Request {
        agent: args.agent.clone(),
        blueprint: args.blueprint.clone(),
        now: Some(inputs::clock()),
        config_dir: config_dir().ok(),
        neutral: args.a.is_dir() && args.b.is_dir(),
        ..Request::default()
    };
    let side = |path: &Path| side(path, &asked);
    let difference = diff(&side(&args.a)?, &side(&args.b)?);
    if terminal.json {
        terminal.print_json(&difference)
    } else {
        terminal.print(&table(&difference))
    }
}

fn side(path: &Path, asked: &Request) -> Result<Side, CliError> {
    if path.is_dir() {
        let gathered = gather(path, asked)?;
        return Ok(Side::of(&gathered.blueprint.build(&gathered.context)));
    }
    let text = read_input(path)?;
    let in_file = |error: CliError| error.in_file(&shown(path));
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| in_file(CliError::usage(format!("not JSON: {error}"))))?;
    if value.get("sections").is_some() {
        return Side::from_saved(&text)
            .map_err(|error| in_file(CliError::usage(error.to_string())));
    }
    let context = parse_context(&text, path).map_err(|error| {
        error.hint("a side is a workspace, a Context, or what `foreword build --json` printed")
    })?;
    let blueprint = blueprint_by_name(asked.blueprint.as_deref().unwrap_or("standard"))?;
    Ok(Side::of(&blueprint.build(&context)))
}

/// A difference for people.
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
