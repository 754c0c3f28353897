//! stub
use crate::{Finding, Screener, Verdict};
/// x
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// x
    Agent,
    /// x
    Import,
}
/// x
pub struct PatternScreener(Policy);
impl PatternScreener {
    /// x
    pub fn new(p: Policy) -> Self {
        Self(p)
    }
}
impl Screener for PatternScreener {
    fn screen(&self, content: &str, _: &[String]) -> Vec<Finding> {
        let mut v = vec![];
        for (n, verdict) in [("eval(", Verdict::Reject), ("process.env", Verdict::NeedsReview)] {
            if content.contains(n) {
                v.push(Finding { rule: "stub".into(), verdict, line: 1, excerpt: n.into(), message: "stub".into() });
            }
        }
        v
    }
}
