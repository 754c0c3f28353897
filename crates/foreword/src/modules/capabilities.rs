//! Capability packs: discipline that goes with the tools an agent has.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

pub(super) struct Capabilities;

impl Module for Capabilities {
    fn name(&self) -> &'static str {
        "capabilities"
    }

    fn spec(&self) -> Spec {
        Spec::optional(20, Authority::Operator, Volatility::Stable)
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Capabilities]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.capabilities.iter().any(|pack| !pack.text.is_blank())
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        write_packs(context, section);
    }
}

pub(super) fn write_packs(context: &Context, section: &mut Section<'_>) {
    for pack in &context.capabilities {
        if !pack.text.is_blank() {
            section.document(&pack.text, "capabilities");
        }
    }
}
