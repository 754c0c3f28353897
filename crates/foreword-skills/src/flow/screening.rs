//! Which screeners judge a skill, by where it comes from.

use std::sync::LazyLock;

use foreword_guard::{
    Finding, InjectionScreener, PatternScreener, Policy, Scanner, Screener, Screening, Verdict,
    screen_all,
};

use crate::format::SkillDocument;
use crate::format::draft::remark;

/// The screeners of each policy, in the order in which they run.
pub struct Screeners {
    agent: Vec<Box<dyn Screener + Send + Sync>>,
    import: Vec<Box<dyn Screener + Send + Sync>>,
}

/// Loaded once; its tables are part of the program.
static INJECTION: LazyLock<InjectionScreener> =
    LazyLock::new(|| InjectionScreener::new(Scanner::embedded()));

/// The rules of each policy, and the injection scanner behind them.
impl Default for Screeners {
    fn default() -> Self {
        let mut screeners = Self {
            agent: vec![Box::new(PatternScreener::new(Policy::Agent))],
            import: vec![Box::new(PatternScreener::new(Policy::Import))],
        };
        for policy in [Policy::Agent, Policy::Import] {
            screeners.push(policy, Box::new(INJECTION.clone()));
        }
        screeners
    }
}

impl std::fmt::Debug for Screeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for agents, {} for imports", self.agent.len(), self.import.len())
    }
}

impl Screeners {
    /// Adds a screener behind those of a policy. The strictest verdict wins, so it can only add to
    /// what is found.
    pub fn push(&mut self, policy: Policy, screener: Box<dyn Screener + Send + Sync>) {
        match policy {
            Policy::Agent => self.agent.push(screener),
            Policy::Import => self.import.push(screener),
        }
    }

    /// What all screeners of a policy say of a text.
    #[must_use]
    pub fn screen(&self, policy: Policy, content: &str, permissions: &[String]) -> Screening {
        let screeners = match policy {
            Policy::Agent => &self.agent,
            Policy::Import => &self.import,
        };
        let screeners: Vec<&dyn Screener> =
            screeners.iter().map(|screener| screener.as_ref() as &dyn Screener).collect();
        screen_all(&screeners, content, permissions)
    }

    /// What they say of a skill's file as it lies on disk, its form included.
    ///
    /// Bytes that are no text are a reason to look, not a way past the screeners: what can be read
    /// of them is screened.
    #[must_use]
    pub fn screen_file(&self, policy: Policy, bytes: &[u8], folder: Option<&str>) -> Screening {
        let text = String::from_utf8_lossy(bytes);
        let document = SkillDocument::parse(&text, folder);
        let mut findings = self.screen(policy, &text, &document.allowed_tools).findings;
        findings.extend(document.faults.iter().map(remark));
        if let Err(error) = std::str::from_utf8(bytes) {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            findings.push(Finding {
                rule: "not-text".into(),
                verdict: Verdict::NeedsReview,
                line: u32::try_from(line).unwrap_or(u32::MAX),
                excerpt: String::new(),
                message: "is not UTF-8 text from here on".into(),
            });
        }
        Screening::of(findings)
    }
}
