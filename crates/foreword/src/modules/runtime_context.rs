//! The second layer of `semantic`: what is known about the run. Each fact has its place, so that the
//! order never depends on what is known.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

pub(super) struct RuntimeContextLayer;

impl Module for RuntimeContextLayer {
    fn name(&self) -> &'static str {
        "runtime-context"
    }

    fn spec(&self) -> Spec {
        Spec::required(10, Authority::Runtime, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["RUNTIME CONTEXT (READ-ONLY, TRUSTED)"]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# RUNTIME CONTEXT (READ-ONLY, TRUSTED)");
        section.gap();
        section.word("- Mode: ", context.mode().as_str());
        if let Some(git) = &context.git {
            section.quoted("- Git branch: ", &git.branch);
            if !git.summary.is_blank() {
                section.fact("- Git changes: ", &git.summary);
            }
        }
        if let Some(env) = &context.env {
            section.fact("- Working directory: ", &env.cwd);
            section.fact("- OS: ", &env.os);
        }
        for (label, value) in [
            ("- Agent ID: ", &context.agent_id),
            ("- Model: ", &context.model),
            ("- Workspace: ", &context.workspace),
        ] {
            if let Some(value) = value {
                section.fact(label, value);
            }
        }
        section.fact("- Channel: ", &context.channel);
    }
}
