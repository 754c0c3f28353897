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

static OWN_LOOP: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:security", include_str!("security.own_loop.md")));
static OWN_LOOP_MINIMAL: LazyTemplate = LazyLock::new(|| {
    Template::new("builtin:security", include_str!("security.own_loop_minimal.md"))
});

pub(super) struct Security;

/// The same, for `standard`: it claims neither a sandbox nor an audit log where nobody stated what runs the
/// agent. A loop of one's own has neither.
pub(super) struct KnownSecurity;

impl Module for KnownSecurity {
    fn name(&self) -> &'static str {
        "security"
    }

    fn spec(&self) -> Spec {
        Security.spec()
    }

    fn titles(&self) -> &'static [&'static str] {
        Security.titles()
    }

    fn should_include(&self, context: &Context) -> bool {
        Security.should_include(context)
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        if context.is_for_own_loop() {
            section.template(&OWN_LOOP, &[]);
        } else {
            Security.render(context, section);
        }
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        if context.is_for_own_loop() {
            section.template(&OWN_LOOP_MINIMAL, &[]);
            return true;
        }
        Security.render_minimal(context, section)
    }
}

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
