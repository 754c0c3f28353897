//! What `run`, `chat` and `approve` share: the host as this person's environment has it, and the
//! question of trust.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foreword::{visible, visible_line};
use foreword_host::{Host, HostError, HostOptions, Standing, TrustChange, TurnRequest};
use foreword_skills::unified;
use foreword_store::{Options, SessionId};
use foreword_workspace::GovernedContents;

use crate::args::SessionChoice;
use crate::error::CliError;
use crate::person;
use crate::terminal::{Terminal, dim_err, plain_line};

/// The host of a workspace.
pub(crate) fn open(workspace: &Path) -> Result<Arc<Host>, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::internal(format!("cannot find this program: {error}")))?;
    let options = HostOptions {
        root: workspace.to_owned(),
        config_dir: person::config_dir()?,
        models_dir: person::models_dir().ok(),
        embeddings: person::embeddings(),
        person: person::act().by,
        environment: Box::new(|name| std::env::var(name).ok()),
        clock: person::now_ms,
        run_base: run_base(),
        program,
        home: std::env::home_dir().and_then(|home| home.canonicalize().ok()),
        store: Options::default(),
    };
    Ok(Host::open(options)?)
}

/// Where sockets are made. Their paths have to be short.
fn run_base() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|path| path.is_absolute() && path.is_dir() && path.as_os_str().len() < 60);
    match own {
        Some(own) => own.join("foreword"),
        None => PathBuf::from(format!("/tmp/foreword-{}", rustix::process::geteuid().as_raw())),
    }
}

/// What a turn is asked for, but its message.
pub(crate) fn request(choice: &SessionChoice) -> Result<TurnRequest, CliError> {
    Ok(TurnRequest {
        session: choice.session.as_deref().map(SessionId::parse).transpose()?,
        agent: choice.agent.clone(),
        user: choice.user.clone(),
        runner: choice.runner,
        model: choice.model.clone(),
        sandbox: choice.sandbox,
        cwd: choice.cwd.clone(),
        ..TurnRequest::default()
    })
}

/// Goes on only with a workspace the person trusts as it is: asks once, and again when a governed file
/// has changed.
pub(crate) fn ensure_trusted(
    host: &Host,
    trust: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let (standing, now) = host.standing()?;
    let (shown, question) = match &standing {
        Standing::Trusted => return Ok(()),
        Standing::Unknown => (first_look(host, &now), "Let agents work here with these files?"),
        Standing::Changed(changes) => (difference(changes), "Let agents work with these changes?"),
    };
    if !(trust && terminal.quiet) {
        let mut err = std::io::stderr().lock();
        let _ = std::io::Write::write_all(&mut err, visible(&shown).as_bytes());
    }
    if !trust {
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            let what = match standing {
                Standing::Unknown => "this workspace was not asked about before",
                _ => "governed files of this workspace have changed",
            };
            return Err(CliError::not_right(what)
                .hint("look at what is shown above; `--trust` goes on with it and remembers it"));
        }
        if !terminal.confirm(question)? {
            return Err(CliError::not_right("the workspace is not trusted; nothing was run"));
        }
    }
    Ok(host.trust(&now)?)
}

fn first_look(host: &Host, now: &GovernedContents) -> String {
    let root = visible_line(&host.root().display().to_string());
    let mut out = format!("{root} was not asked about before.\n");
    if now.files.is_empty() {
        out.push_str("There are no files in it that would speak to the model with authority.\n");
    } else {
        out.push_str("These files would speak to the model with authority:\n");
    }
    // All of them: what is not named was not agreed to.
    for (path, file) in &now.files {
        let _ = writeln!(out, "  {} ({})", visible_line(path), file.group.as_str());
    }
    for line in host.reaches() {
        let _ = writeln!(out, "{}", visible_line(&line));
    }
    out
}

fn difference(changes: &[TrustChange]) -> String {
    let mut out = String::from("Governed files have changed since you trusted this workspace:\n");
    for change in changes {
        let text = |file: &Option<foreword_workspace::GovernedFile>| {
            file.as_ref().and_then(|file| file.text.clone())
        };
        let (old, new) = (text(&change.old), text(&change.new));
        if (change.old.is_some() && old.is_none()) || (change.new.is_some() && new.is_none()) {
            let _ = writeln!(out, "{} is too large to be shown", visible_line(&change.path));
            continue;
        }
        out.push_str(&unified(
            &change.path,
            old.as_deref().map(str::as_bytes),
            new.as_deref().map(str::as_bytes),
        ));
    }
    out
}

/// A line about something a tool does, dim and short.
pub(crate) fn tool_line(name: &str, input: &serde_json::Value) -> String {
    let line = format!("→ {} {}", plain_line(name, 80), plain_line(&input.to_string(), 120));
    dim_err(&line)
}

impl From<HostError> for CliError {
    fn from(error: HostError) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        let out = match error {
            HostError::Blocked { .. }
            | HostError::Cancelled
            | HostError::Busy { .. }
            | HostError::SessionChanged { .. }
            | HostError::NotTrusted
            | HostError::TrustedFilesChanged { .. }
            | HostError::AgentRunning
            | HostError::ProposalOutdated { .. }
            | HostError::TargetIsLink { .. }
            | HostError::TooDeep { .. }
            | HostError::TooManyAgents { .. }
            | HostError::MessageTooLong { .. }
            | HostError::SessionMissing { .. }
            | HostError::Agent { .. } => Self::not_right(message),
            HostError::Io { .. } => Self::internal(message),
            HostError::Skill(error) => return error.into(),
            HostError::Store(error) => return error.into(),
            _ => Self::usage(message),
        };
        match hint {
            Some(hint) => out.hint(hint),
            None => out,
        }
    }
}
