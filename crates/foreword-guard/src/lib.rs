//! Checks on text that enters or leaves a session.
//!
//! This crate owns skill screening ([`PatternScreener`]), injection scanning ([`Scanner`]), canaries and
//! the detection of their disguised forms ([`Canary`], [`Detector`]), secrets and their redaction
//! ([`redact`], [`OutputGuard`]), the fence around external content ([`external_content`]), taint and
//! the gate before sensitive actions ([`TaintGate`]), and the classification of addresses ([`UrlHost`]). It
//! does no I/O and reads neither clock nor environment nor randomness: bytes and times are arguments.
//!
//! ```
//! use foreword_guard::{Canary, OutputGuard};
//!
//! let canary = Canary::from_random([7; 16]);
//! let mut guard = OutputGuard::new(&[canary.clone()], &[]);
//! let shown = guard.push("All is well. ")?;
//! assert!("All is well. ".starts_with(&shown));
//! let spelled: String = canary.as_str().chars().rev().flat_map(|c| [c, '-']).collect();
//! assert!(guard.push(&spelled).is_err());
//! # Ok::<(), foreword_guard::Leak>(())
//! ```

mod address;
mod canary;
mod external;
mod output;
mod permission;
mod scan;
mod screen;
mod secrets;
mod taint;

pub use address::{HostKind, HttpUrl, HttpUrlError, UrlHost};
pub use canary::Canary;
pub use canary::detector::{
    Detector, Encoding, Leak, LeakForm, MAX_LEAK_FORM, MAX_LEAK_GAP, Spelling,
};
pub use external::{Trust, external_content, is_external_content};
pub use foreword::{Provenance, TaintLevel};
pub use output::{Finished, OutputGuard, whole};
pub use permission::{
    DeadRule, InvalidRule, LayeredRule, Permission, PermissionDecision, PermissionRule,
    PermissionTable, RuleLayer, ToolUse, default_rules, files_shown, rule_for, tool_named,
};
pub use scan::gate::{ScanDecision, scan_input, scan_output};
pub use scan::{
    Example, GroupFigures, InjectionFigures, InjectionScreener, Judged, Patterns, Scan,
    ScanFinding, ScanVerdict, Scanner, TrainingBlock, TrainingReading, injection_examples,
    training_pairs, training_program, training_readings,
};
pub use screen::{
    Capabilities, Finding, Hidden, HiddenKind, Normalised, OpinionAnswer, OpinionQuestion,
    PatternScreener, Policy, Screener, Screening, SecondOpinion, SkillFile, UNDECLARED_CAPABILITY,
    UnknownPolicy, Verdict, normalise, rule_names, screen_all, screen_folder, with_second_opinion,
};
pub use secrets::{MAX_REPORTED_SECRETS, Redacted, Secret, SecretKind, redact, redact_with};
pub use taint::{Refusal, RefusalReason, TaintGate};
