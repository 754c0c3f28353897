//! `foreword permissions`: the rules that apply, and those that the user always allows.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use foreword_guard::{Permission, PermissionTable, RuleLayer, ToolUse, default_rules, tool_named};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, plain_line};
use crate::workspace_arg::WorkspaceArg;

/// Show permission rules, or change those you always allow
///
/// A rule is a tool and, in parentheses, a pattern for its arguments. A `deny` rule always wins. Then come your answers,
/// the `ask` rules of the workspace and your settings, their `allow` rules, and the defaults. Foreword asks about calls
/// that match no rule.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword permissions
  foreword permissions check bash 'git push origin main'
  foreword permissions allow 'bash(git push origin*)'
  foreword permissions forget 'bash(git push origin*)'")]
pub(crate) struct PermissionsArgs {
    #[command(subcommand)]
    command: Option<PermissionsCommand>,
}

#[derive(Subcommand, Debug)]
enum PermissionsCommand {
    /// Show which rule decides one call
    #[command(after_help = "\
Examples:
  foreword permissions check bash 'git push origin main'
  foreword permissions check write docs/index.md
  foreword permissions check mcp__github__create_issue '{\"title\": \"x\"}'")]
    Check {
        /// Name of the tool
        tool: String,
        /// Command, path or URL, or the arguments as a JSON object
        call: Option<String>,
    },
    /// Always allow calls that match a rule in this workspace
    #[command(after_help = "\
Examples:
  foreword permissions allow 'bash(git push origin*)'
  foreword permissions allow mcp__github__create_issue")]
    Allow {
        /// Rule, such as `bash(git push*)`
        rule: String,
    },
    /// Remove a rule that you always allow
    #[command(after_help = "\
Examples:
  foreword permissions forget 'bash(git push origin*)'")]
    Forget {
        /// Rule, as `foreword permissions` prints it
        rule: String,
    },
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &PermissionsArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let found = workspace.find();
    if args.command.is_none() && workspace.given().is_none() && found.is_err() {
        terminal.say("no workspace found: these are the defaults");
        return list(default_rules(), terminal);
    }
    let host = hosting::open(&found?)?;
    match &args.command {
        None => {
            warn_unaccepted(&host, terminal)?;
            list(host.permissions()?, terminal)
        }
        Some(PermissionsCommand::Check { tool, call }) => {
            check(&host, tool, call.as_deref().unwrap_or_default(), terminal)
        }
        Some(PermissionsCommand::Allow { rule }) => {
            let dead = host.dead_rule(rule)?;
            let added = host.always_allow(rule)?;
            terminal.say(if added { "rule added" } else { "rule is unchanged" });
            if let Some(dead) = dead {
                let hint = dead.hint.map(|hint| format!("; {hint}")).unwrap_or_default();
                terminal.warn(&format!(
                    "the rule has no effect: {}{hint}",
                    plain_line(&dead.reason, 300)
                ));
            }
            Ok(())
        }
        Some(PermissionsCommand::Forget { rule }) => {
            if !host.forget_permission(rule)? {
                return Err(CliError::failed(format!(
                    "you did not allow `{}`",
                    plain_line(rule, 200)
                ))
                .hint("run `foreword permissions` to list the rules"));
            }
            terminal.say("rule removed");
            Ok(())
        }
    }
}

/// Says that rules of the workspace wait for the person.
fn warn_unaccepted(host: &foreword_host::Host, terminal: &Terminal) -> Result<(), CliError> {
    if host.has_unaccepted_allow_rules()? {
        terminal.warn(
            "foreword.toml allows calls that you have not accepted yet, so Foreword asks about them; run `foreword trust` to review them",
        );
    }
    Ok(())
}

fn list(table: PermissionTable, terminal: &Terminal) -> Result<(), CliError> {
    let mut rules = table.rules;
    let order = |permission: Permission| match permission {
        Permission::Deny => 0,
        Permission::Ask => 1,
        Permission::Allow => 2,
    };
    rules.sort_by_key(|it| (order(it.permission), std::cmp::Reverse(it.layer)));
    if terminal.json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|it| {
                json!({
                    "permission": it.permission.as_str(), "rule": it.rule.to_string(),
                    "source": it.layer.as_str(),
                })
            })
            .collect();
        return terminal.print_json_list(&rules);
    }
    let mut out = String::new();
    for it in &rules {
        let source = match it.layer {
            RuleLayer::Default => String::new(),
            layer => format!("  ({})", layer.as_str()),
        };
        let rule = plain_line(&it.rule.to_string(), 300);
        let _ = writeln!(out, "{:<6} {rule}{source}", it.permission.as_str());
    }
    out.push_str("ask    everything else\n");
    terminal.print(&out)
}

fn check(
    host: &foreword_host::Host,
    tool: &str,
    call: &str,
    terminal: &Terminal,
) -> Result<(), CliError> {
    warn_unaccepted(host, terminal)?;
    let arguments = match serde_json::from_str::<Value>(call) {
        Ok(value) if value.is_object() => value,
        _ => match tool_named(tool) {
            "bash" => json!({ "command": call }),
            "web_fetch" => json!({ "url": call }),
            _ => json!({ "path": call }),
        },
    };
    let root = host.root();
    let call = ToolUse { tool, arguments: &arguments, root, cwd: root };
    let decision = foreword_host::decide_call(&host.permissions()?, &call);
    let by = decision.rule.as_ref().map(|it| (it.rule.to_string(), it.layer.as_str()));
    if terminal.json {
        return terminal.print_json(&json!({
            "permission": decision.permission.as_str(),
            "rule": by.as_ref().map(|(rule, _)| rule), "source": by.as_ref().map(|(_, source)| source),
            "reason": decision.unclear,
        }));
    }
    let why = match (by, decision.unclear) {
        (Some((rule, source)), _) => format!("by {} ({source})", plain_line(&rule, 300)),
        (None, Some(unclear)) => unclear.to_owned(),
        (None, None) => "no rule names it".to_owned(),
    };
    terminal.print(&format!("{}: {why}\n", decision.permission.as_str()))
}
