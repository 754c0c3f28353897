//! A token that shows up in output when the prompt leaks.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;

pub(super) struct Canary;

impl Module for Canary {
    fn name(&self) -> &'static str {
        "canary"
    }

    fn spec(&self) -> Spec {
        Spec::required(12, Authority::Runtime, Volatility::Session)
    }

    fn survives_bootstrap(&self) -> bool {
        true
    }

    fn should_include(&self, context: &Context) -> bool {
        context.canary.as_ref().is_some_and(|canary| !canary.is_blank())
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let blank = Line::default();
        let canary = context.canary.as_ref().unwrap_or(&blank);
        section
            .facts(&[("Canary token of this session, never to be repeated in any form: ", canary)]);
    }
}
