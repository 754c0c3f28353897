//! The scanner's verdict on what enters and leaves a session.

use foreword_semantic::{ScanVerdict, Scanner};

use crate::taint::Provenance;

/// What to do with a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Scanned {
    /// Pass, flag or block.
    pub verdict: ScanVerdict,
    /// From 0 to 1, as the scanner gave it.
    pub score: f32,
    /// Why, for a person; empty where it passes.
    pub reason: String,
}

/// Judges a text that enters a session.
#[must_use]
pub fn scan_input(scanner: &Scanner, text: &str, provenance: Provenance) -> Scanned {
    let _ = provenance;
    scan_output(scanner, text)
}

/// Judges a text that leaves it.
#[must_use]
pub fn scan_output(scanner: &Scanner, text: &str) -> Scanned {
    let scan = scanner.scan(text);
    Scanned { verdict: scan.verdict, score: scan.score, reason: scan.reasons.join("; ") }
}
