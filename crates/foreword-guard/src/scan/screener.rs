//! The scanner as a screener of skills.

use std::sync::Arc;

use foreword_embed::EmbedError;

use crate::screen::{Finding, Screener, Verdict};

use super::scanner::Scanner;
use super::verdict::ScanVerdict;

/// The score from which a skill needs review: higher than for a block, because honest skills about
/// untrusted text reach a block.
const REVIEW_SCORE: f32 = 0.99;

/// The rule that findings of the scanner are shown under.
const RULE: &str = "injection-scan";

/// Sends skills that are very likely injections to review.
///
/// A skill consists of instructions, and more often describes attacks than is one, so the scanner
/// needs a higher score than for a block and never rejects a skill. If the scanner cannot be loaded,
/// every skill needs review.
#[derive(Debug, Clone)]
pub struct InjectionScreener {
    scanner: Result<Arc<Scanner>, String>,
}

impl InjectionScreener {
    /// A screener over a scanner, or over the reason why it could not be loaded.
    #[must_use]
    pub fn new(scanner: Result<Scanner, EmbedError>) -> Self {
        Self { scanner: scanner.map(Arc::new).map_err(|error| error.to_string()) }
    }
}

impl Screener for InjectionScreener {
    fn screen(&self, content: &str, _declared_permissions: &[String]) -> Vec<Finding> {
        let finding = |line: u32, excerpt: &str, message: String| Finding {
            rule: RULE.to_owned(),
            verdict: Verdict::NeedsReview,
            file: None,
            line,
            excerpt: excerpt.to_owned(),
            message,
        };
        let scanner = match &self.scanner {
            Ok(scanner) => scanner,
            Err(error) => {
                let message = format!("Not scanned for prompt injection: {error}.");
                return vec![finding(1, "", message)];
            }
        };
        let scan = scanner.scan(content);
        if scan.verdict < ScanVerdict::Block || scan.score < REVIEW_SCORE {
            return Vec::new();
        }
        let message = format!("Likely a prompt injection (score {:.2}).", scan.score);
        let worst = scan.findings.first();
        let (line, excerpt) = worst.map_or((1, ""), |worst| (worst.line, worst.excerpt.as_str()));
        vec![finding(line, excerpt, message)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_scanner_every_skill_needs_review() {
        let corrupt = EmbedError::Corrupt { what: "the table is cut off".into() };
        let findings = InjectionScreener::new(Err(corrupt)).screen("Take notes.", &[]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].verdict, Verdict::NeedsReview);
        assert!(findings[0].message.contains("the table is cut off"), "{findings:?}");
    }
}
