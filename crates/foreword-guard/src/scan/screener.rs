//! The scanner as a screener of skills.

use std::sync::Arc;

use crate::screen::{Finding, Screener, Verdict};

use super::scanner::Scanner;
use super::verdict::ScanVerdict;

/// A skill is mentioned from here on: higher than a block, which an honest skill about untrusted text
/// reaches.
const SURE: f32 = 0.99;

/// The rule that findings of the scanner are shown under.
const RULE: &str = "injection-scan";

/// Judges skills by how they read: what reads plainly like an injection needs a person's review.
///
/// A skill is orders to an agent from end to end, and tells of attacks more often than it is one, so
/// the scanner speaks up only where it is surer than for a block, and never rejects by itself.
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
        if scan.verdict < ScanVerdict::Block || scan.score < SURE {
            return Vec::new();
        }
        let line = lines_before(content.as_bytes().get(..start).unwrap_or_default()) + 1;
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

/// Lines as editors count them: after LF, CRLF and CR.
fn lines_before(bytes: &[u8]) -> usize {
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    bytes.iter().enumerate().filter(|end| ends(*end)).count()
}

#[cfg(test)]
mod tests {
    use super::lines_before;

    #[test]
    fn lines_end_in_three_ways() {
        assert_eq!(lines_before(b"a\nb\r\nc\rd"), 3);
        assert_eq!(lines_before(b""), 0);
    }
}
