//! From arguments to a Context and its blueprint.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use foreword::{
    Context, ContextError, Line, Payload, RunnerKind, RuntimeContext, SpawnMode, Timestamp,
};
use foreword_gather::{Assembler, Gathered, Indexing, Request, Warning, index};
use foreword_host::{External, TurnRequest};
pub(crate) use foreword_serve::counter;
pub(crate) use foreword_serve::environment::{clock, user_request};
use foreword_serve::{modes, with_context};
use foreword_store::SessionId;
use foreword_workspace::WorkspaceError;

use crate::args::{SourceArgs, TurnArgs};
use crate::error::CliError;
use crate::hosting;
use crate::terminal::Terminal;
use crate::workspace_arg::below;

/// The limit for a file or standard input.
const MAX_BYTES: u64 = 64 << 20;

/// The limit for a message or an external text.
pub(crate) const MAX_MESSAGE_BYTES: u64 = 1 << 20;

/// Resolves the arguments of `build` and `explain`.
pub(crate) fn resolve(workspace: &Path, source: &SourceArgs) -> Result<Gathered, CliError> {
    resolve_with(&Assembler::new(workspace), source)
}

/// The same, for callers that resolve repeatedly.
pub(crate) fn resolve_with(
    assembler: &Assembler,
    source: &SourceArgs,
) -> Result<Gathered, CliError> {
    if let Some(runner) = source.session.runner {
        let mut turn = turn_request(source, runner)?;
        turn.cwd = turn.cwd.or_else(|| below(assembler.root()));
        return Ok(hosting::open(assembler.root())?.next_prompt(&turn)?);
    }
    let mut request = request(source)?;
    if let Some(path) = &source.context {
        return Ok(with_context(read_context(path)?, &request)?);
    }
    request.cwd = working_directory(assembler.root(), request.cwd);
    request.now = request.now.or_else(|| Some(clock()));
    if let Some(path) = &source.payload {
        let payload = Payload::parse(&read_input(path)?)
            .map_err(|error| CliError::usage(error.to_string()).in_file(&display_name(path)))?;
        apply_payload(&mut request, payload);
    }
    if let Some(id) = &source.session.id {
        let facts = hosting::open(assembler.root())?.session_facts(&SessionId::parse(id)?)?;
        (request.session, request.taint_ratio, request.canary) =
            (facts.session, facts.taint_ratio, facts.canary);
    }
    let mut gathered = assembler.assemble(&request)?;
    refresh_index(assembler.root(), &mut gathered);
    Ok(gathered)
}

/// Adds to the index what is new since it was made. Where it cannot be written, the warning stays.
fn refresh_index(workspace: &Path, gathered: &mut Gathered) {
    if gathered.warnings.iter().any(Warning::is_stale_index)
        && let Ok(request) = user_request()
        && index(workspace, &request, Indexing::Update, |_, _| {}).is_ok()
    {
        gathered.warnings.retain(|warning| !warning.is_stale_index());
    }
}

/// The agent's working directory: the given one, relative to the current directory or else to the
/// workspace; or the current directory, if it is inside the workspace.
fn working_directory(workspace: &Path, named: Option<PathBuf>) -> Option<PathBuf> {
    if let Some(named) = named {
        let absolute = std::path::absolute(&named).ok().filter(|path| path.is_dir());
        return Some(absolute.unwrap_or(named));
    }
    let root = workspace.canonicalize().ok()?;
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    here.starts_with(&root).then_some(here)
}

/// Prints the warnings of a build, and one for a workspace that was given as the task.
pub(crate) fn warn(
    workspace: &Path,
    source: &SourceArgs,
    gathered: &Gathered,
    terminal: &Terminal,
) {
    for warning in &gathered.warnings {
        terminal.warn(warning);
    }
    if let Some(task) = &source.task
        && source.context.is_none()
        && workspace == Path::new(".")
        && Path::new(task).is_dir()
    {
        terminal.warn(&format!(
            "`{task}` is a directory but is used as the task; pass a workspace with `-w {task}`"
        ));
    }
}

/// The arguments as a request to a workspace.
fn request(source: &SourceArgs) -> Result<Request, CliError> {
    let session = &source.session;
    let (mode, prompt_mode) = modes(source.mode.iter().copied())?;
    Ok(Request {
        agent: source.agent.clone(),
        blueprint: source.blueprint.clone(),
        task: source.task.clone(),
        mode,
        prompt_mode,
        hints: source.message.hints(),
        reply_gate: source.message.reply_gate(),
        user_id: session.user.clone(),
        model: session.model.clone(),
        channel: session.channel.clone(),
        profile: session.profile,
        sandbox_type: session.sandbox.clone(),
        taint_ratio: session.taint_ratio,
        taint_threshold: session.taint_threshold,
        history_tokens: session.history_tokens,
        reserved_tokens: session.reserved_tokens,
        context_window: session.context_window,
        output_reserve: session.output_reserve,
        max_prompt_tokens: session.max_prompt_tokens,
        canary: session.canary.clone(),
        runtime_context: session.sub_agent.then(|| runtime_context(source)),
        now: session.now.as_deref().map(parse_now).transpose()?,
        cwd: session.cwd.clone(),
        ..user_request()?
    })
}

/// The arguments as the turn that `foreword run` would start.
fn turn_request(source: &SourceArgs, runner: RunnerKind) -> Result<TurnRequest, CliError> {
    let session = &source.session;
    let sandbox = session.sandbox.as_deref().map(str::parse).transpose();
    let (mode, prompt_mode) = modes(source.mode.iter().copied())?;
    if prompt_mode.is_some() {
        return Err(CliError::usage("`--runner` cannot be combined with a prompt size")
            .hint("drop `--runner`, or pass `--mode` with plan, act, review or auto"));
    }
    Ok(TurnRequest {
        message: source.task.clone().unwrap_or_default(),
        external: external(&session.external, false)?,
        now: session.now.as_deref().map(parse_now).transpose()?,
        ..hosting::request(&TurnArgs {
            session: session.id.clone(),
            agent: source.agent.clone(),
            user: session.user.clone(),
            runner: Some(runner),
            model: session.model.clone(),
            mode,
            message: source.message.clone(),
            sandbox: sandbox
                .map_err(|error: foreword::UnknownName| CliError::usage(error.to_string()))?,
            cwd: session.cwd.clone(),
            trust: false,
        })?
    })
}

fn runtime_context(source: &SourceArgs) -> RuntimeContext {
    let line = |value: &Option<String>| value.as_deref().map(Line::new);
    RuntimeContext {
        mode: SpawnMode::SubAgent,
        parent_role: line(&source.session.parent_role),
        objective: line(&source.session.objective),
        task_id: line(&source.session.task_id),
    }
}

/// External texts with their sources.
pub(crate) fn external(given: &[String], stdin_taken: bool) -> Result<Vec<External>, CliError> {
    let mut stdin_taken = stdin_taken;
    given
        .iter()
        .map(|given| {
            let invalid = || {
                CliError::usage(format!("invalid value for `--external`: `{given}`"))
                    .hint("use SOURCE=FILE, for example `--external mail=inbox/1.txt`")
            };
            let (source, file) = given.split_once('=').ok_or_else(invalid)?;
            if source.trim().is_empty() || file.is_empty() {
                return Err(invalid());
            }
            let text = if file == "-" {
                if std::mem::replace(&mut stdin_taken, true) {
                    return Err(CliError::usage("standard input can be used only once"));
                }
                read_message()?
            } else {
                foreword_workspace::read_file(Path::new(file), MAX_MESSAGE_BYTES)?.text
            };
            Ok(External { source: source.to_owned(), text })
        })
        .collect()
}

/// A message from standard input. One that is too long is cut one byte after the limit.
pub(crate) fn read_message() -> Result<String, CliError> {
    let mut text = String::new();
    std::io::stdin()
        .take(MAX_MESSAGE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| CliError::usage(format!("cannot read standard input: {error}")))?;
    Ok(text)
}

fn apply_payload(request: &mut Request, payload: Payload) {
    request.task = Some(payload.message);
    request.history_tokens = request.history_tokens.or(Some(payload.history_tokens));
    request.taint_ratio = request.taint_ratio.or(Some(payload.taint_ratio));
    request.taint_threshold = request.taint_threshold.or(payload.taint_threshold);
    // Seed 000: a payload that says nothing blocks nothing.
    request.default_taint_threshold = Some(1.0);
    request.profile = request.profile.or(payload.profile);
    request.sandbox_type = request.sandbox_type.take().or(payload.sandbox_type);
}

fn parse_now(text: &str) -> Result<Timestamp, CliError> {
    Timestamp::parse(text).ok_or_else(|| {
        CliError::usage(format!("invalid time for `--now`: `{text}`"))
            .hint("use RFC 3339, for example 2026-02-26T14:30:00Z")
    })
}

/// Reads a Context from a file, or from standard input for `-`.
pub(crate) fn read_context(path: &Path) -> Result<Context, CliError> {
    parse_context(&read_input(path)?, path)
}

/// Parses a Context. An error names the line and column.
pub(crate) fn parse_context(text: &str, path: &Path) -> Result<Context, CliError> {
    Context::from_json(text).map_err(|error| {
        let place = match &error {
            ContextError::Json(json) if json.line() > 0 => {
                format!("{}:{}:{}", display_name(path), json.line(), json.column())
            }
            _ => display_name(path),
        };
        CliError::from(error).in_file(&place)
    })
}

/// Reads a file, or standard input for `-`, as text. A pipe is allowed: a shell turns `<(command)` into one.
pub(crate) fn read_input(path: &Path) -> Result<String, CliError> {
    if path.as_os_str() == "-" {
        return read_stream(std::io::stdin().lock(), "standard input");
    }
    match foreword_workspace::read_file(path, MAX_BYTES) {
        Ok(file) => Ok(file.text),
        Err(WorkspaceError::NotRegular { .. }) => {
            let name = display_name(path);
            let pipe = std::fs::File::open(path).map_err(|error| cannot_read(&name, &error))?;
            read_stream(pipe, &name)
        }
        Err(error) => Err(unreadable(path, error)),
    }
}

/// Reads a file, or standard input for `-`, as bytes.
pub(crate) fn read_bytes(path: &Path, max: u64) -> Result<Vec<u8>, CliError> {
    if path.as_os_str() == "-" {
        return read_some(std::io::stdin().lock(), "standard input", max);
    }
    let name = display_name(path);
    if path.is_dir() {
        return Err(CliError::usage(format!("{name} is a directory; expected a file")));
    }
    let file = std::fs::File::open(path).map_err(|error| cannot_read(&name, &error))?;
    read_some(file, &name, max)
}

fn read_some(stream: impl Read, name: &str, max: u64) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    stream.take(max + 1).read_to_end(&mut bytes).map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 > max {
        return Err(CliError::usage(format!(
            "{name} is larger than the limit of {} MiB",
            max >> 20
        )));
    }
    Ok(bytes)
}

fn read_stream(stream: impl Read, name: &str) -> Result<String, CliError> {
    String::from_utf8(read_some(stream, name, MAX_BYTES)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::usage(format!("{name} is not UTF-8: invalid byte at offset {at}"))
    })
}

fn cannot_read(name: &str, error: &std::io::Error) -> CliError {
    CliError::usage(format!("cannot read {name}: {error}"))
}

/// The error for an input, with hints for files outside a workspace.
fn unreadable(path: &Path, error: WorkspaceError) -> CliError {
    match &error {
        WorkspaceError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            CliError::usage(format!("{}: file not found", path.display()))
                .hint("check the path, or pass `-` for standard input")
        }
        WorkspaceError::IsDirectory { .. } => {
            CliError::usage(error.to_string()).hint("pass a file; `-w DIR` selects a workspace")
        }
        WorkspaceError::TooLarge { .. } => CliError::usage(error.to_string()),
        _ => error.into(),
    }
}

/// The name of an input in messages.
pub(crate) fn display_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}
