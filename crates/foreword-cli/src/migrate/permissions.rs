//! Permission rules of other tools, in the words of `[permissions]` in foreword.toml.
//!
//! Rules to `allow` are the person's to give again: the trust question shows them, and until it is
//! answered with yes, the host asks about the calls that they name.

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
}

/// What becomes of a rule.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MappedRule {
    Patterns(Vec<String>),
    /// A host that `web_fetch` may fetch from, which is a setting of its own.
    WebHost(String),
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
        Some("bash") => argument.to_owned(),
        Some("read" | "edit" | "write" | "list" | "search") => match path(argument) {
            Ok(path) => path,
            Err(why) => return MappedRule::Lost(why.into()),
        },
        _ => {
            return MappedRule::Lost(
                "rules on the arguments of this tool are not supported".into(),
            );
        }
    };
    MappedRule::Patterns(tools.into_iter().map(|tool| format!("{tool}({argument})")).collect())
}

/// A path pattern, relative to the workspace.
fn path(given: &str) -> Result<String, &'static str> {
    if given.starts_with("//") || given.starts_with('~') {
        return Err("outside the workspace, where agents reach no files");
    }
    let path = given.trim_start_matches("./").trim_start_matches('/');
    if path.split('/').any(|part| part == "..") {
        return Err("outside the workspace, where agents reach no files");
    }
    Ok(path.to_owned())
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
        for rule in ["WebSearch", "Read(~/.ssh/**)", "Read(../x)", "Bash(", "Task(x)", "Nope"] {
            assert!(matches!(mapped_rule(rule), MappedRule::Lost(_)), "{rule}");
        }
    }
}
