//! The agent's boundaries, stating the sandbox in use and only what it really guarantees.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::{Section, Value};
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

static HEAD: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.md")));
static ISOLATED: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.isolated.md")));
static LANDLOCK: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.landlock.md")));
static ADVISORY: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.advisory.md")));
static MINIMAL: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.minimal.md")));

/// Sandboxes that cut off the network and make governed files read-only.
const ISOLATING: [&str; 4] = ["nsjail", "bwrap", "docker", "seatbelt"];

pub(super) struct Security;

impl Module for Security {
    fn name(&self) -> &'static str {
        "security"
    }

    fn spec(&self) -> Spec {
        Spec::required(10, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Security Boundaries", "Core Constraints"]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.template(&HEAD, &[("sandbox", Value::Line(&context.sandbox_type))]);
        section.continue_template(match context.sandbox_type.inspect() {
            sandbox if ISOLATING.contains(&sandbox) => &ISOLATED,
            "landlock" => &LANDLOCK,
            _ => &ADVISORY,
        });
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        section.template(&MINIMAL, &[("sandbox", Value::Line(&context.sandbox_type))]);
        true
    }
}
