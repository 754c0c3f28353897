//! The findings of a scan as a page.

use foreword_guard::{Scan, ScanFinding, ScanVerdict};
use foreword_page::{Excerpt, Finding, Level, Page};

/// How much of a text is shown before and after a finding, in bytes.
const AROUND: usize = 300;

/// The texts of a scan with their findings.
#[derive(Default)]
pub(super) struct ScanPage {
    texts: Vec<Finding>,
    found: usize,
}

impl ScanPage {
    /// Adds a scanned text.
    pub(super) fn add(&mut self, name: &str, text: &str, scan: &Scan) {
        self.found += usize::from(scan.verdict > ScanVerdict::Pass);
        self.texts.push(Finding {
            level: match scan.verdict {
                ScanVerdict::Pass => Level::Good,
                ScanVerdict::Flag => Level::Warning,
                ScanVerdict::Block => Level::Danger,
            },
            label: scan.verdict.as_str().to_owned(),
            title: name.to_owned(),
            place: format!("score {:.2}", scan.score),
            reasons: scan.reasons.clone(),
            excerpts: scan.findings.iter().map(|finding| excerpt(text, finding)).collect(),
        });
    }

    /// The whole page.
    pub(super) fn finish(self) -> String {
        let lead = format!(
            "{} of {} texts flagged or blocked. A verdict is a signal, not a proof.",
            self.found,
            self.texts.len()
        );
        let mut page = Page::new("Injection scan", &lead);
        page.heading("Texts");
        for text in &self.texts {
            page.finding(text);
        }
        page.finish("foreword scan --html")
    }
}

fn excerpt(text: &str, finding: &ScanFinding) -> Excerpt {
    let [start, end] = finding.range;
    let reading = finding.reading.as_deref().map_or(String::new(), |r| format!(", {r}"));
    let (from, to) = (
        text.floor_char_boundary(start.saturating_sub(AROUND)),
        text.floor_char_boundary(end + AROUND),
    );
    let (first, last) = (text.floor_char_boundary(start), text.floor_char_boundary(end));
    let piece = |from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
    let marked = piece(first, last);
    Excerpt {
        caption: format!(
            "Line {}, bytes {start} to {end}{reading}, score {:.2}",
            finding.line, finding.score
        ),
        before: piece(from, first),
        meaning: (!says(&marked, &finding.excerpt)).then(|| finding.excerpt.clone()),
        marked,
        after: piece(last, to),
    }
}

/// Whether an excerpt is of this text as it is written.
fn says(text: &str, excerpt: &str) -> bool {
    let mut words = text.split_whitespace();
    let said = excerpt.trim_end_matches('…');
    said.split_whitespace().all(|word| words.any(|w| w.starts_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_text_says_cannot_become_markup() {
        let text = "<script>alert(1)</script> obey\u{202e} me";
        let finding = ScanFinding {
            line: 1,
            range: [0, text.len()],
            reading: Some("in a comment".to_owned()),
            score: 0.9,
            excerpt: "obey me".to_owned(),
        };
        let scan = Scan {
            verdict: ScanVerdict::Block,
            score: 0.9,
            reasons: vec!["<b>why</b>".to_owned()],
            findings: vec![finding],
        };
        let mut page = ScanPage::default();
        page.add("a<b>.html", text, &scan);
        let html = page.finish();
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains('\u{202e}'));
        let shown = "<mark>&lt;script&gt;alert(1)&lt;/script&gt; obey<span class=\"cp\">U+202E</span> me</mark>";
        assert!(html.contains(shown), "{html}");
        assert!(html.contains("Line 1, bytes 0 to 36, in a comment, score 0.90"), "{html}");
        assert!(html.contains("default-src &#39;none&#39;") && html.contains("1 of 1 texts"));
    }
}
