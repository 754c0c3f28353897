//! `foreword trust`: review what a workspace tells the model and gives away, and trust it.

use std::path::PathBuf;

use clap::Args;
use foreword::visible_line;
use foreword_workspace::{Standing, TrustStore};
use serde_json::json;

use crate::error::CliError;
use crate::hosting;
use crate::terminal::Terminal;
use crate::trust_question;
use crate::user_env;
use crate::workspace_arg::WorkspaceArg;

/// Review and trust a workspace
///
/// Shows the files that instruct the model, the skills, the MCP servers, and every setting for an address, key,
/// sandbox, profile, directory or permission, and asks whether to trust them. Agents run only in a trusted workspace.
/// Foreword asks again when one of these changes, or when a server offers other tools. The exit code is 1 if an MCP
/// server is off afterwards.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword trust -w my-agent
  foreword trust -w my-agent --yes
  foreword trust --list
  foreword trust -w my-agent --revoke")]
pub(crate) struct TrustArgs {
    /// Working directory of the agent: also reviews the instructions on the way to it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Trust without asking
    #[arg(short, long)]
    yes: bool,
    /// List the workspaces you have trusted
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    list: bool,
    /// Stop trusting this workspace
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &TrustArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if args.list {
        return list(terminal);
    }
    if args.revoke {
        let revoked = revoke(workspace)?;
        if terminal.json {
            return terminal.print_json(&json!({ "trusted": false, "revoked": revoked }));
        }
        terminal.say(if revoked {
            "workspace is no longer trusted"
        } else {
            "workspace was not trusted"
        });
        return Ok(());
    }
    let host = hosting::open(&workspace.find()?)?;
    let (standing, now) = host.standing(args.cwd.as_deref())?;
    if standing == Standing::Trusted {
        let text = trust_question::everything(&host.disclosure(&now)?);
        terminal.say(text.trim_end());
    } else {
        hosting::review_trust(&host, args.cwd.as_deref(), args.yes, terminal)?;
    }
    let mut off = hosting::review_servers(&host, true, args.yes, terminal)?;
    off.extend(host.servers_off()?);
    off.sort_unstable();
    off.dedup();
    if terminal.json {
        terminal.print_json(&json!({ "trusted": true, "serversOff": off }))?;
    }
    let named: Vec<_> = off.iter().map(|name| format!("`{}`", visible_line(name))).collect();
    let (what, are) = if off.len() == 1 { ("server", "is") } else { ("servers", "are") };
    if !off.is_empty() {
        let message =
            format!("workspace is trusted, but MCP {what} {} {are} off", named.join(", "));
        return Err(CliError::failed(message).hint(
            "`foreword lint` says why; correct it, or set `enabled = false` for the server",
        ));
    }
    if !terminal.json {
        terminal.say("workspace is trusted");
    }
    Ok(())
}

/// Stops trusting a workspace, also one that was deleted.
fn revoke(workspace: &WorkspaceArg) -> Result<bool, CliError> {
    let given = workspace.directory();
    if given.exists() {
        return Ok(hosting::open(&workspace.find()?)?.revoke_trust()?);
    }
    // It was stored with the links on the way to it resolved, which may still be there.
    let path = std::path::absolute(given).unwrap_or_else(|_| given.to_owned());
    let existing = path.ancestors().skip(1).find_map(|outer| {
        let real = outer.canonicalize().ok()?;
        path.strip_prefix(outer).ok().map(|rest| real.join(rest))
    });
    let config_dir = user_env::config_dir()?;
    Ok(TrustStore::revoke_missing(&config_dir, &path)?
        || existing.map_or(Ok(false), |path| TrustStore::revoke_missing(&config_dir, &path))?)
}

fn list(terminal: &Terminal) -> Result<(), CliError> {
    let trusted = TrustStore::list(&user_env::config_dir()?)?;
    if terminal.json {
        let list: Vec<_> = trusted
            .iter()
            .map(|it| json!({ "workspace": it.path, "exists": it.path.is_dir() }))
            .collect();
        return terminal.print_json_list(&list);
    }
    let mut text = String::new();
    for it in &trusted {
        text.push_str(&visible_line(&it.path.display().to_string()));
        text.push_str(if it.path.is_dir() { "\n" } else { " (no longer exists)\n" });
    }
    if trusted.is_empty() {
        terminal.say("you have not trusted any workspace yet");
    }
    terminal.print(&text)
}
