//! One question to the model, outside an agent's own conversation: no tools, no stream, a short answer.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::Duration;

use foreword_protocol::{Answer, Block, Message, ModelCall, ModelRequest, SystemPart, Usage};
use serde_json::value::RawValue;
use ureq::Agent;

use crate::model::proxy::{refused, send};
use crate::model::upstream::Upstream;

const MAX_ANSWER_BYTES: u64 = 256 << 10;
/// The longest wait for an answer: a person waits for it.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

/// What to ask, and whom.
pub(crate) struct Question<'a> {
    pub(crate) agent: &'a Agent,
    pub(crate) upstream: &'a Upstream,
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    pub(crate) message: &'a str,
    pub(crate) max_tokens: u32,
}

impl Question<'_> {
    /// The text of the answer and what it cost, or why there is none.
    pub(crate) fn ask(&self) -> Result<(String, Usage), String> {
        let provider = self.upstream.provider;
        let request = ModelRequest {
            provider,
            model: self.model,
            system: &[SystemPart { text: self.system, cache_boundary: false }],
            turn_context: "",
            messages: &[Message::user(self.message)],
            tools: &[],
            max_tokens: self.max_tokens,
            stream: false,
        };
        let body = RawValue::from_string(request.body()).map_err(|error| error.to_string())?;
        let path = provider.path().to_owned();
        let call = ModelCall { path, headers: BTreeMap::new(), body };
        let response = send(self.agent, self.upstream, &call);
        let response = response.map_err(|error| format!("cannot reach the model: {error}"))?;
        if !response.status().is_success() {
            return Err(refused(response, self.upstream).0.to_string());
        }
        let mut text = Vec::new();
        let reader = response.into_body().into_reader();
        let read = reader.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| format!("its answer broke off: {error}"))?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_ANSWER_BYTES {
            return Err(format!("its answer is longer than {MAX_ANSWER_BYTES} bytes"));
        }
        let text = String::from_utf8_lossy(&text);
        let answer = Answer::from_body(provider, &text).map_err(|error| error.to_string())?;
        let texts = answer.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok((texts.collect(), answer.usage))
    }
}
