//! The host of one workspace: its database, its prompt assembler, its scanner and its options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use foreword::SandboxChoice;
use foreword_gather::{AnyEmbedder, Assembler, Endpoint, Request, embedder};
use foreword_guard::Scanner;
use foreword_protocol::LineBudget;
use foreword_sandbox::{Monitor, Sandbox, SandboxError, check_workspace};
use foreword_skills::{Act, GitStore, GitStoreOptions, Screeners};
use foreword_store::{
    AuditKey, Event, GroupWriter, Heads, Options, Outcome, Reader, SessionId, Store,
    check_outside_workspace,
};
use foreword_workspace::{DATABASE_FILE, PRIVATE_DIR, Workspace, make_private_dir};

use crate::error::HostError;
use crate::mcp::pool::Pauses;
use crate::model::proxy;
use crate::model::second_opinion::ModelOpinion;
use crate::spending::budget::DaySpending;
use crate::turn::process_identity;
use crate::turn::run_dir;
use crate::turn::server::MAX_LINES_BYTES;
use crate::turn::start_gate::StartGate;
use crate::turn::warning::Warning;

/// Looks up an environment variable.
pub type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a host needs to know about the person and the machine. It looks up none of this itself.
pub struct HostOptions {
    /// The workspace.
    pub root: PathBuf,
    /// Holds the person's settings, the audit key and the trust files. Must be outside every workspace.
    pub config_dir: PathBuf,
    /// Where embedding models are installed.
    pub models_dir: Option<PathBuf>,
    /// The endpoint for embeddings.
    pub embeddings: Endpoint,
    /// The person in the audit log, such as `user:ada`.
    pub person: String,
    pub environment: Environment,
    /// Milliseconds since 1970.
    pub clock: fn() -> i64,
    /// Where session sockets are created: a short path that only the person can enter.
    pub run_base: PathBuf,
    /// The `foreword` program.
    pub program: PathBuf,
    /// The library with its code, if it is not all in one file.
    pub library: Option<PathBuf>,
    /// The person's home directory, which is hidden from agents.
    pub home: Option<PathBuf>,
    pub store: Options,
}

/// The host of one workspace. Shared between the threads of all its sessions.
pub struct Host {
    pub(crate) options: HostOptions,
    pub(crate) root: PathBuf,
    pub(crate) assembler: Assembler,
    pub(crate) writer: GroupWriter,
    pub(crate) reader: Reader,
    pub(crate) owner: String,
    /// Checks the seals of rows.
    pub(crate) key: AuditKey,
    database: PathBuf,
    store: OnceLock<Store>,
    pub(crate) scanner: OnceLock<Result<Scanner, String>>,
    embedder: OnceLock<Option<AnyEmbedder>>,
    sandboxes: Mutex<Vec<(SandboxChoice, Arc<dyn Sandbox>)>>,
    model: Mutex<Option<(Duration, ureq::Agent)>>,
    /// What this host has spent today.
    pub(crate) day_spending: Mutex<DaySpending>,
    /// Memory for long lines from agents.
    pub(crate) line_budget: Arc<LineBudget>,
    /// Limits how many turns start at the same time.
    pub(crate) start_gate: StartGate,
    /// Ends agents that use too much of the machine.
    pub(crate) monitor: Monitor,
    /// What the person allowed for a session, as long as this host runs.
    pub(crate) session_rules: Mutex<BTreeMap<SessionId, Vec<String>>>,
    /// MCP servers that failed, and until when they are left alone.
    pub(crate) server_pauses: Pauses,
    /// What actions found that a person should know, until a turn shows it.
    pub(crate) pending_warnings: Mutex<Vec<Warning>>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Host {
    /// Opens a workspace. Creates its database if needed, and cleans up after hosts that died.
    pub fn open(options: HostOptions) -> Result<Arc<Self>, HostError> {
        let workspace = Workspace::open(&options.root)?;
        let root = workspace
            .root()
            .canonicalize()
            .map_err(|error| HostError::io(format!("open {}", options.root.display()), error))?;
        // Checked before anything is written.
        check_workspace(&root, options.home.as_deref())?;
        if options.config_dir.canonicalize().is_ok_and(|own| root.starts_with(own)) {
            let reason = "it is inside your settings directory";
            return Err(SandboxError::NoWorkspace { path: root, reason }.into());
        }
        check_outside_workspace(&options.config_dir, &root)?;
        make_private_dir(&root)?;
        let database = root.join(PRIVATE_DIR).join(DATABASE_FILE);
        let key = AuditKey::load_or_create(&options.config_dir)?;
        let heads = Heads::new(&options.config_dir);
        let writer = GroupWriter::start(&database, key.clone(), heads, options.store)?;
        let reader = Reader::open(&database)?;
        reader.limit_page_cache()?;
        run_dir::sweep(&options.run_base);
        let host = Self {
            assembler: Assembler::new(&root),
            owner: process_identity::this(),
            root,
            writer,
            reader,
            key,
            database,
            options,
            store: OnceLock::new(),
            scanner: OnceLock::new(),
            embedder: OnceLock::new(),
            sandboxes: Mutex::default(),
            model: Mutex::default(),
            day_spending: Mutex::default(),
            line_budget: Arc::new(LineBudget::new(MAX_LINES_BYTES)),
            start_gate: StartGate::default(),
            monitor: Monitor::default(),
            session_rules: Mutex::default(),
            server_pauses: Pauses::default(),
            pending_warnings: Mutex::default(),
        };
        host.account_for_killed_turns();
        host.abandon_lost_turns()?;
        Ok(Arc::new(host))
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        (self.options.clock)()
    }

    /// The workspace, read again from its files.
    pub(crate) fn workspace(&self) -> Result<Workspace, HostError> {
        Ok(Workspace::open_for(&self.root, Some(&self.options.config_dir))?)
    }

    /// The part of a gather request that is the same for all prompts.
    pub(crate) fn request(&self) -> Request {
        Request {
            config_dir: Some(self.options.config_dir.clone()),
            models_dir: self.options.models_dir.clone(),
            embeddings: self.options.embeddings.clone(),
            whole_skills: true,
            ..Request::default()
        }
    }

    /// The skills, with the settings that the person accepted: `foreword.toml` may have appeared since.
    pub(crate) fn skills(&self) -> Result<GitStore, HostError> {
        let workspace = self.workspace()?;
        self.check_used(&workspace.used_files())?;
        let options = GitStoreOptions {
            config_dir: self.options.config_dir.clone(),
            screeners: Screeners::default(),
        };
        Ok(GitStore::new(workspace, options))
    }

    /// The skills for a proposal, with the model's opinion if the settings ask for it.
    pub(crate) fn skills_with_opinion(&self) -> Result<GitStore, HostError> {
        let mut store = self.skills()?;
        let config_dir = &self.options.config_dir;
        let opinion = ModelOpinion::of(store.workspace(), config_dir, &*self.options.environment);
        if let Some(opinion) = opinion {
            store.ask(Box::new(opinion));
        }
        Ok(store)
    }

    pub(crate) fn act(&self, by: &str) -> Act {
        Act { at: self.now(), by: by.to_owned() }
    }

    /// The database, for callers that write without the group writer.
    pub(crate) fn store(&self) -> Result<&Store, HostError> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let heads = Heads::new(&self.options.config_dir);
        let store = Store::open_with(&self.database, self.key.clone(), heads, self.options.store)?;
        Ok(self.store.get_or_init(|| store))
    }

    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    /// The injection scanner, loaded on first use. Its tables are part of the program.
    pub(crate) fn scanner(&self) -> Result<&Scanner, HostError> {
        let loaded =
            self.scanner.get_or_init(|| Scanner::embedded().map_err(|error| error.to_string()));
        loaded.as_ref().map_err(|reason| HostError::NoScanner(reason.clone()))
    }

    /// The embedder of the workspace; without one, search compares keywords only.
    pub(crate) fn embedder(&self) -> Option<&AnyEmbedder> {
        let made =
            self.embedder.get_or_init(|| embedder(&self.root, &self.request()).ok().flatten());
        made.as_ref()
    }

    /// The named sandbox, or the strongest one. Each is probed once.
    pub(crate) fn sandbox(&self, name: SandboxChoice) -> Result<Arc<dyn Sandbox>, HostError> {
        let mut known = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sandbox)) = known.iter().find(|(known, _)| *known == name) {
            return Ok(Arc::clone(sandbox));
        }
        let sandbox: Arc<dyn Sandbox> = self.find_sandbox(name)?.into();
        known.push((name, Arc::clone(&sandbox)));
        Ok(sandbox)
    }

    /// The HTTP client for model servers, which keeps connections open between calls.
    pub(crate) fn model_agent(&self, timeout: Duration) -> ureq::Agent {
        let mut kept = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((known, agent)) if *known == timeout => agent.clone(),
            _ => kept.insert((timeout, proxy::agent(timeout))).1.clone(),
        }
    }

    /// Adds an audit entry without waiting until it is durable.
    pub(crate) fn record(&self, event: Event) {
        let done = self.writer.submit(self.now(), move |write| write.audit(&event).map(drop));
        if let Err(error) = done {
            tracing::error!("cannot write to the audit log: {error}");
        }
    }

    /// Adds an audit entry and waits until it is durable.
    pub(crate) fn record_durably(&self, event: Event) -> Result<(), HostError> {
        Ok(self.writer.write(self.now(), move |write| write.audit(&event).map(drop))?)
    }

    /// Records turns whose host died as lost.
    fn abandon_lost_turns(&self) -> Result<(), HostError> {
        for turn in self.reader.running_turns(None)? {
            if process_identity::is_alive(&turn.owner) {
                continue;
            }
            let now = self.now();
            let event = Event::new("host", "turn.lost", turn.session.as_str(), Outcome::Failed)
                .with_detail(serde_json::json!({ "turn": turn.number.0 }));
            self.writer.write(now, move |write| {
                write.turns_abandon(&turn.session, &turn.owner, now)?;
                write.audit(&event).map(drop)
            })?;
        }
        Ok(())
    }
}
