//! Lets an agent stay silent when nobody spoke to it.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

static TEXT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:reply-gate", include_str!("reply_gate.md")));

pub(super) struct ReplyGate;

impl Module for ReplyGate {
    fn name(&self) -> &'static str {
        "reply-gate"
    }

    fn spec(&self) -> Spec {
        Spec::optional(95, Authority::Operator, Volatility::Session)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Reply Gate"]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.reply_gate
    }

    fn render(&self, _context: &Context, section: &mut Section<'_>) {
        section.template(&TEXT, &[]);
    }
}
