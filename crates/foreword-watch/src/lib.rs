//! Records what an agent sends to its model, and accounts for it.
//!
//! This crate owns the recording proxy ([`Proxy`]), the captures it writes ([`CaptureStore`]), and the
//! [`Report`] of a capture: what a request is made of, where each stretch of text comes from, what broke the
//! provider's cache, what was wasted and what is dangerous. It stores no credential: headers that hold one
//! are left out, and bodies are redacted before they are written.
//!
//! ```
//! use foreword_guard::Scanner;
//! use foreword_watch::{ProjectFiles, ReportOptions, check_request};
//!
//! let body = r#"{"model": "claude-sonnet-4", "system": "You are Pickle.", "messages": []}"#;
//! let mut files = ProjectFiles::default();
//! files.add("SOUL.md", "You are Pickle.\nBe kind.");
//! let prices = foreword::Prices::built_in()?;
//! let options =
//!     ReportOptions { counter: &foreword::Estimate, prices: &prices, with_texts: false };
//! let report = check_request(body, Some(&files), &Scanner::embedded()?, &options)?;
//! assert_eq!(report.sources[0].name, "SOUL.md");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod capture;
mod check;
mod error;
mod layout;
mod page;
mod proxy;
mod report;
mod turn_context;
mod wire;

pub use analysis::{ProjectFiles, ReportOptions, report};
pub use capture::{CallSummary, Capture, CaptureEntry, CaptureStore, Recorder};
pub use check::{ExpectedPrompt, PromptCheck, PromptDifference, check_prompt, check_request};
pub use error::WatchError;
pub use layout::{CallSaving, Layout, LayoutFile, layout};
pub use page::report_page;
pub use proxy::{
    Callers, Exchange, MAX_RECORDED_BODY, Proxy, ProxyConfig, RecordedBody, Route, Sink,
};
pub use report::{
    Api, Cache, CacheBreak, CallReport, CaptureInfo, Cause, Conversation, Danger, DangerKind,
    Origin, Part, Region, RegionTokens, Report, SectionTokens, Severity, SourceShare, Stretch,
    Totals, Waste, WasteKind,
};
pub use turn_context::TurnContextPlace;
