//! A subject for tests: an agent `cosmo` among others, with nothing wrong until a test adds it.

use super::{Finding, MissingRef, PromptRef, Subject, lint};
use crate::blueprints::blueprint::Blueprint;
use crate::context::Context;
use crate::fence::text::{Document, Source};

pub(super) struct Fixture {
    pub(super) agent: &'static str,
    pub(super) agent_file: &'static str,
    pub(super) blueprint: Blueprint,
    pub(super) blueprint_file: &'static str,
    pub(super) context: Context,
    pub(super) refs: Vec<PromptRef>,
    pub(super) body: Document,
    pub(super) persona: Option<Document>,
    pub(super) known_tools: Vec<String>,
    pub(super) other_agents: Vec<String>,
    pub(super) missing: Vec<MissingRef>,
}

impl Default for Fixture {
    fn default() -> Self {
        Self {
            agent: "cosmo",
            agent_file: "agents/cosmo/AGENT.md",
            blueprint: Blueprint::builtin("standard").unwrap(),
            blueprint_file: "builtin:standard",
            context: Context::default(),
            refs: Vec::new(),
            body: Document::default(),
            persona: None,
            known_tools: Vec::new(),
            other_agents: vec!["planner".into(), "task-manager".into(), "worker".into()],
            missing: Vec::new(),
        }
    }
}

impl Fixture {
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            agent: self.agent,
            agent_file: self.agent_file,
            blueprint: &self.blueprint,
            blueprint_file: self.blueprint_file,
            context: &self.context,
            refs: &self.refs,
            agent_body: &self.body,
            persona_file: self.persona.as_ref(),
            known_tools: &self.known_tools,
            other_agents: &self.other_agents,
            missing: &self.missing,
        }
    }

    /// What one rule finds.
    pub(super) fn findings(&self, rule: &str) -> Vec<Finding> {
        lint(&self.subject()).into_iter().filter(|finding| finding.rule == rule).collect()
    }

    /// `file:line message` of what one rule finds.
    pub(super) fn messages(&self, rule: &str) -> Vec<String> {
        self.findings(rule).iter().map(|f| format!("{}:{} {}", f.file, f.line, f.message)).collect()
    }

    /// The `prompts:` list, its first entry on line 6.
    #[must_use]
    pub(super) fn with_refs(mut self, names: &[&str]) -> Self {
        self.refs = (6..)
            .zip(names)
            .map(|(line, name)| PromptRef {
                name: (*name).to_owned(),
                file: self.agent_file.to_owned(),
                line,
            })
            .collect();
        self
    }
}

/// A whole file.
pub(super) fn doc(path: &str, text: &str) -> Document {
    Document::new(text).from_source(Source::file(path))
}
