//! Any endpoint compatible with OpenAI's `/v1/embeddings`: Ollama, vLLM, TEI, hosted ones.

use std::sync::Arc;
use std::thread;

use serde::{Deserialize, Serialize};
use ureq::Agent;

use crate::embedder::{EmbedError, Embedder};
use crate::http::settings::HttpSettings;
use crate::vector::{EmbedderId, Vector};

/// No answer is longer: 64 vectors of 4,096 numbers are about 6 MB.
const MAX_ANSWER: u64 = 64 << 20;
/// So much of an error message is shown.
const MAX_MESSAGE: usize = 200;

/// Embeds by asking a server.
#[derive(Debug)]
pub struct HttpEmbedder {
    settings: HttpSettings,
    endpoint: String,
    agent: Agent,
    id: Arc<EmbedderId>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The outcome of one request.
enum Attempt {
    Done(Vec<Vec<f32>>),
    /// Worth retrying, after the number of seconds the server asks for.
    Again(EmbedError, Option<u64>),
}

impl HttpEmbedder {
    /// Prepares to ask an endpoint; asks it once where the length of its vectors is not known.
    ///
    /// Neither redirects are followed, which could carry the key elsewhere, nor a proxy of the
    /// environment used.
    pub fn new(settings: HttpSettings) -> Result<Self, EmbedError> {
        let endpoint = settings.endpoint()?;
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .build()
            .into();
        let server = endpoint.split('/').nth(2).unwrap_or_default().to_owned();
        let version = format!("{}@{server}", settings.model);
        let id = |dims| Arc::new(EmbedderId::new("http", version.as_str(), dims));
        let dims = settings.dims;
        let mut embedder = Self { id: id(dims.unwrap_or(0)), endpoint, agent, settings };
        if dims.is_none() {
            let vectors = embedder.ask(&["how long are the vectors?"])?;
            embedder.id = id(vectors.first().map_or(0, Vec::len));
        }
        if embedder.id.dims == 0 {
            return Err(embedder.odd("its vectors have no numbers"));
        }
        Ok(embedder)
    }

    /// Asks until there is an answer or no patience left.
    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut attempt = 0;
        loop {
            match self.attempt(texts)? {
                Attempt::Done(vectors) => return Ok(vectors),
                Attempt::Again(error, _) if attempt >= self.settings.retries => return Err(error),
                Attempt::Again(_, wish) => thread::sleep(self.settings.wait(attempt, wish)),
            }
            attempt += 1;
        }
    }

    fn attempt(&self, texts: &[&str]) -> Result<Attempt, EmbedError> {
        let request =
            Request { model: &self.settings.model, input: texts, encoding_format: "float" };
        let body = serde_json::to_string(&request).map_err(|error| self.odd(&error.to_string()))?;
        let mut post = self.agent.post(&self.endpoint).content_type("application/json");
        if let Some(key) = &self.settings.api_key {
            post = post.header("Authorization", format!("Bearer {}", key.expose()));
        }
        let mut answer = match post.send(body) {
            Ok(answer) => answer,
            Err(error) => return self.failed(&error),
        };
        let status = answer.status().as_u16();
        let wish = answer
            .headers()
            .get("retry-after")
            .and_then(|wish| wish.to_str().ok()?.trim().parse().ok());
        let text = match answer.body_mut().with_config().limit(MAX_ANSWER).read_to_string() {
            Ok(text) => text,
            Err(error) => return self.failed(&error),
        };
        match status {
            200..=299 => self.read(&text, texts.len()).map(Attempt::Done),
            408 | 429 | 500..=599 => Ok(Attempt::Again(self.refused(status, &text), wish)),
            _ => Err(self.refused(status, &text)),
        }
    }

    /// A broken connection is worth another try; a server that has been waited for is not.
    fn failed(&self, error: &ureq::Error) -> Result<Attempt, EmbedError> {
        let url = self.endpoint.clone();
        let broken = |what: String| EmbedError::Unreachable { url: self.endpoint.clone(), what };
        match error {
            ureq::Error::Timeout(_) => {
                Err(EmbedError::TimedOut { url, limit: self.settings.timeout })
            }
            ureq::Error::Io(error) => Ok(Attempt::Again(broken(error.to_string()), None)),
            ureq::Error::ConnectionFailed => Ok(Attempt::Again(broken(error.to_string()), None)),
            ureq::Error::BodyExceedsLimit(_) => Err(self.odd("it is too long")),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Err(EmbedError::Url { url }),
            error => Err(broken(error.to_string())),
        }
    }

    fn refused(&self, status: u16, text: &str) -> EmbedError {
        let parsed: Option<serde_json::Value> = serde_json::from_str(text).ok();
        let said = parsed.as_ref().and_then(|json| {
            let error = json.get("error")?;
            error.get("message").unwrap_or(error).as_str()
        });
        EmbedError::Refused {
            url: self.endpoint.clone(),
            status,
            message: one_line(said.unwrap_or(text)),
        }
    }

    fn odd(&self, what: &str) -> EmbedError {
        EmbedError::Answer { url: self.endpoint.clone(), what: one_line(what) }
    }

    fn read(&self, text: &str, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let answer: Answer =
            serde_json::from_str(text).map_err(|error| self.odd(&error.to_string()))?;
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
        if answer.data.len() != count {
            return Err(self.odd(&format!("{} vectors for {count} texts", answer.data.len())));
        }
        for (place, entry) in answer.data.into_iter().enumerate() {
            let found = entry.embedding.len();
            if self.id.dims != 0 && found != self.id.dims {
                return Err(self.odd(&format!("a vector of {found} numbers, not {}", self.id.dims)));
            }
            match vectors.get_mut(entry.index.unwrap_or(place)) {
                Some(slot @ None) => *slot = Some(entry.embedding),
                _ => return Err(self.odd("its indices are not those of the texts")),
            }
        }
        Ok(vectors.into_iter().flatten().collect())
    }

    /// Cuts a list of texts into requests within the limits.
    fn batches<'a, 't>(&self, texts: &'a [&'t str]) -> Vec<&'a [&'t str]> {
        let mut batches = Vec::new();
        let mut rest = texts;
        while !rest.is_empty() {
            let mut bytes = 0_usize;
            let fit = rest.iter().take(self.settings.max_batch.max(1)).take_while(|text| {
                bytes = bytes.saturating_add(text.len());
                bytes <= self.settings.max_batch_bytes
            });
            let (batch, after) = rest.split_at(fit.count().max(1).min(rest.len()));
            batches.push(batch);
            rest = after;
        }
        batches
    }
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        // Servers refuse blank texts; they mean nothing anyway.
        let asked: Vec<&str> = texts
            .iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| {
                text.get(..text.floor_char_boundary(self.settings.max_text_bytes)).unwrap_or(text)
            })
            .collect();
        let mut answers = Vec::with_capacity(asked.len());
        for batch in self.batches(&asked) {
            answers.extend(self.ask(batch)?);
        }
        let mut answers = answers.into_iter();
        let vector = |text: &&str| {
            let values = if text.trim().is_empty() { None } else { answers.next() };
            let values = values.unwrap_or_else(|| vec![0.0; self.id.dims]);
            Vector::new(Arc::clone(&self.id), values).map_err(|error| self.odd(&error.to_string()))
        };
        texts.iter().map(vector).collect()
    }
}

/// The start of a text as one line without control characters: it comes from outside.
fn one_line(text: &str) -> String {
    let words =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if line.len() + word.len() > MAX_MESSAGE {
            let left = word.floor_char_boundary(MAX_MESSAGE.saturating_sub(line.len() + 1));
            line.extend([
                if line.is_empty() { "" } else { " " },
                word.get(..left).unwrap_or_default(),
                "…",
            ]);
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
