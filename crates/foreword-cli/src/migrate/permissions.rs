//! Permission rules of other tools, in the words of `[permissions]` in foreword.toml.
//!
//! Rules to `allow` are the person's to give again: the trust question shows them, and until it is
//! answered with yes, the host asks about the calls that they name.

use std::path::Path;

use foreword_guard::{Permission, PermissionRule, PermissionTable, RuleLayer, ToolUse};
use serde_json::json;

use super::tool_names::{MappedTool, mapped};

/// Rules to carry, in the order of `[permissions]`.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    pub(super) rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    Allow,
    Ask,
    Deny,
}

impl Decision {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A rule in Foreword's words, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) decision: Decision,
    pub(super) pattern: String,
    /// The file and the rule in it.
    pub(super) source: String,
    /// Whether the old setup had it for one agent only. Here it counts for all.
    pub(super) is_for_one_agent: bool,
}

impl Rule {
    /// Whether some command can match the rule: the one that it is written like. Rules see one simple
    /// command without its quotes, so that one with an operator or an assignment names none.
    pub(super) fn can_match(&self) -> bool {
        let Ok(rule) = PermissionRule::parse(&self.pattern) else { return false };
        let Some(pattern) = rule.pattern().filter(|_| rule.tool() == "bash") else { return true };
        let sample = pattern.strip_suffix(":*").unwrap_or(&pattern).replace('*', "x");
        let permission = match self.decision {
            Decision::Allow => Permission::Allow,
            Decision::Ask => Permission::Ask,
            Decision::Deny => Permission::Deny,
        };
        let mut table = PermissionTable::default();
        table.add(RuleLayer::Workspace, permission, vec![rule]);
        let (arguments, root) = (json!({ "command": sample }), Path::new("/w"));
        let call = ToolUse { tool: "bash", arguments: &arguments, root, cwd: root };
        table.decide(&call).rule.is_some()
    }
}

/// What becomes of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MappedRule {
    Patterns(Vec<String>),
    /// A host that `web_fetch` may fetch from, which is a setting of its own.
    WebHost(String),
    /// About files that no agent reaches: a rule against it is not needed.
    Outside(String),
    Lost(String),
}

/// A rule of Claude Code, such as `Bash(git push:*)`.
pub(super) fn mapped_rule(rule: &str) -> MappedRule {
    let rule = rule.trim();
    let (name, argument) = match rule.split_once('(') {
        Some((name, rest)) => match rest.strip_suffix(')') {
            Some(argument) => (name.trim(), Some(argument.trim())),
            None => return MappedRule::Lost("not a rule: `(` without `)`".into()),
        },
        None => (rule, None),
    };
    let argument = argument.filter(|argument| !matches!(*argument, "" | "*"));
    if name == "WebFetch"
        && let Some(host) = argument.and_then(|argument| argument.strip_prefix("domain:"))
    {
        return MappedRule::WebHost(host.to_owned());
    }
    if name == "NotebookEdit" && argument.is_none() {
        // What changes notebooks here.
        return MappedRule::Patterns(vec!["edit(**/*.ipynb)".into(), "write(**/*.ipynb)".into()]);
    }
    // A rule for Edit covers everything that changes files.
    let tools: Vec<String> = match mapped(name) {
        MappedTool::Tools(["edit"]) => vec!["edit".into(), "write".into()],
        MappedTool::Tools(["read"]) if argument.is_some() => vec!["read".into(), "search".into()],
        MappedTool::Tools(tools) => tools.iter().map(|tool| (*tool).to_owned()).collect(),
        MappedTool::Server(tool) => vec![tool],
        MappedTool::NotNeeded(why) | MappedTool::Absent(why) => {
            return MappedRule::Lost(why.into());
        }
    };
    let Some(argument) = argument else { return MappedRule::Patterns(tools) };
    let argument = match tools.first().map(String::as_str) {
        // `git push:*` means the same here.
        Some("bash") => unquoted(argument),
        Some("read" | "edit" | "write" | "list" | "search") => match path(argument) {
            Ok(path) => path,
            Err(why) => return MappedRule::Outside(why.into()),
        },
        _ => {
            return MappedRule::Lost(
                "rules on the arguments of this tool are not supported".into(),
            );
        }
    };
    MappedRule::Patterns(tools.into_iter().map(|tool| format!("{tool}({argument})")).collect())
}

/// A path pattern: relative to the workspace, or absolute for what is outside of it.
fn path(given: &str) -> Result<String, &'static str> {
    if given.starts_with('~') {
        return Err("agents do not see your home directory");
    }
    if let Some(absolute) = given.strip_prefix("//") {
        return Ok(format!("/{}", absolute.trim_start_matches('/')));
    }
    let path = given.trim_start_matches("./").trim_start_matches('/');
    if path.split('/').any(|part| part == "..") {
        return Err("agents do not see the directories above the workspace");
    }
    Ok(path.to_owned())
}

/// A pattern for a command without its quotes, which rules do not see.
fn unquoted(pattern: &str) -> String {
    let mut open = None;
    let keep = |c: &char| match open {
        None if matches!(c, '"' | '\'') => {
            open = Some(*c);
            false
        }
        Some(quote) if quote == *c => {
            open = None;
            false
        }
        _ => true,
    };
    let plain: String = pattern.chars().filter(keep).collect();
    // A quote that stays open is part of a command that no rule matches.
    if open.is_some() { pattern.to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(rule: &str) -> Vec<String> {
        match mapped_rule(rule) {
            MappedRule::Patterns(patterns) => patterns,
            other => panic!("{rule}: {other:?}"),
        }
    }

    #[test]
    fn rules_are_written_with_our_tools_and_patterns() {
        assert_eq!(patterns("Bash(git push:*)"), ["bash(git push:*)"]);
        assert_eq!(patterns("Bash(npm run test)"), ["bash(npm run test)"]);
        assert_eq!(patterns("Bash"), ["bash"]);
        assert_eq!(patterns("Bash(*)"), ["bash"]);
        assert_eq!(patterns("Edit(/docs/**)"), ["edit(docs/**)", "write(docs/**)"]);
        assert_eq!(patterns("Read(./.env)"), ["read(.env)", "search(.env)"]);
        assert_eq!(patterns("mcp__github__create_issue"), ["mcp__github__create_issue"]);
    }

    #[test]
    fn hosts_are_a_setting_and_the_rest_is_lost_with_a_reason() {
        assert_eq!(mapped_rule("WebFetch(domain:docs.rs)"), MappedRule::WebHost("docs.rs".into()));
        for rule in ["WebSearch", "Bash(", "Task(x)", "Nope"] {
            assert!(matches!(mapped_rule(rule), MappedRule::Lost(_)), "{rule}");
        }
    }

    #[test]
    fn files_outside_the_workspace_have_absolute_patterns_if_agents_reach_them() {
        assert_eq!(patterns("Read(//etc/**)"), ["read(/etc/**)", "search(/etc/**)"]);
        for rule in ["Read(~/.ssh/**)", "Read(../x)"] {
            assert!(matches!(mapped_rule(rule), MappedRule::Outside(_)), "{rule}");
        }
    }

    #[test]
    fn a_rule_that_no_command_can_match_is_seen() {
        let can_match = |decision, rule: &str| {
            let pattern = patterns(rule).remove(0);
            Rule { decision, pattern, source: "s".into(), is_for_one_agent: false }.can_match()
        };
        for rule in
            ["Bash(echo \"topsecret\")", "Bash(git push:*)", "Bash(npm run *)", "Read(.env)"]
        {
            assert!(can_match(Decision::Deny, rule), "{rule}");
            assert!(can_match(Decision::Allow, rule), "{rule}");
        }
        for rule in ["Bash(cd x && npm test)", "Bash(curl * | sh)", "Bash(CI=1 npm test:*)"] {
            assert!(!can_match(Decision::Allow, rule), "{rule}");
        }
        assert!(!can_match(Decision::Deny, "Bash(curl * | sh)"));
    }
}
