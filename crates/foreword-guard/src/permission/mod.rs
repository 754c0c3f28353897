//! Permissions: which calls of tools are allowed, asked about or denied.
//!
//! Rules are those people know from Claude Code: the name of a tool, and a pattern on what it is called
//! with in parentheses, such as `bash(git push*)`, `write(docs/**)` or `mcp__github`. Rules come in
//! layers: what Foreword ships, what the workspace and the person say, and what the person answered. A
//! deny of any layer denies. An answer of the person comes next, then their and the workspace's asks,
//! then what either allows, then what Foreword ships. What no rule names is asked about.
//!
//! A pattern for `bash` allows one simple command. What several commands, substitutions or hidden program
//! names can do is not in a pattern, so they are asked about; an ask or deny finds its command anywhere
//! inside. This guides an agent that means well. What a command can do at most is up to the sandbox.

pub(crate) mod defaults;
mod directory;
mod pattern;
pub(crate) mod rule;
pub(crate) mod shell;

use std::path::Path;

use serde_json::Value;

pub use defaults::default_rules;
pub use rule::{DeadRule, InvalidRule, PermissionRule, tool_named};
use shell::ShellReading;

/// What becomes of a call, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    Allow,
    Ask,
    Deny,
}

impl Permission {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Who gave a rule, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleLayer {
    /// Foreword ships it.
    Default,
    /// `foreword.toml` of a trusted workspace.
    Workspace,
    /// The person's `settings.toml`.
    Personal,
    /// The person answered "always" in this workspace.
    Always,
    /// The person answered "this session".
    Session,
}

impl RuleLayer {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Workspace => "foreword.toml",
            Self::Personal => "settings.toml",
            Self::Always => "answered always",
            Self::Session => "answered for this session",
        }
    }
}

/// A rule with what it says and who gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayeredRule {
    pub layer: RuleLayer,
    pub permission: Permission,
    pub rule: PermissionRule,
}

/// All rules that apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermissionTable {
    pub rules: Vec<LayeredRule>,
}

/// A call of a tool, as rules see it.
#[derive(Clone, Copy, Debug)]
pub struct ToolUse<'c> {
    /// The tool, by its name in Foreword.
    pub tool: &'c str,
    pub arguments: &'c Value,
    /// The workspace and the directory the agent works in, absolute.
    pub root: &'c Path,
    pub cwd: &'c Path,
}

/// What the rules say of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionDecision {
    pub permission: Permission,
    /// The rule that decided; `None` where none names the call.
    pub rule: Option<LayeredRule>,
    /// What the rules could not see, where that is why the call is asked about.
    pub unclear: Option<&'static str>,
}

impl PermissionTable {
    /// Adds rules of a layer.
    pub fn add(&mut self, layer: RuleLayer, permission: Permission, rules: Vec<PermissionRule>) {
        self.rules.extend(rules.into_iter().map(|rule| LayeredRule { layer, permission, rule }));
    }

    /// What the rules say of a call. Claude Code's names for tools count, and `tool_call` is also the call
    /// of the tool behind it.
    #[must_use]
    pub fn decide(&self, call: &ToolUse<'_>) -> PermissionDecision {
        let call = &ToolUse { tool: tool_named(call.tool), ..*call };
        let own = self.decide_named(call);
        let Some((tool, arguments)) = tool_behind(call) else { return own };
        let behind = ToolUse { tool: tool_named(tool), arguments: &arguments, ..*call };
        let behind = self.decide_named(&behind);
        if own.permission > behind.permission { own } else { behind }
    }

    fn decide_named(&self, call: &ToolUse<'_>) -> PermissionDecision {
        let shell = shell_of(call);
        let found = |permission: Permission, layers: &[RuleLayer]| {
            self.rules.iter().find(|it| {
                it.permission == permission
                    && layers.contains(&it.layer)
                    && it.rule.covers(call, shell.as_ref(), permission)
            })
        };
        let decided = |rule: &LayeredRule| PermissionDecision {
            permission: rule.permission,
            rule: Some(rule.clone()),
            unclear: None,
        };
        use Permission::{Allow, Ask, Deny};
        use RuleLayer::{Always, Default, Personal, Session, Workspace};
        if let Some(rule) = found(Deny, &[Default, Workspace, Personal, Always, Session])
            .or_else(|| found(Allow, &[Session, Always]))
            .or_else(|| found(Ask, &[Workspace, Personal]))
        {
            return decided(rule);
        }
        let allowed = found(Allow, &[Personal, Workspace]);
        let shipped = || found(Ask, &[Default]).or_else(|| found(Allow, &[Default]));
        let Some(rule) = allowed.or_else(shipped) else {
            return PermissionDecision {
                permission: Ask,
                rule: None,
                unclear: unclear(shell.as_ref()),
            };
        };
        // A command that hides what it runs may hide what the defaults ask about. Who allows `bash` as a
        // whole in a file of theirs has allowed that, too.
        let hidden = shell.as_ref().and_then(|shell| shell.hides(call));
        if rule.permission == Allow && rule.layer == Default && hidden.is_some() {
            return PermissionDecision { permission: Ask, rule: None, unclear: hidden };
        }
        decided(rule)
    }

    /// The rule that denies a program which a tool starts, by what it denies `bash`, `read`, `write` and `edit`.
    /// A rule for all of `bash` is about shells: other programs are tools of their own.
    #[must_use]
    pub fn denied_program(&self, words: &[String], root: &Path) -> Option<&LayeredRule> {
        // Most tables deny nothing, and reading a command takes time.
        if !self.rules.iter().any(|it| it.permission == Permission::Deny) {
            return None;
        }
        let quoted = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
        let command = quoted.collect::<Vec<_>>().join(" ");
        let arguments = serde_json::json!({ "command": command });
        let call = ToolUse { tool: "bash", arguments: &arguments, root, cwd: root };
        let shell = shell_of(&call);
        let is_shell = words.first().is_some_and(|program| shell::is_shell(program));
        self.rules.iter().find(|it| {
            it.permission == Permission::Deny
                && (is_shell || it.rule.pattern().is_some())
                && it.rule.covers(&call, shell.as_ref(), Permission::Deny)
        })
    }

    /// The rules on files that `search` and `list` follow while they walk: what is denied, what the person
    /// answered, and what is asked about.
    #[must_use]
    pub fn on_files(&self) -> Self {
        let counts = |it: &LayeredRule| {
            let is_answer = matches!(it.layer, RuleLayer::Always | RuleLayer::Session);
            it.rule.is_on_files() && (it.permission != Permission::Allow || is_answer)
        };
        Self { rules: self.rules.iter().filter(|it| counts(it)).cloned().collect() }
    }

    /// Whether a walk of `search` or `list` leaves a file out: a rule denies or asks about reading it, and
    /// the person has not answered that it may be read. The path is from the root of the workspace.
    #[must_use]
    pub fn leaves_out(&self, tool: &str, path: &str) -> bool {
        let has = |permission: Permission| {
            self.rules
                .iter()
                .any(|it| it.permission == permission && it.rule.covers_walked(tool, path))
        };
        has(Permission::Deny) || (has(Permission::Ask) && !has(Permission::Allow))
    }
}

/// The files that a command for `bash` names and shows, from the root of the workspace.
#[must_use]
pub fn files_shown(call: &ToolUse<'_>) -> Vec<String> {
    let call = &ToolUse { tool: tool_named(call.tool), ..*call };
    shell_of(call).map(|shell| shell.reads(call)).unwrap_or_default()
}

/// The tool and its arguments that `tool_call` names.
fn tool_behind<'c>(call: &ToolUse<'c>) -> Option<(&'c str, Value)> {
    let name = call.arguments.get("name").and_then(Value::as_str);
    let name = name.filter(|name| call.tool == "tool_call" && *name != "tool_call")?;
    let arguments = match call.arguments.get("arguments") {
        // Some models write the object as a text.
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        other => other.cloned().unwrap_or_default(),
    };
    Some((name, arguments))
}

fn shell_of(call: &ToolUse<'_>) -> Option<ShellReading> {
    if call.tool != "bash" {
        return None;
    }
    let command = call.arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    Some(ShellReading::of(command))
}

fn unclear(shell: Option<&ShellReading>) -> Option<&'static str> {
    let shell = shell?;
    (!shell.is_simple).then_some("it is more than one simple command, which no pattern allows")
}

/// The rule that a person's "always" or "this session" would add for a call.
#[must_use]
pub fn rule_for(call: &ToolUse<'_>) -> PermissionRule {
    let text = match shell_of(call) {
        Some(shell) => match shell.simple_prefix() {
            Some(prefix) => format!("bash({prefix}:*)"),
            None => {
                let command = call.arguments.get("command").and_then(Value::as_str);
                return PermissionRule::exactly(call.tool, command.unwrap_or_default());
            }
        },
        None => match rule::path_of(call) {
            Some(path) => return PermissionRule::exactly(call.tool, &path),
            None => call.tool.to_owned(),
        },
    };
    PermissionRule::parse(&text).unwrap_or_else(|_| PermissionRule::exactly(call.tool, ""))
}

#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod tests;
