//! External content that enters a session: fenced, counted and recorded.

use foreword::estimate;
use foreword_guard::{Provenance, Trust, external_content};
use foreword_protocol::{ContentAdd, ErrorCode, Failure, ToolResult};
use foreword_store::Outcome;
use serde_json::{Value, json};

use super::tools;
use crate::turn::active_session::ActiveSession;
use crate::turn::scan::FencedText;
use crate::turn::tool_results::{admit_result, own_name};

pub(super) fn add(active: &ActiveSession, args: &ContentAdd) -> Result<Value, Failure> {
    if args.source.trim().is_empty() {
        return Err(Failure::new(
            ErrorCode::BadRequest,
            "`source` must say where the content came from",
        ));
    }
    let (added, ratio) = add_external(active, &args.source, &args.content)?;
    Ok(json!({
        "content": added.fenced, "tokens": added.tokens, "verdict": added.verdict.as_str(),
        "taintRatio": ratio,
    }))
}

/// Judges and counts what a tool answered. Gives the fenced text where the model must not read it plain, and
/// words a fault of the runner.
pub(super) fn judge_result(active: &ActiveSession, args: &ToolResult) -> Result<Value, Failure> {
    let name = own_name(&args.name);
    let Some(fault) = args.fault else {
        let fenced = admit_result(active, &args.id, name, &args.input, &args.content)?;
        return Ok(json!({ "content": fenced }));
    };
    let words = tools::not_carried_out(active, name, &args.input, fault);
    active.own_words.remember(&words);
    let fenced = admit_result(active, &args.id, name, &args.input, &words)?;
    Ok(json!({ "content": fenced.unwrap_or(words) }))
}

/// Adds an external text to the session; also returns the taint ratio after that.
pub(super) fn add_external(
    active: &ActiveSession,
    source: &str,
    text: &str,
) -> Result<(FencedText, f64), Failure> {
    let fenced = active.host.fence(source, text)?;
    let level = active.add_content(Provenance::External, &fenced.source, fenced.tokens, true)?;
    let detail = json!({ "tokens": fenced.tokens, "verdict": fenced.verdict.as_str() });
    let source = json!({ "source": fenced.source });
    let event = active.event_with_text("content.external", Outcome::Done, source);
    active.host.record(event.with_detail(detail));
    Ok((fenced, level.ratio()))
}

/// Counts texts from other sessions as they enter this one.
#[derive(Default)]
pub(super) struct ImportedTexts {
    clean: u64,
    tainted: u64,
}

impl ImportedTexts {
    /// A text as the agent reads it: fenced if it may contain external content.
    pub(super) fn fence(&mut self, source: &str, text: &str, tainted: bool) -> String {
        let tokens = u64::from(estimate(text));
        if tainted {
            self.tainted = self.tainted.saturating_add(tokens);
            external_content(source, Trust::External, text)
        } else {
            self.clean = self.clean.saturating_add(tokens);
            text.to_owned()
        }
    }

    /// Adds the texts to the taint ledger.
    pub(super) fn record(self, active: &ActiveSession, action: &str) -> Result<(), Failure> {
        if self.clean > 0 {
            active.add_content(Provenance::ToolResult, action, self.clean, false)?;
        }
        if self.tainted > 0 {
            active.add_content(Provenance::External, action, self.tainted, true)?;
        }
        Ok(())
    }
}
