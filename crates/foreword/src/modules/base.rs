//! The platform base of `roles`: norms that hold for every agent.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

static DEFAULT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:base", include_str!("base.md")));

pub(super) struct Base;

impl Module for Base {
    fn name(&self) -> &'static str {
        "base"
    }

    fn spec(&self) -> Spec {
        Spec::required(0, Authority::Constitution, Volatility::Stable)
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Base]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        if context.base.is_blank() {
            section.template(&DEFAULT, &[]);
        } else {
            section.document(&context.base, "base");
        }
    }
}
