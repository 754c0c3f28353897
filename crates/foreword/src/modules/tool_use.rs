//! How the operator wants tools to be used: TOOLS.md.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

pub(super) struct ToolUse;

impl Module for ToolUse {
    fn name(&self) -> &'static str {
        "tool-use"
    }

    fn spec(&self) -> Spec {
        Spec::optional(35, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Tool Usage Guidelines"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::ToolGuidelines]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.identity_files.tools.is_blank()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Tool Usage Guidelines");
        section.document(&context.identity_files.tools, "TOOLS.md");
    }
}
