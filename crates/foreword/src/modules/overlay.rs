//! The overlay of an agent that another agent started.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::{Section, Value};
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;

static DEFAULT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:overlay", include_str!("overlay.md")));

/// The values an overlay template can name, and what stands there when none was given.
pub(crate) const OVERLAY_VALUES: [(&str, &str); 3] =
    [("parentRole", "unknown"), ("objective", "the task in your prompt"), ("taskId", "none")];

pub(super) struct Overlay;

impl Module for Overlay {
    fn name(&self) -> &'static str {
        "overlay"
    }

    fn spec(&self) -> Spec {
        Spec::required(80, Authority::Operator, Volatility::Session)
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::SubAgent]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.is_sub_agent()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let given = context.runtime_context.as_ref();
        let values = OVERLAY_VALUES.map(|(name, default)| {
            let value = given.and_then(|given| match name {
                "parentRole" => given.parent_role.as_ref(),
                "objective" => given.objective.as_ref(),
                _ => given.task_id.as_ref(),
            });
            (
                name,
                value
                    .filter(|value| !value.is_blank())
                    .cloned()
                    .unwrap_or_else(|| Line::new(default)),
            )
        });
        if context.overlay.is_blank() {
            let values = values.each_ref().map(|(name, value)| (*name, Value::Line(value)));
            section.template(&DEFAULT, &values);
        } else {
            let values = values.each_ref().map(|(name, value)| (*name, value));
            section.document_with(&context.overlay, "overlay", &values);
        }
    }
}
