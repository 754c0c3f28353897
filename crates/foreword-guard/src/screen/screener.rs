//! The trait that everything that judges a skill implements.

use crate::screen::code::capabilities::Capabilities;
use crate::screen::verdict::{Finding, Screening, Verdict};

/// Judges a text.
pub trait Screener {
    /// What this screener finds in `content`.
    ///
    /// `declared_permissions` are what the text says it needs. They may explain a finding to the
    /// person who reviews it; they never make a verdict milder.
    fn screen(&self, content: &str, declared_permissions: &[String]) -> Vec<Finding>;

    /// What it finds in one document of a skill whose documents have `whole` bytes together, blanks in a row
    /// apart. The longer a skill is, the more chances of an error it gives to a screener that judges by likelihood.
    fn screen_document(
        &self,
        content: &str,
        declared_permissions: &[String],
        _whole: usize,
    ) -> Vec<Finding> {
        self.screen(content, declared_permissions)
    }

    /// What it finds in one program of a skill whose programs have `whole` bytes together, beyond what
    /// following its values shows.
    fn screen_program(&self, _content: &str, _whole: usize) -> Vec<Finding> {
        Vec::new()
    }

    /// Whether it reads only prose. Of a program it is then given the comments, at their lines.
    fn reads_prose(&self) -> bool {
        false
    }
}

/// The bytes of a text without blanks in a row: what there is to read in it.
pub(crate) fn written_size(content: &[u8]) -> usize {
    let words = content.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.map(|word| word.len() + 1).sum()
}

/// Runs screeners in order; the strictest verdict wins.
#[must_use]
pub fn screen_all(
    screeners: &[&dyn Screener],
    content: &str,
    declared_permissions: &[String],
) -> Screening {
    let mut findings: Vec<Finding> = Vec::new();
    for screener in screeners {
        findings.extend(screener.screen(content, declared_permissions));
    }
    Screening::of(findings)
}

impl Screening {
    /// Sums up findings.
    #[must_use]
    pub fn of(mut findings: Vec<Finding>) -> Self {
        findings.sort_by(|a, b| {
            let place = (&a.file, a.line).cmp(&(&b.file, b.line));
            place.then_with(|| b.verdict.cmp(&a.verdict))
        });
        let verdict = findings.iter().map(|f| f.verdict).max().unwrap_or(Verdict::AutoApprove);
        let reason = reason(verdict, &findings);
        Self { verdict, reason, findings, capabilities: Capabilities::default() }
    }

    /// Both screenings of one skill: every finding once, and the strictest verdict. The capabilities
    /// are those of `whole`, which looked at all files.
    #[must_use]
    pub fn and(self, whole: Self) -> Self {
        let mut findings = self.findings;
        for finding in whole.findings {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        Self { capabilities: whole.capabilities, ..Self::of(findings) }
    }

    /// The same with more findings.
    #[must_use]
    pub fn with(self, more: impl IntoIterator<Item = Finding>) -> Self {
        let mut findings = self.findings;
        findings.extend(more);
        Self { capabilities: self.capabilities, ..Self::of(findings) }
    }
}

fn reason(verdict: Verdict, findings: &[Finding]) -> String {
    if verdict == Verdict::AutoApprove {
        return "nothing found that a person has to look at".to_owned();
    }
    let decisive: Vec<&Finding> = findings.iter().filter(|f| f.verdict == verdict).collect();
    let Some(first) = decisive.first() else { return String::new() };
    let more = match decisive.len() - 1 {
        0 => String::new(),
        1 => ", and one more".to_owned(),
        n => format!(", and {n} more"),
    };
    let message = first.message.trim_end_matches('.');
    let file = first.file.as_deref().map(|file| format!("{file}, ")).unwrap_or_default();
    format!("{}: {message} ({file}line {}){more}", first.rule, first.line)
}
