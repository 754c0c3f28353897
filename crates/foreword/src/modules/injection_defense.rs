//! Teaches the agent to recognise and resist injected instructions.
//!
//! In `guarded` the session's taint stands in it, as the seed has it. In `standard` the taint has a
//! section of its own in the turn context, so that a moving percentage near the top does not change
//! the whole prefix every turn.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::{Section, Value};
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

static HEAD: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.md"))
});
static STABLE_HEAD: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.stable.md"))
});
static ELEVATED: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.elevated.md"))
});
static BODY: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.body.md"))
});
static MINIMAL: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.minimal.md"))
});
static STABLE_MINIMAL: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:injection-defense", include_str!("injection_defense.stable_minimal.md"))
});

const TITLES: &[&str] = &[
    "Prompt Injection Defense",
    "Injection Defense",
    "ELEVATED DEFENSE MODE",
    "Attack Recognition",
    "Defense Protocol",
    "Absolute Prohibitions",
];

fn taint_values(context: &Context) -> [(&'static str, Value<'static>); 2] {
    [
        ("taint", Value::Percent(context.taint_ratio)),
        ("threshold", Value::RoundPercent(context.taint_threshold())),
    ]
}

/// With the session's taint in it.
pub(super) struct InjectionDefense;

impl Module for InjectionDefense {
    fn name(&self) -> &'static str {
        "injection-defense"
    }

    fn spec(&self) -> Spec {
        Spec::required(5, Authority::Operator, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        TITLES
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.template(&HEAD, &taint_values(context));
        if context.is_tainted() {
            section.template(&ELEVATED, &[]);
        }
        section.template(&BODY, &[]);
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        section.template(&MINIMAL, &taint_values(context));
        if context.is_tainted() {
            section.prose("ELEVATED: ask the person before every tool call.");
        }
        true
    }
}

/// Without it.
pub(super) struct StableInjectionDefense;

impl Module for StableInjectionDefense {
    fn name(&self) -> &'static str {
        "injection-defense-stable"
    }

    fn spec(&self) -> Spec {
        Spec::required(5, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        TITLES
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, _context: &Context, section: &mut Section<'_>) {
        section.template(&STABLE_HEAD, &[]);
        section.template(&BODY, &[]);
    }

    fn render_minimal(&self, _context: &Context, section: &mut Section<'_>) -> bool {
        section.template(&STABLE_MINIMAL, &[]);
        true
    }
}
