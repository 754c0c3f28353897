//! Texts from outside: scanned, and fenced before anybody reads them.

use foreword::estimate;
use foreword_guard::ScanVerdict;
use foreword_guard::{Provenance, Trust, external_content, scan_input};

use crate::host::Host;
use crate::turn::prepare::External;

/// A text from outside as the agent gets it.
#[derive(Clone, Debug)]
pub(crate) struct FencedText {
    pub(crate) source: String,
    pub(crate) fenced: String,
    pub(crate) tokens: u64,
    pub(crate) verdict: ScanVerdict,
}

impl Host {
    /// Fences texts from outside. What reads as an attack is withheld, and a note says so.
    pub(crate) fn fence(&self, external: &[External]) -> Vec<FencedText> {
        external.iter().map(|content| self.fence_one(&content.source, &content.text)).collect()
    }

    pub(crate) fn fence_one(&self, source: &str, text: &str) -> FencedText {
        let scanned = self.scanner().map(|scanner| scan_input(scanner, text, Provenance::External));
        let verdict = scanned.as_ref().map_or(ScanVerdict::Pass, |scanned| scanned.verdict);
        let fenced = match (verdict, scanned) {
            (ScanVerdict::Block, Some(scanned)) => {
                let note = format!("withheld: it reads as an injection ({})", scanned.reason);
                external_content(source, Trust::External, &note)
            }
            _ => external_content(source, Trust::External, text),
        };
        let tokens = u64::from(estimate(&fenced));
        FencedText { source: one_line(source), fenced, tokens, verdict }
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect()
}
