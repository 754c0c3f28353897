//! Screens text that is about to become a skill, or comes from outside.
//!
//! This crate owns verdicts, findings, the [`Screener`] trait, the normalisation that every
//! screener needs (compatibility forms, lookalikes, invisible characters, encoded payloads), and
//! the rules of the two policies. It is pure: text in, [`Screening`] out; no I/O, no clock, no
//! environment, and time linear in the text.

mod screener;
mod stub;
mod verdict;
pub use stub::{PatternScreener, Policy};

pub use screener::{Screener, screen_all};
pub use verdict::{Finding, Screening, Verdict};
