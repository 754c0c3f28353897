//! How much of the session came from outside, in the turn context where it may change freely.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::{Section, Value};
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

static STATE: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:taint", include_str!("taint.md")));
static ELEVATED: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:taint", include_str!("taint.elevated.md")));

pub(super) struct Taint;

impl Module for Taint {
    fn name(&self) -> &'static str {
        "taint"
    }

    fn spec(&self) -> Spec {
        Spec::required(85, Authority::Runtime, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Session Taint"]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let values = [
            ("taint", Value::Percent(context.taint_ratio)),
            ("threshold", Value::RoundPercent(context.taint_threshold())),
        ];
        section.template(&STATE, &values);
        if context.is_tainted() {
            section.template(&ELEVATED, &[]);
        }
    }
}
