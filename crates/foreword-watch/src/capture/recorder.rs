//! Writes a capture while the proxy runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use foreword::{Timestamp, Usage};

use super::body::StoredBody;
use super::record::{CallFacts, FORMAT, Line, RecordedSecret, StoredCall};
use super::redaction::Credentials;
use crate::analysis::conversations::Conversations;
use crate::error::WatchError;
use crate::proxy::{Exchange, RecordedBody, Sink};
use crate::report::{CaptureInfo, Cause};
use crate::wire::{
    Decoded, ModelRequest, api_of_path, decode, model_of_path, read_answer, read_request,
};

/// What is said about a call as soon as it has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct CallSummary {
    pub number: usize,
    pub api: crate::report::Api,
    pub model: String,
    pub status: u16,
    pub problem: Option<String>,
    pub total_ms: f64,
    /// Tokens of the request, estimated.
    pub tokens: u64,
    pub usage: Option<Usage>,
    /// What broke the cache, where, and the call before.
    pub cache_break: Option<(Cause, String, usize)>,
    pub secrets: usize,
}

/// A capture that is being written. Exchanges are written by a thread of its own, so that no client waits.
pub struct Recorder {
    sender: Mutex<Option<Sender<Exchange>>>,
    thread: Mutex<Option<JoinHandle<Writer>>>,
    path: PathBuf,
    /// The file, locked as long as this exists, so that no other process deletes it as an old one.
    _lock: File,
}

/// Called for every call, on the recorder's thread.
type OnCall = Box<dyn FnMut(&CallSummary) + Send>;

struct Writer {
    file: File,
    conversations: Conversations,
    calls: usize,
    /// Texts that were searched for secrets already.
    searched: BTreeSet<[u8; 32]>,
    /// The redacted body of the latest call of every conversation.
    bodies: BTreeMap<usize, (usize, String)>,
    on_call: OnCall,
    failure: Option<std::io::Error>,
}

/// Bodies that later ones are stored as the difference to, and their bytes.
const MAX_BODIES: usize = 64;
const MAX_BODY_BYTES: usize = 256 << 20;
/// How many texts are remembered as searched.
const MAX_SEARCHED: usize = 100_000;

impl Recorder {
    /// Starts a capture in a new private file.
    pub(super) fn create(
        path: PathBuf,
        info: CaptureInfo,
        on_call: OnCall,
    ) -> Result<Arc<Self>, WatchError> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let failed = |source| WatchError::Io { action: "write", path: path.clone(), source };
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let lock = file.try_clone().map_err(failed)?;
        // Where files cannot be locked, an old capture may be deleted under another process.
        let _ = lock.lock();
        let mut writer = Writer {
            file,
            conversations: Conversations::default(),
            calls: 0,
            searched: Default::default(),
            bodies: Default::default(),
            on_call,
            failure: None,
        };
        writer.write(&Line::Capture { format: FORMAT, info });
        if let Some(source) = writer.failure.take() {
            return Err(failed(source));
        }
        let (sender, receiver) = channel();
        let thread = thread::Builder::new()
            .name("watch-recorder".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(failed)?;
        Ok(Arc::new(Self {
            sender: Mutex::new(Some(sender)),
            thread: Mutex::new(Some(thread)),
            path,
            _lock: lock,
        }))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all that is left, and how the program ended.
    pub fn finish(&self, exit_code: Option<i32>) -> Result<(), WatchError> {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut writer) = thread.and_then(|thread| thread.join().ok()) else { return Ok(()) };
        writer.write(&Line::End { at: timestamp(SystemTime::now()), exit_code });
        match writer.failure {
            Some(source) => {
                Err(WatchError::Io { action: "write", path: self.path.clone(), source })
            }
            None => Ok(()),
        }
    }
}

impl Sink for Recorder {
    fn record(&self, exchange: Exchange) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = sender.as_ref() {
            let _ = sender.send(exchange);
        }
    }
}

/// A time in RFC 3339.
pub(super) fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Timestamp::from_unix(i64::try_from(seconds).unwrap_or(i64::MAX)).as_str().to_owned()
}

impl Writer {
    fn run(mut self, exchanges: &Receiver<Exchange>) -> Self {
        for exchange in exchanges {
            self.take(&exchange);
        }
        self
    }

    fn write(&mut self, line: &Line) {
        let mut text = match serde_json::to_vec(line) {
            Ok(text) => text,
            Err(error) => {
                self.failure.get_or_insert(error.into());
                return;
            }
        };
        text.push(b'\n');
        if let Err(error) = self.file.write_all(&text) {
            self.failure.get_or_insert(error);
        }
    }

    fn take(&mut self, exchange: &Exchange) {
        let credentials = Credentials::of(exchange);
        let path = credentials.path(&exchange.target);
        let api = api_of_path(&exchange.target).filter(|_| exchange.method == "POST");
        let Some(api) = api else {
            return self.write(&Line::Other {
                at: timestamp(exchange.at),
                method: exchange.method.clone(),
                path,
                status: exchange.status,
            });
        };
        self.calls += 1;
        let number = self.calls;
        let mut problem = exchange.problem.clone();
        let (body, unreadable) =
            text_of(&exchange.request, exchange.request_header("content-encoding"));
        let (answer, _) = text_of(&exchange.response, exchange.response_header("content-encoding"));
        if let Some(reason) = unreadable {
            problem.get_or_insert(format!("cannot read the request body: {reason}"));
        }
        let request = match read_request(Some(api), &exchange.target, &body) {
            Ok(request) => Some(request),
            Err(error) => {
                problem.get_or_insert(format!("cannot read the request body: {error}"));
                None
            }
        };
        let facts = read_answer(api, &answer);
        if problem.is_none() && exchange.status >= 400 {
            problem = facts.error.clone().or_else(|| Some(format!("HTTP {}", exchange.status)));
        } else if problem.is_none() && facts.error.is_some() {
            problem.clone_from(&facts.error);
        }
        problem = problem.map(|problem| credentials.redact(&problem).text);
        let secrets =
            request.as_ref().map_or(Vec::new(), |request| self.secrets(request, &credentials));
        let model = request.as_ref().map_or(String::new(), |request| request.model.clone());
        let model = if model.is_empty() {
            model_of_path(&exchange.target).unwrap_or_default().to_owned()
        } else {
            model
        };
        let tokens = request.as_ref().map_or(0, |request| {
            request.parts.iter().map(|part| u64::from(foreword::estimate(&part.text))).sum()
        });
        // A call that the provider refused leaves nothing in its cache.
        let is_counted = exchange.status < 400 && exchange.status != 0;
        let placed =
            request.filter(|_| is_counted).map(|request| self.conversations.place(number, request));
        let comparison = placed.as_ref().and_then(|placed| placed.comparison.clone());
        let comparison = comparison.map(|mut comparison| {
            if let Some(difference) = &mut comparison.difference {
                difference.before = credentials.redact(&difference.before).text;
                difference.after = credentials.redact(&difference.after).text;
            }
            comparison
        });
        let summary = CallSummary {
            number,
            api,
            model: credentials.redact(&model).text,
            status: exchange.status,
            problem: problem.clone(),
            total_ms: exchange.total.as_secs_f64() * 1000.0,
            tokens,
            usage: facts.usage,
            cache_break: comparison.as_ref().and_then(|comparison| {
                let difference = comparison.difference.as_ref()?;
                let place = format!("{}:{}", difference.place, difference.line);
                Some((difference.cause, place, comparison.previous))
            }),
            secrets: secrets.len(),
        };
        let redacted = credentials.redact_body(&body);
        let conversation = placed.map(|placed| placed.conversation);
        let call = StoredCall {
            facts: CallFacts {
                number,
                at: timestamp(exchange.at),
                upstream: exchange.route.clone(),
                path,
                api,
                status: exchange.status,
                problem,
                first_byte_ms: exchange.first_byte.as_secs_f64() * 1000.0,
                total_ms: exchange.total.as_secs_f64() * 1000.0,
                conversation,
                comparison,
                secrets,
                request_headers: credentials.headers(&exchange.request_headers),
                response_headers: credentials.headers(&exchange.response_headers),
            },
            request: self.stored(number, conversation, redacted, exchange.request.length),
            response: StoredBody::whole(credentials.redact_body(&answer), exchange.response.length),
        };
        self.write(&Line::Call(Box::new(call)));
        (self.on_call)(&summary);
    }

    fn stored(
        &mut self,
        number: usize,
        conversation: Option<usize>,
        body: String,
        length: u64,
    ) -> StoredBody {
        let Some(conversation) = conversation else { return StoredBody::whole(body, length) };
        let stored = match self.bodies.get(&conversation) {
            Some((call, earlier)) => StoredBody::after(&body, length, *call, earlier),
            None => StoredBody::whole(body.clone(), length),
        };
        self.bodies.insert(conversation, (number, body));
        let bytes = |bodies: &BTreeMap<usize, (usize, String)>| {
            bodies.values().map(|(_, body)| body.len()).sum::<usize>()
        };
        while self.bodies.len() > MAX_BODIES
            || (self.bodies.len() > 1 && bytes(&self.bodies) > MAX_BODY_BYTES)
        {
            let oldest = self.bodies.iter().min_by_key(|(_, (call, _))| *call).map(|(key, _)| *key);
            oldest.and_then(|oldest| self.bodies.remove(&oldest));
        }
        stored
    }

    /// The secrets in parts that were not sent before.
    fn secrets(
        &mut self,
        request: &ModelRequest,
        credentials: &Credentials,
    ) -> Vec<RecordedSecret> {
        let mut found = Vec::new();
        for part in &request.parts {
            let digest = blake3::hash(part.text.as_bytes()).into();
            if self.searched.len() < MAX_SEARCHED && !self.searched.insert(digest) {
                continue;
            }
            found.extend(secrets_of(part, credentials));
        }
        found
    }
}

/// The secrets in a part of a request.
pub(crate) fn secrets_of(
    part: &crate::wire::RequestPart,
    credentials: &Credentials,
) -> Vec<RecordedSecret> {
    let redacted = credentials.redact(&part.text);
    let secret = |secret: &foreword_guard::Secret| {
        let before = part.text.as_bytes().iter().take(secret.range.start);
        RecordedSecret {
            place: part.place.clone(),
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            what: secret.kind.to_string(),
        }
    };
    redacted.found.iter().map(secret).collect()
}

/// The text of a body, and why it is not whole.
fn text_of(body: &RecordedBody, coding: Option<&[u8]>) -> (String, Option<String>) {
    if body.is_cut() {
        let max = crate::proxy::MAX_RECORDED_BODY >> 20;
        let reason = format!("it has {} bytes; at most {max} MiB are recorded", body.length);
        return (String::new(), Some(reason));
    }
    match decode(&body.bytes, coding) {
        Decoded::Text(text) => (text, None),
        Decoded::Unreadable(reason) => (String::new(), Some(reason)),
    }
}
