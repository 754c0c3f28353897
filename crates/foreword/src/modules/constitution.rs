//! What cannot be overridden. It always ends with the two rules on untrusted text, also under a
//! constitution of the user's own.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

static DEFAULT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:constitution", include_str!("constitution.md")));
static CLOSING: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:constitution", include_str!("constitution.closing.md"))
});

/// The first layer of `semantic`.
pub(super) struct ConstitutionLayer;

impl Module for ConstitutionLayer {
    fn name(&self) -> &'static str {
        "constitution"
    }

    fn spec(&self) -> Spec {
        Spec::required(0, Authority::Constitution, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["CONSTITUTION (IMMUTABLE)"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Constitution]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# CONSTITUTION (IMMUTABLE)");
        if context.constitution.is_blank() {
            section.template(&DEFAULT, &[]);
        } else {
            section.document(&context.constitution, "constitution");
        }
        section.template(&CLOSING, &[]);
    }
}

/// The first section of `standard`: the base, the constitution, or both.
pub(super) struct Foundation;

impl Module for Foundation {
    fn name(&self) -> &'static str {
        "foundation"
    }

    fn spec(&self) -> Spec {
        Spec::required(0, Authority::Constitution, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Constitution"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Base, Field::Constitution]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# Constitution");
        if !context.base.is_blank() {
            section.document(&context.base, "base");
        }
        if !context.constitution.is_blank() {
            section.document(&context.constitution, "constitution");
        }
        if context.base.is_blank() && context.constitution.is_blank() {
            section.template(&DEFAULT, &[]);
        }
        section.template(&CLOSING, &[]);
    }
}
