//! The injection scan of everything that enters or leaves a session.
//!
//! A text that cannot be scanned never counts as clean: without a scanner these functions fail, and
//! the turn or the action fails with them.

use foreword::estimate;
use foreword_guard::{
    Provenance, ScanDecision, ScanVerdict, Trust, external_content, scan_input, scan_output,
};
use foreword_store::{Event, Outcome, SessionId};
use serde_json::{Value, json};

use crate::error::HostError;
use crate::host::Host;
use crate::turn::active_session::ActiveSession;
use crate::turn::request::{External, TurnRequest};

/// Longest source of an external text that is recorded.
const MAX_SOURCE_CHARS: usize = 200;

/// A text that comes with a message, as the agent gets it.
#[derive(Clone, Debug)]
pub(crate) struct FencedText {
    pub(crate) source: String,
    pub(crate) fenced: String,
    pub(crate) tokens: u64,
    pub(crate) verdict: ScanVerdict,
    /// Not if somebody stands for it.
    pub(crate) is_external: bool,
}

impl Host {
    /// Scans an external text, for clients that ask.
    pub fn scan(&self, text: &str) -> Result<Value, HostError> {
        let scanned = scan_input(self.scanner()?, text, Provenance::External);
        Ok(json!({
            "verdict": scanned.verdict.as_str(), "score": scanned.score, "reason": scanned.reason,
        }))
    }

    /// Scans the message of a turn. A blocked message ends the turn before it starts.
    pub(crate) fn scan_message(&self, request: &TurnRequest) -> Result<ScanVerdict, HostError> {
        let provenance = match request.origin.provenance() {
            Provenance::External => Provenance::External,
            _ => Provenance::User,
        };
        let scanned = scan_input(self.scanner()?, &request.message, provenance);
        if scanned.verdict == ScanVerdict::Block {
            let subject = request.session.as_ref().map_or("new", SessionId::as_str);
            let event = Event::new(&self.options.person, "scan.input", subject, Outcome::Refused)
                .with_detail(json!({ "score": scanned.score }));
            // Nothing is kept of a message that starts no session: the reason quotes it.
            let known = match &request.session {
                Some(id) => self.reader.session(id)?,
                None => None,
            };
            self.record_durably(match known {
                Some(session) => event.with_text(&session.id, json!({ "reason": scanned.reason })),
                None => event,
            })?;
            return Err(HostError::Blocked { reason: scanned.reason });
        }
        Ok(scanned.verdict)
    }

    /// Scans an answer, and records what the scanner objects to.
    pub(crate) fn scan_answer(
        &self,
        active: &ActiveSession,
        answer: &str,
    ) -> Result<ScanDecision, HostError> {
        let scanned = scan_output(self.scanner()?, answer);
        if scanned.verdict != ScanVerdict::Pass {
            let reason = json!({ "reason": scanned.reason });
            let event = active.event_with_text("scan.output", Outcome::Refused, reason);
            self.record(event.with_detail(json!({ "score": scanned.score })));
        }
        Ok(scanned)
    }

    pub(crate) fn fence_all(&self, external: &[External]) -> Result<Vec<FencedText>, HostError> {
        external.iter().map(|content| self.fence(&content.source, &content.text)).collect()
    }

    /// Fences an external text. If the scanner blocks it, a note takes its place.
    pub(crate) fn fence(&self, source: &str, text: &str) -> Result<FencedText, HostError> {
        let scanned = scan_input(self.scanner()?, text, Provenance::External);
        let fenced = if scanned.verdict == ScanVerdict::Block {
            let note = format!("withheld: it looks like prompt injection ({})", scanned.reason);
            external_content(source, Trust::External, &note)
        } else {
            external_content(source, Trust::External, text)
        };
        let tokens = u64::from(estimate(&fenced));
        let (source, verdict) = (one_line(source), scanned.verdict);
        Ok(FencedText { source, fenced, tokens, verdict, is_external: true })
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SOURCE_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    #[test]
    fn without_a_scanner_nothing_passes() {
        let test = TestHost::without_scanner("its tables are damaged");
        let host = &test.host;
        let message = TurnRequest { message: "hello".to_owned(), ..TurnRequest::default() };
        let told = "cannot load the injection scanner: its tables are damaged";
        assert_eq!(host.scan("hello").unwrap_err().to_string(), told);
        assert_eq!(host.scan_message(&message).unwrap_err().to_string(), told);
        assert_eq!(host.fence("page", "hello").unwrap_err().to_string(), told);
        assert_eq!(host.turn(&message, &mut ()).unwrap_err().to_string(), told);
        let client = host.client_session(None, None, "test").unwrap();
        let content = foreword_protocol::ContentAdd {
            source: "page".to_owned(),
            content: "hello".to_owned(),
        };
        let failure = client.call(foreword_protocol::Action::ContentAdd(content)).unwrap_err();
        assert!(failure.message.starts_with(told), "{failure}");
    }
}
