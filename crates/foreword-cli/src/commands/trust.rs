//! `foreword trust`: review what a workspace tells the model, and trust it.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::error::CliError;
use crate::hosting;
use crate::terminal::Terminal;

/// Review and trust a workspace
///
/// Shows the files that instruct the model and asks whether to trust them. Agents run only in a trusted
/// workspace. Foreword asks again when one of these files changes.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword trust -w my-agent
  foreword trust -w my-agent --yes")]
pub(crate) struct TrustArgs {
    /// Trust without asking
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(workspace: &Path, args: &TrustArgs, terminal: &Terminal) -> Result<(), CliError> {
    let host = hosting::open(workspace)?;
    hosting::review_trust(&host, args.yes, terminal)?;
    if terminal.json {
        return terminal.print_json(&json!({ "trusted": true }));
    }
    terminal.say("workspace is trusted");
    Ok(())
}
