//! `foreword schema`: the protocol between agents and their host.

use clap::Args;
use foreword_protocol::{action_schema, actions, schema};

use crate::error::CliError;
use crate::json;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Print the JSON Schema of the agent protocol
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword schema
  foreword schema skill_propose | jq .properties")]
pub(crate) struct SchemaArgs {
    /// Print only the arguments of this action
    action: Option<String>,
}

pub(crate) fn run(
    _: &WorkspaceArg,
    args: &SchemaArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let Some(name) = &args.action else { return terminal.print(&json::unversioned(&schema())?) };
    let found = actions().iter().find(|action| action.name == name);
    let Some(found) = found else {
        let names = actions().iter().map(|action| action.name);
        let hint = match foreword::nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("actions: {}", names.collect::<Vec<_>>().join(", ")),
        };
        return Err(CliError::usage(format!("unknown action `{name}`")).hint(hint));
    };
    terminal.print(&json::unversioned(&action_schema(found))?)
}
