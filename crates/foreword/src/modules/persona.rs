//! The persona of `roles`: exactly one, after the capability packs, so that it has the last word.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};
use crate::modules::identity::write_agent;

pub(super) struct Persona;

impl Module for Persona {
    fn name(&self) -> &'static str {
        "persona"
    }

    fn spec(&self) -> Spec {
        Spec::required(60, Authority::Operator, Volatility::Stable)
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Agent, Field::Persona]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        if context.persona.is_blank() {
            write_agent(context, section);
        } else {
            section.document(&context.persona, "persona");
            if !context.agent_text().is_blank() {
                let reason = "there is exactly one persona, and the persona file is it".to_owned();
                section.note("persona", "AGENT.md", reason);
            }
        }
    }
}
