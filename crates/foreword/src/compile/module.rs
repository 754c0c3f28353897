//! The Module trait: one composable part of a prompt.

use crate::compile::section::{Section, Sink};
use crate::compile::titles::Titles;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

/// Where a module stands, how long it survives, how far it is trusted, how often it changes.
/// A blueprint may override place and survival; it cannot override trust.
///
/// ```
/// use foreword::{Authority, Blueprint, Spec, Volatility};
///
/// let spec = Spec::required(5, Authority::Constitution, Volatility::Stable);
/// assert!(!spec.optional);
/// let standard = Blueprint::builtin("standard").unwrap();
/// assert!(standard.modules().any(|(name, spec)| name == "security" && !spec.optional));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Place in the prompt, 0 to 100; lower is earlier.
    pub priority: u8,
    /// How long it survives a tight budget, 0 to 100; higher is longer.
    pub keep: u8,
    /// May it be left out?
    pub optional: bool,
    /// How far its text may instruct.
    pub authority: Authority,
    /// How often it changes.
    pub volatility: Volatility,
}

impl Spec {
    /// A module that is always there.
    pub const fn required(priority: u8, authority: Authority, volatility: Volatility) -> Self {
        Self {
            priority,
            keep: 100u8.saturating_sub(priority),
            optional: false,
            authority,
            volatility,
        }
    }

    /// A module that may be left out when the budget is tight.
    pub const fn optional(priority: u8, authority: Authority, volatility: Volatility) -> Self {
        Self {
            priority,
            keep: 100u8.saturating_sub(priority),
            optional: true,
            authority,
            volatility,
        }
    }
}

/// One composable part of a prompt. Pure: it sees a Context and writes typed parts.
///
/// ```
/// use std::sync::Arc;
///
/// use foreword::{Authority, Blueprint, Context, Module, Section, Spec, Volatility};
///
/// struct Motto;
///
/// impl Module for Motto {
///     fn name(&self) -> &'static str {
///         "motto"
///     }
///
///     fn spec(&self) -> Spec {
///         Spec::optional(50, Authority::Operator, Volatility::Stable)
///     }
///
///     fn should_include(&self, _: &Context) -> bool {
///         true
///     }
///
///     fn render(&self, _: &Context, section: &mut Section<'_>) {
///         section.prose("Measure twice.");
///     }
/// }
///
/// let module: Arc<dyn Module> = Arc::new(Motto);
/// let blueprint = Blueprint::builtin("standard").unwrap().with_module(&module);
/// assert_eq!(blueprint.build(&Context::default()).section("motto"), Some("Measure twice."));
/// ```
pub trait Module: Send + Sync {
    /// The name it is known by in blueprints.
    fn name(&self) -> &'static str;

    /// Place, survival, trust and volatility by default.
    fn spec(&self) -> Spec;

    /// The titles it writes. No document may write a heading that reads like one of them.
    fn titles(&self) -> &'static [&'static str] {
        &[]
    }

    /// The parts of a Context it shows. What no module of a blueprint shows is named in the manifest.
    fn reads(&self) -> &'static [Field] {
        &[]
    }

    /// Does it stay when BOOTSTRAP.md stands alone?
    fn survives_bootstrap(&self) -> bool {
        false
    }

    /// Has it anything to say?
    fn should_include(&self, context: &Context) -> bool;

    /// Writes all of it.
    fn render(&self, context: &Context, section: &mut Section<'_>);

    /// Writes its short form and says true, or has none and says false.
    fn render_minimal(&self, _context: &Context, _section: &mut Section<'_>) -> bool {
        false
    }

    /// Writes as many of its items as there is room for and says true, or cannot be divided and says
    /// false. Asked when there is no room for any of its other forms; items go in whole, with
    /// [`Section::attempt`], and each that does not is noted.
    fn render_within(&self, _context: &Context, _section: &mut Section<'_>) -> bool {
        false
    }

    /// What the full form costs.
    fn estimate_tokens(&self, context: &Context) -> u32 {
        let mut sink = Sink::default();
        let titles = Titles::new(self.titles().iter().copied());
        self.render(context, &mut Section::new(&mut sink, &titles));
        sink.tokens()
    }
}
