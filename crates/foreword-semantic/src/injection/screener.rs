//! The scanner as a screener of skills.

use std::sync::Arc;

use foreword_screen::{Finding, Screener, Verdict};

use super::scanner::Scanner;
use super::verdict::ScanVerdict;

/// The rule that findings of the scanner are shown under.
const RULE: &str = "injection-scan";

/// The score from which on it speaks up: rules of safety, which forbid what attacks ask for in much the
/// same words, come up to 0.98.
const LEAST: f32 = 0.99;

/// Judges skills by how they read: what reads plainly like an injection needs a person's review.
///
/// A skill is orders to an agent from end to end, and tells of attacks more often than it is one, so
/// the scanner speaks up only where it is as good as sure, and never rejects by itself.
#[derive(Debug, Clone)]
pub struct InjectionScreener {
    scanner: Arc<Scanner>,
}

impl InjectionScreener {
    /// A screener that asks `scanner`.
    #[must_use]
    pub fn new(scanner: Arc<Scanner>) -> Self {
        Self { scanner }
    }
}

impl Screener for InjectionScreener {
    fn screen(&self, content: &str, _declared_permissions: &[String]) -> Vec<Finding> {
        let (scan, start) = self.scanner.scan_in_place(content);
        if scan.verdict < ScanVerdict::Block || scan.score < LEAST {
            return Vec::new();
        }
        let before = content.as_bytes().get(..start).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let excerpt = scan.reasons.first().and_then(|r| r.split_once(": ")).map_or("", |(_, x)| x);
        vec![Finding {
            rule: RULE.to_owned(),
            verdict: Verdict::NeedsReview,
            line: u32::try_from(line).unwrap_or(u32::MAX),
            excerpt: excerpt.trim_matches('"').to_owned(),
            message: format!("Reads like an injection (score {:.2}).", scan.score),
        }]
    }
}
