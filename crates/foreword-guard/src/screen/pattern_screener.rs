//! The screener of this crate: patterns, read in context.

use crate::screen::page::Page;
use crate::screen::policy::Policy;
use crate::screen::report::Report;
use crate::screen::rules::RULES;
use crate::screen::scan;
use crate::screen::screener::Screener;
use crate::screen::verdict::{Finding, Verdict};

/// Judges a text by the rules of a policy.
///
/// ```
/// use foreword_guard::{PatternScreener, Policy, Screener, Verdict};
///
/// let screener = PatternScreener::new(Policy::Agent);
/// let findings = screener.screen("Never use `eval()` here.", &[]);
/// assert!(findings.is_empty());
/// let findings = screener.screen("```js\neval(input)\n```", &[]);
/// assert_eq!(findings[0].verdict, Verdict::Reject);
/// assert_eq!(findings[0].line, 2);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PatternScreener {
    policy: Policy,
}

impl PatternScreener {
    /// A screener for a policy. Patterns are compiled with the first text that needs them.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }

    /// The policy it judges by.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Builds what every text needs now instead of on first use.
    pub fn warm_up() {
        scan::warm_up();
    }
}

impl Screener for PatternScreener {
    fn screen(&self, content: &str, _declared_permissions: &[String]) -> Vec<Finding> {
        let page = Page::read(content, self.policy);
        let mut report = Report::new(content, &page);
        for rule in RULES.iter().filter(|rule| rule.applies_to(self.policy)) {
            report.set_rule(rule.name);
            (rule.check)(&page, &mut report);
        }
        if page.flooded {
            report.set_rule("flooded");
            report.add_line(
                Verdict::NeedsReview,
                1,
                "The text repeats the same pattern so often that not every place was looked at.",
            );
        }
        report.finish()
    }
}
