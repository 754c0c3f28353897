//! External content that enters a session: fenced, counted, on record.

use foreword_guard::Provenance;
use foreword_ipc::{ContentAdd, ErrorCode, Failure};
use serde_json::{Value, json};

use crate::external::Fenced;
use crate::live::Live;

pub(super) fn add(live: &Live, args: &ContentAdd) -> Result<Value, Failure> {
    if args.source.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`source` must say where it came from"));
    }
    let (taken, ratio) = take_in(live, &args.source, &args.content)?;
    Ok(json!({
        "content": taken.fenced, "tokens": taken.tokens, "verdict": taken.verdict.as_str(),
        "taintRatio": ratio,
    }))
}

/// Takes a text from outside into the session; gives the share of such that it has then.
pub(super) fn take_in(live: &Live, source: &str, text: &str) -> Result<(Fenced, f64), Failure> {
    let fenced = live.host.fence_one(source, text);
    let level = live.take_in(Provenance::External, &fenced.source, fenced.tokens, true)?;
    let detail = json!({
        "source": fenced.source, "tokens": fenced.tokens, "verdict": fenced.verdict.as_str(),
    });
    live.host.record(super::note(live, "content.external", detail));
    Ok((fenced, level.ratio()))
}
