//! External content: scanned, fenced, counted.

use foreword::estimate;
use foreword_guard::{Provenance, Trust, external_content, scan_input};
use foreword_ipc::{ContentAdd, ErrorCode, Failure};
use foreword_semantic::ScanVerdict;
use serde_json::{Value, json};

use crate::live::Live;

/// What became of a text from outside.
pub(super) struct TakenIn {
    pub(super) fenced: String,
    pub(super) tokens: u64,
    pub(super) verdict: &'static str,
    pub(super) ratio: f64,
}

pub(super) fn add(live: &Live, args: &ContentAdd) -> Result<Value, Failure> {
    if args.source.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`source` must say where it came from"));
    }
    let taken = take_in(live, &args.source, &args.content)?;
    Ok(json!({
        "content": taken.fenced, "tokens": taken.tokens, "verdict": taken.verdict,
        "taintRatio": taken.ratio,
    }))
}

/// Takes a text from outside into the session. What reads as an attack is withheld.
pub(super) fn take_in(live: &Live, source: &str, text: &str) -> Result<TakenIn, Failure> {
    let scanned =
        live.host.scanner().map(|scanner| scan_input(scanner, text, Provenance::External));
    let verdict = scanned.as_ref().map_or(ScanVerdict::Pass, |scanned| scanned.verdict);
    let fenced = match (verdict, scanned) {
        (ScanVerdict::Block, Some(scanned)) => format!(
            "[the content from {} was withheld: {}]",
            one_line(source),
            one_line(&scanned.reason)
        ),
        _ => external_content(source, Trust::External, text),
    };
    let tokens = u64::from(estimate(&fenced));
    let level = live.take_in(Provenance::External, source, tokens, true)?;
    let verdict = verdict.as_str();
    let detail = json!({ "source": one_line(source), "tokens": tokens, "verdict": verdict });
    live.host.record(super::note(live, "content.external", detail));
    Ok(TakenIn { fenced, tokens, verdict, ratio: level.ratio() })
}

fn one_line(text: &str) -> String {
    let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    text.take(200).collect()
}
