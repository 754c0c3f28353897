//! Records what an agent sends to its model, and accounts for it.
//!
//! This crate owns the recording proxy ([`Proxy`]), the captures it writes, and the [`Report`] of a
//! capture: what a request is made of, where each stretch of text comes from, what broke the provider's
//! cache, what was wasted and what is dangerous. It stores no credential: headers that hold one are left
//! out, and bodies are redacted before they are written.

mod error;
mod proxy;
mod report;

pub use error::WatchError;
pub use proxy::{
    Callers, Exchange, MAX_RECORDED_BODY, Proxy, ProxyConfig, RecordedBody, Route, Sink,
};
pub use report::{
    Api, Cache, CacheBreak, CallReport, CaptureInfo, Cause, Conversation, Danger, DangerKind,
    Origin, Part, Region, RegionTokens, Report, SectionTokens, Severity, SourceShare, Stretch,
    Totals, Waste, WasteKind,
};
