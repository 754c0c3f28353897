//! What the workspace is about: CONTEXT.md, AGENTS.md of a repository and the like.

use crate::compile::cut::cut_document;
use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

/// Characters of each file in the short form.
const MINIMAL_CHARS: usize = 1_200;

pub(super) struct WorkspaceContext;

impl Module for WorkspaceContext {
    fn name(&self) -> &'static str {
        "context"
    }

    fn spec(&self) -> Spec {
        Spec::optional(60, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Context"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::ContextContent]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.context_content.is_blank()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Context");
        for document in context.context_content.iter() {
            section.document(document, "CONTEXT.md");
        }
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        section.prose("## Context");
        for document in context.context_content.iter() {
            section.document(&cut_document(document, "CONTEXT.md", MINIMAL_CHARS), "CONTEXT.md");
        }
        true
    }
}
