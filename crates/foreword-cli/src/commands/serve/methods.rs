//! What each method does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use foreword::{Difference, Side, diff};
use foreword_gather::{Assembler, Gathered};
use foreword_guard::Scanner;
use foreword_skills::{Screeners, SkillStore as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::params::{MemoryAdd, MemorySearch, Named, Place, Screen, Sides, Source, Text};
use crate::commands::memory::{self, MemoryAddArgs, MemorySearchArgs, ScopeArgs};
use crate::commands::{build, explain, lint, scan, skill};
use crate::error::CliError;
use crate::inputs;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

const METHODS: [&str; 11] = [
    "build",
    "explain",
    "diff",
    "lint",
    "scan",
    "screen",
    "skills",
    "skill_read",
    "memory_search",
    "memory_add",
    "ping",
];

/// Answers requests, and keeps between them what is expensive to make.
pub(super) struct Server {
    workspace: WorkspaceArg,
    assemblers: Assemblers,
    scanner: Option<Scanner>,
    /// Says nothing: the answer is all that a client reads.
    terminal: Terminal,
}

impl Server {
    pub(super) fn new(workspace: WorkspaceArg) -> Self {
        Self {
            workspace,
            assemblers: Assemblers::default(),
            scanner: None,
            terminal: Terminal { json: true, quiet: true },
        }
    }

    pub(super) fn handle(&mut self, method: &str, params: Value) -> Result<Value, CliError> {
        match method {
            "ping" => Ok(json!({"version": env!("CARGO_PKG_VERSION")})),
            "build" => self.build(read(params)?),
            "explain" => self.explain(read(params)?),
            "diff" => Ok(serde_json::to_value(self.diff(read(params)?)?)?),
            "lint" => {
                let source: Source = read(params)?;
                let root = self.root(source.workspace)?;
                let (agent, blueprint) = (source.agent.as_deref(), source.blueprint.as_deref());
                Ok(serde_json::to_value(lint::findings(&root, agent, blueprint)?)?)
            }
            "scan" => {
                let Text { text } = read(params)?;
                let scanner = match self.scanner.take() {
                    Some(scanner) => scanner,
                    None => scan::scanner()?,
                };
                let scan = self.scanner.insert(scanner).scan(&text);
                Ok(serde_json::to_value(scan)?)
            }
            "screen" => Ok(serde_json::to_value(screen(read(params)?))?),
            "skills" => {
                let Place { workspace } = read(params)?;
                let store = skill::store(&self.root(workspace)?)?;
                Ok(json!(skill::list::entries(&store)?))
            }
            "skill_read" => {
                let Named { workspace, name } = read(params)?;
                Ok(serde_json::to_value(skill::store(&self.root(workspace)?)?.read(&name)?)?)
            }
            "memory_search" => {
                let asked: MemorySearch = read(params)?;
                let root = self.root(asked.workspace)?;
                let scope =
                    ScopeArgs { agent: asked.agent, user: asked.user, session: asked.session };
                let args = MemorySearchArgs {
                    query: asked.query,
                    limit: asked.limit,
                    kind: asked.kind,
                    all: asked.all,
                    min_score: asked.min_score,
                    scope,
                };
                memory::search(&root, &args, &self.terminal)
            }
            "memory_add" => {
                let new: MemoryAdd = read(params)?;
                let root = self.root(new.workspace)?;
                let scope = ScopeArgs { agent: new.agent, user: new.user, session: new.session };
                let args = MemoryAddArgs {
                    text: new.text,
                    kind: new.kind,
                    scope,
                    tainted: new.tainted,
                    source: new.source,
                    date: new.date,
                    importance: new.importance,
                };
                memory::add(&root, &args, &self.terminal)
            }
            other => {
                let error = CliError::usage(format!("unknown method `{other}`"));
                Err(match foreword::nearest(other, METHODS) {
                    Some(near) => error.hint(format!("did you mean `{near}`?")),
                    None => error.hint(format!("methods: {}", METHODS.join(", "))),
                })
            }
        }
    }

    fn build(&mut self, source: Source) -> Result<Value, CliError> {
        let (format, tokenizer) = (source.format, source.tokenizer);
        let gathered = self.gather(source)?;
        let counter = inputs::counter(tokenizer)?;
        let (prompt, build_time_ms) = build::compile(&gathered, counter.as_deref());
        if format != build::Format::Text {
            // Nothing may stand beside the fields that the provider knows.
            return Ok(format.body(&prompt, gathered.context.task.inspect()));
        }
        let manifest = serde_json::to_value(build::manifest(&prompt, build_time_ms))?;
        Ok(with_warnings(manifest, &gathered))
    }

    fn explain(&mut self, source: Source) -> Result<Value, CliError> {
        let (at, tokenizer) = (source.at, source.tokenizer);
        let gathered = self.gather(source)?;
        let counter = inputs::counter(tokenizer)?;
        let (prompt, build_time_ms) = build::compile(&gathered, counter.as_deref());
        if let Some(at) = at {
            return Ok(explain::byte(&prompt, at)?.0);
        }
        let manifest = build::manifest(&prompt, build_time_ms);
        Ok(with_warnings(explain::without_text(&manifest)?, &gathered))
    }

    fn diff(&mut self, sides: Sides) -> Result<Difference, CliError> {
        Ok(diff(&self.side(sides.a)?, &self.side(sides.b)?))
    }

    fn side(&mut self, given: Value) -> Result<Side, CliError> {
        if given.get("sections").is_some() {
            return Side::from_saved(&given.to_string())
                .map_err(|error| CliError::usage(error.to_string()));
        }
        let source: Source = read(given)?;
        let tokenizer = source.tokenizer;
        let gathered = self.gather(source)?;
        let counter = inputs::counter(tokenizer)?;
        Ok(Side::of(&build::compile(&gathered, counter.as_deref()).0))
    }

    fn gather(&mut self, source: Source) -> Result<Gathered, CliError> {
        let workspace = source.workspace.clone();
        let (mut request, context) = source.request()?;
        if let Some(context) = context {
            return inputs::with_context(context, &request);
        }
        request.now = request.now.or_else(|| Some(inputs::clock()));
        let root = self.root(workspace)?;
        Ok(self.assemblers.of(&root).assemble(&request)?)
    }

    /// The workspace that a request names, or that of the server.
    fn root(&self, named: Option<PathBuf>) -> Result<PathBuf, CliError> {
        named.map_or_else(|| self.workspace.find(), Ok)
    }
}

/// The parameters of a method. Without any, all have their defaults.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, CliError> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params)
        .map_err(|error| CliError::usage(format!("invalid parameters: {error}")))
}

fn with_warnings(mut result: Value, gathered: &Gathered) -> Value {
    if let (Some(fields), false) = (result.as_object_mut(), gathered.warnings.is_empty()) {
        fields.insert("warnings".to_owned(), json!(gathered.warnings));
    }
    result
}

fn screen(Screen { text, files, name, policy }: Screen) -> foreword_guard::Screening {
    let mut files: BTreeMap<String, Vec<u8>> =
        files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
    files.insert("SKILL.md".to_owned(), text.into_bytes());
    Screeners::default().screen_skill(policy.into(), &files, name.as_deref())
}

/// An assembler for each recently used workspace, so that unchanged files are read once.
#[derive(Default)]
struct Assemblers(Vec<Assembler>);

impl Assemblers {
    const MAX: usize = 16;

    fn of(&mut self, root: &Path) -> &Assembler {
        let known = self.0.iter().position(|assembler| assembler.root() == root);
        let assembler = match known {
            Some(place) => self.0.remove(place),
            None => Assembler::new(root),
        };
        if self.0.len() >= Self::MAX {
            self.0.remove(0);
        }
        self.0.push_mut(assembler)
    }
}
