//! `foreword schema`: JSON Schemas of what programs exchange with Foreword.

use clap::Args;
use foreword_protocol::{action_schema, actions};

use crate::error::CliError;
use crate::json;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Print a JSON Schema
///
/// Without a name, prints the protocol between agents and their host.
#[derive(Args, Debug)]
#[command(after_help = "\
Names: context, blueprint, prompt; METHOD.request and METHOD.answer for each method of
`foreword serve`; serve.request and serve.answer for the lines around them; protocol, or the name of
an action in it.

Examples:
  foreword schema context > context.schema.json
  foreword schema build.request | jq .properties
  foreword schema skill_propose")]
pub(crate) struct SchemaArgs {
    /// Name of the schema [default: protocol]
    name: Option<String>,
}

pub(crate) fn run(
    _: &WorkspaceArg,
    args: &SchemaArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let schema = match args.name.as_deref() {
        None | Some("protocol") => foreword_protocol::schema(),
        Some(name) => named(name)?,
    };
    terminal.print(&json::unversioned(&schema)?)
}

fn named(name: &str) -> Result<serde_json::Value, CliError> {
    if let Some(schema) = foreword_serve::schema(name) {
        return Ok(schema);
    }
    if let Some(action) = actions().iter().find(|action| action.name == name) {
        return Ok(action_schema(action));
    }
    let mut names = foreword_serve::schema_names();
    names.push("protocol".to_owned());
    names.extend(actions().iter().map(|action| action.name.to_owned()));
    let hint = match foreword::nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("schemas: {}", names.join(", ")),
    };
    Err(CliError::usage(format!("unknown schema `{name}`")).hint(hint))
}
