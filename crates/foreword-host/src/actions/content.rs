//! External content that enters a session: fenced, counted, on record.

use foreword::estimate;
use foreword_guard::{Provenance, Trust, external_content};
use foreword_protocol::{ContentAdd, ErrorCode, Failure};
use serde_json::{Value, json};

use crate::turn::active_session::ActiveSession;
use crate::turn::external::FencedText;

pub(super) fn add(active: &ActiveSession, args: &ContentAdd) -> Result<Value, Failure> {
    if args.source.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`source` must say where it came from"));
    }
    let (taken, ratio) = take_in(active, &args.source, &args.content)?;
    Ok(json!({
        "content": taken.fenced, "tokens": taken.tokens, "verdict": taken.verdict.as_str(),
        "taintRatio": ratio,
    }))
}

/// Takes a text from outside into the session; gives the share of such that it has then.
pub(super) fn take_in(
    active: &ActiveSession,
    source: &str,
    text: &str,
) -> Result<(FencedText, f64), Failure> {
    let fenced = active.host.fence_one(source, text);
    let level = active.take_in(Provenance::External, &fenced.source, fenced.tokens, true)?;
    let detail = json!({
        "source": fenced.source, "tokens": fenced.tokens, "verdict": fenced.verdict.as_str(),
    });
    active.host.record(super::note(active, "content.external", detail));
    Ok((fenced, level.ratio()))
}

/// Texts that were written in other sessions, as they come into this one.
#[derive(Default)]
pub(super) struct Texts {
    clean: u64,
    tainted: u64,
}

impl Texts {
    /// A text as the agent sees it: fenced where it may come from outside.
    pub(super) fn shown(&mut self, source: &str, text: &str, tainted: bool) -> String {
        let tokens = u64::from(estimate(text));
        if tainted {
            self.tainted = self.tainted.saturating_add(tokens);
            external_content(source, Trust::External, text)
        } else {
            self.clean = self.clean.saturating_add(tokens);
            text.to_owned()
        }
    }

    /// Counts what was shown.
    pub(super) fn take_in(self, active: &ActiveSession, action: &str) -> Result<(), Failure> {
        if self.clean > 0 {
            active.take_in(Provenance::ToolResult, action, self.clean, false)?;
        }
        if self.tainted > 0 {
            active.take_in(Provenance::External, action, self.tainted, true)?;
        }
        Ok(())
    }
}
