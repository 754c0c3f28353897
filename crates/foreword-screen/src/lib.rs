//! Screens text that is about to become a skill, or comes from outside.
//!
//! This crate owns verdicts, findings, the [`Screener`] trait, the normalisation that every
//! screener needs (compatibility forms, lookalikes, invisible characters, encoded payloads), and
//! the rules of the two policies. It is pure: text in, [`Screening`] out; no I/O, no clock, no
//! environment, and time linear in the text.

mod context;
mod cue;
mod decode;
mod document;
mod injection;
mod line;
mod normalise;
mod page;
mod pattern_screener;
mod policy;
mod report;
mod rules;
mod scan;
mod screener;
mod sentence;
mod signals;
mod url;
mod verdict;

pub use normalise::{Hidden, HiddenKind, Normalised, normalise};
pub use pattern_screener::PatternScreener;
pub use policy::{Policy, UnknownPolicy};
pub use rules::rule_names;
pub use screener::{Screener, screen_all};
pub use verdict::{Finding, Screening, Verdict};
