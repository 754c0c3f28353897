//! A host on a scratch workspace, raw connections to its sockets, and a model's server that says one
//! thing.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use foreword_host::{Host, HostOptions, SessionSocket, TurnRequest};
use foreword_store::{Durability, LogFilter, Options, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An agent that answers and ends.
pub(crate) const DONE: &str = r#"echo '{"type":"text","text":"Hello."}'
echo '{"type":"done","messages":[],"stopReason":"end_turn","usage":{}}'"#;

/// A host, and where everything of it lies.
pub(crate) struct World {
    pub(crate) host: Arc<Host>,
    pub(crate) model: &'static Model,
    places: TempDir,
}

impl World {
    /// A host whose `[host]` settings are these.
    pub(crate) fn new(settings: &str) -> Self {
        Self::with_agent(settings, "exit 0")
    }

    /// A host whose agents are this shell script.
    pub(crate) fn with_agent(settings: &str, script: &str) -> Self {
        let places = tempfile::tempdir().unwrap();
        let root = places.path().join("workspace");
        std::fs::create_dir_all(&root).unwrap();
        let config = format!("model = 'test-model'\n\n[host]\n{settings}\n");
        std::fs::write(root.join("foreword.toml"), config).unwrap();
        let program = places.path().join("agent.sh");
        // The sandbox calls its launcher, which is the same program, with what to run behind `--`.
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" != agent ]; then while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"; fi\n{script}\n"
        );
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let model = Model::shared();
        let options = HostOptions {
            root,
            config_dir: places.path().join("config"),
            models_dir: None,
            embeddings: Default::default(),
            person: "user:test".to_owned(),
            environment: Box::new(move |name| match name {
                "PATH" => Some("/usr/local/bin:/usr/bin:/bin".to_owned()),
                "ANTHROPIC_BASE_URL" => Some(model.url.clone()),
                _ => None,
            }),
            clock: || {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
                i64::try_from(now.as_millis()).unwrap()
            },
            run_base: places.path().join("run"),
            program,
            library: None,
            home: None,
            store: Options { durability: Durability::Fast, ..Options::default() },
        };
        let host = Host::open(options).unwrap();
        host.trust(&host.standing(None).unwrap().1).unwrap();
        Self { host, model, places }
    }

    /// Opens the socket of a session.
    pub(crate) fn socket(&self, session: &str) -> SessionSocket {
        let session = Some(SessionId::parse(session).unwrap());
        self.host.serve_session(&TurnRequest { session, ..TurnRequest::default() }).unwrap()
    }

    pub(crate) fn run_dirs(&self) -> usize {
        std::fs::read_dir(self.places.path().join("run")).map_or(0, Iterator::count)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.places.path().join("workspace")
    }

    /// The codes of all lines that were rejected, as the audit log has them.
    pub(crate) fn rejected(&self) -> Vec<String> {
        let filter =
            LogFilter { action_prefix: Some("ipc.rejected".to_owned()), ..LogFilter::default() };
        let entries = self.host.reader().entries(&filter).unwrap();
        entries.iter().map(|entry| entry.detail["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until something is on record: what only reads reaches the disk a moment later.
    pub(crate) fn eventually(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..200 {
            if holds(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{what}: {:?}", self.rejected());
    }
}

/// A connection that says whatever it is told to.
pub(crate) struct Line {
    pub(crate) stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Line {
    pub(crate) fn to(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self.stream.write_all(b"\n").unwrap();
        self
    }

    pub(crate) fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Sends a line and gives the code of the failure; an empty one where it went well.
    pub(crate) fn code(&mut self, bytes: impl AsRef<[u8]>) -> String {
        let reply = self.send(bytes).reply();
        reply["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// How many replies come before the host hangs up.
    pub(crate) fn replies_until_the_end(&mut self) -> usize {
        let mut line = String::new();
        let lines = std::iter::from_fn(|| {
            line.clear();
            matches!(self.reader.read_line(&mut line), Ok(1..)).then_some(())
        });
        lines.count()
    }

    /// Whether the host has hung up.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.reader.read(&mut [0]), Ok(0) | Err(_))
    }
}

pub(crate) fn call(id: u64, token: &str, action: &str, args: &Value) -> String {
    json!({ "id": id, "token": token, "action": action, "args": args }).to_string()
}

pub(crate) fn status(id: u64, token: &str) -> String {
    call(id, token, "session_status", &json!({}))
}

/// A model's server that answers every call with the same words, and counts them.
pub(crate) struct Model {
    pub(crate) url: String,
    pub(crate) calls: AtomicUsize,
}

impl Model {
    fn shared() -> &'static Self {
        static MODEL: OnceLock<Model> = OnceLock::new();
        MODEL.get_or_init(|| {
            let url = foreword_testing::loopback_model::serve(|_| {
                if let Some(model) = MODEL.get() {
                    model.calls.fetch_add(1, Ordering::SeqCst);
                }
                "data: {\"type\":\"message_stop\"}\n\n".to_owned()
            });
            Self { url: url.unwrap(), calls: AtomicUsize::new(0) }
        })
    }
}
