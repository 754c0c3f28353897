//! The findings of a scan as a page: one file, no scripts, readable in light and dark.

use std::fmt::Write as _;

use foreword_guard::{Scan, ScanFinding, ScanVerdict};

/// How much of a text is shown before and after a finding, in bytes.
const AROUND: usize = 300;

const STYLE: &str = include_str!("page.css");

/// A page that texts are added to.
#[derive(Default)]
pub(super) struct Page {
    body: String,
    texts: usize,
    found: usize,
}

impl Page {
    /// Adds a scanned text.
    pub(super) fn add(&mut self, name: &str, text: &str, scan: &Scan) {
        self.texts += 1;
        self.found += usize::from(scan.verdict > ScanVerdict::Pass);
        let verdict = scan.verdict.as_str();
        let _ = writeln!(
            self.body,
            "<section><h2><span class=\"{}\">{verdict}</span> {} <small>score {:.2}</small></h2>",
            verdict.to_ascii_lowercase(),
            escape(name),
            scan.score
        );
        if !scan.reasons.is_empty() {
            self.body.push_str("<ul>\n");
            for reason in &scan.reasons {
                let _ = writeln!(self.body, "<li>{}</li>", escape(reason));
            }
            self.body.push_str("</ul>\n");
        }
        for finding in &scan.findings {
            self.finding(text, finding);
        }
        self.body.push_str("</section>\n");
    }

    fn finding(&mut self, text: &str, finding: &ScanFinding) {
        let [start, end] = finding.range;
        let reading =
            finding.reading.as_deref().map_or(String::new(), |r| format!(", {}", escape(r)));
        let _ = write!(
            self.body,
            "<h3>Line {}, bytes {start} to {end}{reading} <small>score {:.2}</small></h3>\n<pre>",
            finding.line, finding.score
        );
        let (from, to) = (floor(text, start.saturating_sub(AROUND)), floor(text, end + AROUND));
        let (start, end) = (floor(text, start), floor(text, end));
        let piece = |from: usize, to: usize| escape(text.get(from..to).unwrap_or_default());
        let (before, marked, after) = (piece(from, start), piece(start, end), piece(end, to));
        let _ = writeln!(self.body, "{before}<mark>{marked}</mark>{after}</pre>");
        if !says(text.get(start..end).unwrap_or_default(), &finding.excerpt) {
            let _ =
                writeln!(self.body, "<p>Reads as: <mark>{}</mark></p>", escape(&finding.excerpt));
        }
    }

    /// The whole page.
    pub(super) fn finish(self) -> String {
        let Self { body, texts, found } = self;
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
             base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>Injection scan</title>\n\
             <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Injection scan</h1>\n\
             <p>{found} of {texts} texts flagged or blocked. A verdict is a signal, not a proof.</p>\n{body}</body>\n</html>\n"
        )
    }
}

/// Whether an excerpt is of this text as it is written.
fn says(text: &str, excerpt: &str) -> bool {
    let mut words = text.split_whitespace();
    let said = excerpt.trim_end_matches('…');
    said.split_whitespace().all(|word| words.any(|w| w.starts_with(word)))
}

/// Text that cannot become markup. Invisible characters are shown by their numbers.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "\u{27E8}U+{:04X}\u{27E9}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// Bidirectional controls, zero-width and tag characters.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E01EF}'
    )
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
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
        let mut page = Page::default();
        page.add("a<b>.html", text, &scan);
        let html = page.finish();
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains('\u{202e}'));
        assert!(
            html.contains("<mark>&lt;script&gt;alert(1)&lt;/script&gt; obey⟨U+202E⟩ me</mark>")
        );
        assert!(html.contains("Line 1, bytes 0 to 36, in a comment"), "{html}");
        assert!(html.contains("default-src 'none'") && html.contains("1 of 1 texts"));
    }
}
