//! Lint: what is wrong with the texts an agent's prompt is made of, with file and line.
//!
//! Pure like the rest of the core: whoever gathers a Context fills in a [`Subject`] and gets
//! [`Finding`]s. To add a rule: a file here with its [`Rule`], and a line in [`RULES`].

mod duplicate_paragraph;
mod hidden_characters;
mod identity_bleed;
mod missing_reference;
mod open_block;
mod order;
mod oversized;
mod personas;
mod placeholder;
mod reads_as_title;
mod template_variable;
mod texts;
mod tool_mismatch;
mod turn_above_stable;
mod unguarded;

#[cfg(test)]
mod fixture;

use serde::Serialize;

use crate::blueprints::blueprint::Blueprint;
use crate::context::Context;
use crate::fence::text::Document;
use texts::Text;

/// How bad a finding is.
///
/// ```
/// use foreword::Severity;
///
/// assert!(Severity::Error < Severity::Warning, "worst first");
/// assert_eq!(Severity::Error.as_str(), "error");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The prompt is wrong.
    Error,
    /// The prompt works, but not as well as it could or not quite as written.
    Warning,
}

impl Severity {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is wrong, where, and what to do about it.
///
/// ```
/// use foreword::{Finding, Severity};
///
/// let finding = Finding {
///     rule: "two-personas",
///     severity: Severity::Error,
///     file: "agents/cosmo/AGENT.md".into(),
///     line: 3,
///     message: "two personas".into(),
///     hint: "keep one".into(),
/// };
/// assert_eq!(format!("{}:{}", finding.file, finding.line), "agents/cosmo/AGENT.md:3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "LintFinding"))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file, relative to the workspace, or a name where the text has no file.
    pub file: String,
    /// The line in it, counted from 1.
    pub line: u32,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// One entry of the explicit `prompts:` list of an agent's header.
///
/// ```
/// use foreword::PromptRef;
///
/// let entry = PromptRef {
///     name: "capabilities/core".into(),
///     file: "agents/cosmo/AGENT.md".into(),
///     line: 2,
/// };
/// assert_eq!(entry.name, "capabilities/core");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptRef {
    /// The reference as written, such as `capabilities/core`.
    pub name: String,
    /// The file that has the list.
    pub file: String,
    /// The line of the entry.
    pub line: u32,
}

/// A reference to a file that does not exist.
///
/// ```
/// use foreword::MissingRef;
///
/// let missing = MissingRef {
///     name: "capabilities/git".into(),
///     file: "agents/cosmo/AGENT.md".into(),
///     line: 4,
///     path: "prompts/capabilities/git.md".into(),
/// };
/// assert_eq!(missing.line, 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingRef {
    /// The reference as written.
    pub name: String,
    /// The file that has the reference.
    pub file: String,
    /// The line it has there.
    pub line: u32,
    /// The file that was looked for.
    pub path: String,
}

/// What one agent's prompt is made of. Filled in by whoever gathered the Context.
///
/// ```
/// use foreword::{Blueprint, Context, Document, Subject, lint};
///
/// let (blueprint, context) = (Blueprint::builtin("standard").unwrap(), Context::default());
/// let subject = Subject {
///     agent: "",
///     agent_file: "",
///     blueprint: &blueprint,
///     blueprint_file: "builtin:standard",
///     context: &context,
///     refs: &[],
///     agent_body: &Document::default(),
///     persona_file: None,
///     known_tools: &[],
///     other_agents: &[],
///     missing: &[],
/// };
/// assert!(lint(&subject).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The agent's id; empty where the workspace has no agent.
    pub agent: &'s str,
    /// Its file, such as `agents/cosmo/AGENT.md`.
    pub agent_file: &'s str,
    /// The blueprint its prompt is built with.
    pub blueprint: &'s Blueprint,
    /// The file of the blueprint, or a name such as `builtin:standard`.
    pub blueprint_file: &'s str,
    /// The Context its prompt is built from.
    pub context: &'s Context,
    /// The explicit `prompts:` list; empty where the header has none.
    pub refs: &'s [PromptRef],
    /// The body of AGENT.md.
    pub agent_body: &'s Document,
    /// `prompts/agents/<namespace>/<id>.md`, if there is one.
    pub persona_file: Option<&'s Document>,
    /// Every tool name that any agent or surface of the workspace has.
    pub known_tools: &'s [String],
    /// The ids of the other agents.
    pub other_agents: &'s [String],
    /// References to files that do not exist.
    pub missing: &'s [MissingRef],
}

impl Subject<'_> {
    /// The file that findings about the agent as a whole are filed under.
    fn own_file(&self) -> &str {
        if self.agent_file.is_empty() { self.blueprint_file } else { self.agent_file }
    }

    /// The agent in a sentence.
    fn who(&self) -> String {
        if self.agent.is_empty() { "the agent".to_owned() } else { format!("`{}`", self.agent) }
    }
}

/// A rule: its name, what it finds, and how.
struct Rule {
    id: &'static str,
    about: &'static str,
    check: fn(&Desk<'_>, &mut Report),
}

/// Every rule.
const RULES: &[Rule] = &[
    identity_bleed::RULE,
    order::RULE,
    personas::RULE,
    placeholder::RULE,
    tool_mismatch::RULE,
    template_variable::RULE,
    missing_reference::RULE,
    turn_above_stable::RULE,
    unguarded::RULE,
    oversized::RULE,
    duplicate_paragraph::RULE,
    hidden_characters::RULE,
    reads_as_title::RULE,
    open_block::RULE,
];

/// What lies in front of a rule: the subject, and its texts read once for all rules.
struct Desk<'s> {
    subject: &'s Subject<'s>,
    texts: Vec<Text<'s>>,
}

/// Where a rule puts what it finds.
struct Report {
    rule: &'static str,
    findings: Vec<Finding>,
}

impl Report {
    fn error(&mut self, file: &str, line: u32, message: String, hint: impl Into<String>) {
        self.push(Severity::Error, file, line, message, hint.into());
    }

    fn warning(&mut self, file: &str, line: u32, message: String, hint: impl Into<String>) {
        self.push(Severity::Warning, file, line, message, hint.into());
    }

    fn push(&mut self, severity: Severity, file: &str, line: u32, message: String, hint: String) {
        let (rule, file) = (self.rule, file.to_owned());
        self.findings.push(Finding { rule, severity, file, line, message, hint });
    }
}

/// Applies every rule. Sorted by file, line and rule; the same subject gives the same findings, each
/// of them once.
pub fn lint(subject: &Subject<'_>) -> Vec<Finding> {
    let desk = Desk { subject, texts: texts::of(subject) };
    let mut report = Report { rule: "", findings: Vec::new() };
    for rule in RULES {
        report.rule = rule.id;
        (rule.check)(&desk, &mut report);
    }
    let mut findings = report.findings;
    findings.sort_by(|a, b| {
        (&a.file, a.line, a.rule, &a.message).cmp(&(&b.file, b.line, b.rule, &b.message))
    });
    findings.dedup();
    findings
}

/// The rules with a line on what each finds.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    RULES.iter().map(|rule| (rule.id, rule.about))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::fixture::{Fixture, doc};
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_and_a_description() {
        let names: BTreeSet<&str> = rules().map(|(name, _)| name).collect();
        assert_eq!(names.len(), RULES.len());
        assert!(rules().all(|(_, about)| !about.is_empty() && !about.contains('\n')));
    }

    #[test]
    fn an_empty_workspace_has_no_findings() {
        let mut fixture = Fixture { agent: "", agent_file: "", ..Fixture::default() };
        for blueprint in ["standard", "roles", "companion", "semantic"] {
            fixture.blueprint = Blueprint::builtin(blueprint).unwrap();
            assert_eq!(lint(&fixture.subject()), [], "{blueprint}");
        }
    }

    #[test]
    fn findings_are_sorted_and_the_same_every_time() {
        let mut fixture = Fixture::default();
        fixture.context.base = doc("prompts/z.md", "You are Zed.\n{{x}} and {{y}} and {{x}}\n");
        fixture.context.overlay = doc("prompts/a.md", "line\n{{x}}\nYou are an agent.\n");
        let findings = lint(&fixture.subject());
        let places: Vec<_> =
            findings.iter().map(|f| (f.file.as_str(), f.line, f.rule, f.severity)).collect();
        assert_eq!(
            places,
            [
                ("prompts/a.md", 2, "template-variable", Severity::Error),
                ("prompts/a.md", 3, "identity-bleed", Severity::Error),
                ("prompts/z.md", 1, "identity-bleed", Severity::Error),
                ("prompts/z.md", 2, "template-variable", Severity::Warning),
                ("prompts/z.md", 2, "template-variable", Severity::Warning),
            ]
        );
        assert_eq!(findings, lint(&fixture.subject()));
    }

    #[test]
    fn a_finding_is_plain_json() {
        let finding = Finding {
            rule: "order",
            severity: Severity::Error,
            file: "a.md".into(),
            line: 3,
            message: "m".into(),
            hint: "h".into(),
        };
        assert_eq!(
            serde_json::to_string(&finding).unwrap(),
            r#"{"rule":"order","severity":"error","file":"a.md","line":3,"message":"m","hint":"h"}"#
        );
    }

    /// Ten times the text may not cost a hundred times the work: each of these would drive a rule
    /// that searches back or ahead without bound to quadratic time.
    #[test]
    fn hostile_texts_cost_linear_time() {
        for piece in ["You are ", "{{", "{{a", "`", "`x", "You **", "> ", "# TASK\n", "word\n\n"] {
            let mut fixture = Fixture::default();
            fixture.context.base = doc("b.md", &piece.repeat(100_000 / piece.len()));
            fixture.known_tools = vec!["x".into()];
            let _ = lint(&fixture.subject());
        }
    }
}
