//! Linting `[permissions]`: rules that cannot be read, and rules that never apply.

use std::collections::BTreeSet;

use foreword::{Finding, Severity};
use foreword_guard::{PermissionRule, default_rules};
use foreword_workspace::{CONFIG_FILE, Workspace};

/// The findings on the rules of a workspace, whose tools and servers are these.
pub(crate) fn findings<'n>(
    workspace: &Workspace,
    tools: &BTreeSet<String>,
    servers: impl Iterator<Item = &'n String>,
) -> Vec<Finding> {
    let mut known = tools.clone();
    let own = default_rules().rules;
    known
        .extend(own.iter().map(|it| it.rule.tool().to_owned()).filter(|tool| !tool.ends_with('*')));
    known.extend(servers.map(|server| format!("mcp__{server}")));
    let rules = &workspace.config().permissions;
    let lists = [("allow", &rules.allow), ("ask", &rules.ask), ("deny", &rules.deny)];
    let mut findings = Vec::new();
    for (key, text) in lists.iter().flat_map(|(key, list)| list.iter().map(move |it| (*key, it))) {
        let (severity, reason, hint) = match PermissionRule::parse(text) {
            Err(error) => (Severity::Error, error.reason.to_owned(), None),
            Ok(rule) => match rule.dead_end(&known) {
                Some(dead) => (Severity::Warning, dead.reason, dead.hint),
                None => continue,
            },
        };
        let line = workspace.config_asked_by(&["permissions", key]).line.unwrap_or(1);
        findings.push(Finding {
            rule: "permission-rule",
            severity,
            file: CONFIG_FILE.to_owned(),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            message: format!("the rule `{text}` under `{key}` has no effect: {reason}"),
            hint: hint.unwrap_or_else(|| {
                "correct or remove it; `foreword permissions` lists the tools".to_owned()
            }),
        });
    }
    findings
}
