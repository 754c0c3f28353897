//! `foreword taint`: what holds external content, and clearing it.

use std::fmt::Write as _;
use std::path::{Component, Path};

use clap::{Args, Subcommand};
use foreword_store::Tainted;

use crate::commands::skill::store;
use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, counted, plain_line};
use crate::user_env::format_time;
use crate::workspace_arg::WorkspaceArg;

/// Items to show before the question.
const MAX_SHOWN: usize = 20;

/// List and clear tainted files, memories and sessions
#[derive(Subcommand, Debug)]
pub(crate) enum TaintCommand {
    /// List tainted files, memories, tasks, schedules, skill proposals and sessions
    ///
    /// A session is tainted once it has read external content. What it writes afterwards is tainted too, and counts as
    /// external content in every session that reads it.
    #[command(after_help = "\
Examples:
  foreword taint list
  foreword taint list --json | jq -r '.[] | select(.kind == \"file\") | .id'")]
    List,
    Clear(TaintClearArgs),
}

/// Clear tainted items after reviewing them
///
/// The audit log records who cleared what.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword taint clear notes.md         Clear a file
  foreword taint clear 4k7tqa ops       Clear an item by ID and a session by name
  foreword taint clear --all --yes      Clear everything")]
pub(crate) struct TaintClearArgs {
    /// Files, IDs and session names; `foreword taint list` shows them
    #[arg(value_name = "WHAT", required_unless_present = "all", conflicts_with = "all")]
    what: Vec<String>,
    /// Clear everything
    #[arg(long)]
    all: bool,
    /// Clear without asking
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    command: &TaintCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    match command {
        TaintCommand::List => list(workspace, terminal),
        TaintCommand::Clear(args) => clear(workspace, args, terminal),
    }
}

fn list(workspace: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let reader = store(workspace)?.reader()?;
    let items = reader.map(|reader| reader.tainted()).transpose()?.unwrap_or_default();
    if terminal.json {
        return terminal.print_json_list(&items);
    }
    if items.is_empty() {
        terminal.say("nothing is tainted");
    }
    terminal.print(&lines(&items))
}

fn clear(workspace: &Path, args: &TaintClearArgs, terminal: &Terminal) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    let all = host.reader().tainted()?;
    let mut items: Vec<Tainted> = Vec::new();
    if args.all {
        items = all;
    } else {
        for what in &args.what {
            let item = find(&all, what, host.root())?;
            if !items.contains(item) {
                items.push(item.clone());
            }
        }
    }
    if items.is_empty() {
        if terminal.json {
            return terminal.print_json_list(&items);
        }
        terminal.say("nothing is tainted");
        return Ok(());
    }
    if !args.yes {
        let mut shown = lines(items.get(..MAX_SHOWN).unwrap_or(&items));
        if let Some(more) = items.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(shown, "and {more} more");
        }
        terminal.show(&shown)?;
    }
    let question = format!("Clear {}?", counted(items.len() as u64, "tainted item"));
    if !terminal.confirm(&question, args.yes)? {
        return Err(CliError::failed("nothing was cleared"));
    }
    host.clear_taint(items.clone())?;
    if terminal.json {
        return terminal.print_json_list(&items);
    }
    terminal.say(&format!("cleared {}", counted(items.len() as u64, "tainted item")));
    Ok(())
}

/// The one item that a word names: a path, a whole ID or name, or the start of an ID.
fn find<'a>(all: &'a [Tainted], what: &str, root: &Path) -> Result<&'a Tainted, CliError> {
    let path = relative(what, root);
    let exact = |item: &&Tainted| item.id == what || Some(item.id.as_str()) == path.as_deref();
    let mut found: Vec<&Tainted> = all.iter().filter(exact).collect();
    if found.is_empty() && !what.is_empty() {
        found = all.iter().filter(|item| item.id.starts_with(what)).collect();
    }
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(CliError::usage(format!("`{}` is not tainted", plain_line(what, 80)))
            .hint("run `foreword taint list` to list what is")),
        several => Err(several.iter().take(MAX_SHOWN).fold(
            CliError::usage(format!("`{}` matches several items", plain_line(what, 80))),
            |error, item| error.hint(plain_line(&item.to_string(), 120)),
        )),
    }
}

/// A path that a person names, relative to the workspace.
fn relative(what: &str, root: &Path) -> Option<String> {
    let path = std::path::absolute(what).ok()?;
    let below = path.strip_prefix(root).unwrap_or(Path::new(what));
    let mut names = Vec::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir => drop(names.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/"))
}

fn lines(items: &[Tainted]) -> String {
    let mut out = String::new();
    for item in items {
        let _ = write!(
            out,
            "{:8}  {}  {}",
            item.kind.as_str(),
            format_time(item.at),
            plain_line(&item.id, 120)
        );
        if !item.text.is_empty() {
            let _ = write!(out, "  {}", plain_line(&item.text, 100));
        }
        if let Some(source) = &item.source {
            let _ = write!(out, "  (from {})", plain_line(source, 60));
        }
        out.push('\n');
    }
    out
}
