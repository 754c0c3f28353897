//! The table of methods, and the service that answers them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foreword::Prompt;
use foreword_embed::StaticEmbedder;
use foreword_gather::Assembler;
use foreword_guard::{Scan, Scanner, Screening};
use foreword_skills::{ProposalResult, SkillContent};
use foreword_workspace::discover;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::failure::{Failure, invalid};
use crate::methods::memory::{self, Forgotten, MemoryAdded, MemoryPage, MemoryResults};
use crate::methods::prompt::{self, BuildAnswer, DiffParams, ExplainAnswer, PromptParams};
use crate::methods::requests::{self, CheckRequestAnswer, CheckRequestParams, WatchReportParams};
use crate::methods::select::{self, SelectAnswer, SelectParams, Selectors};
use crate::methods::skills::{self, Decided, ProposalEntry, SkillEntry};
use crate::methods::text::{
    self, CountAnswer, CountParams, PingAnswer, PingParams, ScanParams, ScreenParams, scanner,
};
use crate::methods::workspace_files::{self, LintParams};

/// A method: its name, what it does, and the schemas of its parameters and its answer.
pub struct Method {
    /// The name in a request.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    pub(crate) request: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) answer: fn(&mut SchemaGenerator) -> Schema,
    call: fn(&Service, Value) -> Result<Value, Failure>,
}

macro_rules! methods {
    ($($name:literal, $about:literal: $params:ty => $answer:ty, $call:expr;)+) => {
        const METHODS: &[Method] = &[$(Method {
            name: $name,
            about: $about,
            request: <$params>::json_schema,
            answer: <$answer>::json_schema,
            call: |service, params| {
                let answer = $call(service, read::<$params>(params)?)?;
                Ok(serde_json::to_value(answer)?)
            },
        },)+];
    };
}

methods! {
    "build", "Compile a prompt":
        PromptParams => BuildAnswer<'static>, prompt::build;
    "explain", "Show the source and token cost of each section, or of one byte":
        PromptParams => ExplainAnswer, prompt::explain;
    "diff", "Compare two prompts and show what is billed again":
        DiffParams => foreword::Difference, prompt::difference;
    "lint", "Check a workspace":
        LintParams => Vec<foreword::Finding>, workspace_files::lint;
    "scan", "Scan a text for prompt injection":
        ScanParams => Scan, text::scan;
    "screen", "Screen a skill without storing it":
        ScreenParams => Screening, text::screen;
    "select", "Pick the tools and skills that fit a task":
        SelectParams => SelectAnswer, select::select;
    "count", "Count the tokens of a text":
        CountParams => CountAnswer, text::count;
    "memory_add", "Store a memory":
        memory::MemoryAddParams => MemoryAdded, memory::memory_add;
    "memory_search", "Search memories":
        memory::MemorySearchParams => MemoryResults, memory::memory_search;
    "memory_list", "List memories, newest first":
        memory::MemoryListParams => MemoryPage, memory::memory_list;
    "memory_forget", "Delete memories permanently":
        memory::MemoryForgetParams => Forgotten, memory::memory_forget;
    "skill_list", "List skills and their approval":
        skills::SkillListParams => Vec<SkillEntry>, skills::skill_list;
    "skill_read", "Read a skill":
        skills::SkillReadParams => SkillContent, skills::skill_read;
    "skill_propose", "Propose a new or changed skill":
        skills::SkillProposeParams => ProposalResult, skills::skill_propose;
    "skill_proposals", "List proposals, or show one with its diff":
        skills::SkillProposalsParams => Vec<ProposalEntry>, skills::skill_proposals;
    "skill_decide", "Approve or reject a proposal, as a person decided":
        skills::SkillDecideParams => Decided, skills::skill_decide;
    "check_request", "Report on a request to a model, and check that a prompt is in it byte for byte":
        CheckRequestParams => CheckRequestAnswer, requests::check_request;
    "watch_report", "Report on a capture of `foreword watch`":
        WatchReportParams => foreword_watch::Report, requests::watch_report;
    "ping", "Get the version":
        PingParams => PingAnswer, text::ping;
}

/// Every method, in the order of the documentation.
#[must_use]
pub fn methods() -> &'static [Method] {
    METHODS
}

/// A compiled prompt with what its caller may ask about it.
#[derive(Debug)]
pub struct Compiled {
    /// The prompt.
    pub prompt: Prompt,
    /// The task it was built for.
    pub task: String,
    /// The name of its blueprint.
    pub blueprint: String,
    /// How long compiling took.
    pub build_time_ms: f64,
    /// What the caller should know about how it was gathered.
    pub warnings: Vec<String>,
}

/// Answers requests, and keeps between them what is expensive to make. Threads may share it.
#[derive(Default)]
pub struct Service {
    workspace: Option<PathBuf>,
    assemblers: Mutex<Vec<Arc<Assembler>>>,
    scanner: OnceLock<Scanner>,
    embedder: OnceLock<StaticEmbedder>,
    selectors: Selectors,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}

impl Service {
    /// So many workspaces are kept warm.
    const MAX_WORKSPACES: usize = 16;

    /// A service whose requests are about this workspace unless they name another one. Without one, the
    /// nearest workspace at or above the current directory is used.
    #[must_use]
    pub fn new(workspace: Option<PathBuf>) -> Self {
        Self { workspace, ..Self::default() }
    }

    /// Answers one request.
    pub fn call(&self, method: &str, params: Value) -> Result<Value, Failure> {
        // The name before `skill_list` had siblings.
        let name = if method == "skills" { "skill_list" } else { method };
        if let Some(found) = METHODS.iter().find(|known| known.name == name) {
            return (found.call)(self, params);
        }
        let names = METHODS.iter().map(|method| method.name);
        let error = Failure::usage(format!("unknown method `{method}`"));
        Err(match foreword::nearest(method, names.clone()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error.hint(format!("methods: {}", names.collect::<Vec<_>>().join(", "))),
        })
    }

    /// Compiles the prompt that the parameters ask for.
    pub fn compile(&self, params: PromptParams) -> Result<Compiled, Failure> {
        let counter = prompt::counter(params.tokenizer)?;
        let gathered = params.gather(self)?;
        let (prompt, build_time_ms) = prompt::compile(&gathered, counter.as_deref());
        Ok(Compiled {
            prompt,
            task: gathered.context.task.inspect().to_owned(),
            blueprint: gathered.blueprint.name().to_owned(),
            build_time_ms,
            warnings: gathered.warnings.iter().map(ToString::to_string).collect(),
        })
    }

    /// The workspace that a request names, or that of the service.
    pub(crate) fn root(&self, named: Option<&Path>) -> Result<PathBuf, Failure> {
        find_workspace(named.or(self.workspace.as_deref()))
    }

    /// The assembler of a workspace, so that unchanged files are read once.
    pub(crate) fn assembler(&self, root: &Path) -> Arc<Assembler> {
        let mut kept = self.assemblers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().position(|assembler| assembler.root() == root);
        let assembler = match known {
            Some(place) => kept.remove(place),
            None => Arc::new(Assembler::new(root)),
        };
        if kept.len() >= Self::MAX_WORKSPACES {
            kept.remove(0);
        }
        kept.push(Arc::clone(&assembler));
        assembler
    }

    pub(crate) fn scanner(&self) -> Result<&Scanner, Failure> {
        if let Some(known) = self.scanner.get() {
            return Ok(known);
        }
        let made = scanner()?;
        Ok(self.scanner.get_or_init(|| made))
    }

    pub(crate) fn embedder(&self) -> Result<&StaticEmbedder, Failure> {
        if let Some(known) = self.embedder.get() {
            return Ok(known);
        }
        let made = StaticEmbedder::embedded()?;
        Ok(self.embedder.get_or_init(|| made))
    }

    pub(crate) fn selectors(&self) -> &Selectors {
        &self.selectors
    }
}

/// The given workspace, or the nearest one at or above the current directory.
pub fn find_workspace(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(given) = given {
        if given.is_file() {
            let message = format!("{}: is a file, not a workspace", given.display());
            return Err(Failure::usage(message).hint("pass the directory of a workspace with `-w`"));
        }
        return Ok(given.to_owned());
    }
    let found = discover(Path::new("."))?;
    let is_here = Path::new(".").canonicalize().is_ok_and(|here| here == found);
    Ok(if is_here { PathBuf::from(".") } else { found })
}

/// The parameters of a method. Without any, all have their defaults.
pub(crate) fn read<T: DeserializeOwned>(params: Value) -> Result<T, Failure> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| invalid("parameters", &error.to_string()))
}
