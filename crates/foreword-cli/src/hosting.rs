//! What `run`, `chat`, `approve` and `trust` share: the host in the user's environment, and the trust
//! question.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foreword::{Choice, nearest, visible_line};
use foreword_host::{Host, HostError, HostOptions, SkillCall, TurnRequest, named_skill};
use foreword_store::{Options, SessionId};
use foreword_workspace::{Review, Standing};

use crate::args::TurnArgs;
use crate::commands::session::named;
use crate::error::CliError;
use crate::program;
use crate::terminal::{Terminal, can_ask};
use crate::trust_question;
use crate::user_env;

/// The host of a workspace.
pub(crate) fn open(workspace: &Path) -> Result<Arc<Host>, CliError> {
    let options = HostOptions {
        root: workspace.to_owned(),
        config_dir: user_env::config_dir()?,
        models_dir: user_env::models_dir().ok(),
        embeddings: user_env::embeddings()?,
        person: user_env::act().by,
        environment: Box::new(|name| std::env::var(name).ok()),
        clock: user_env::now_ms,
        run_base: run_base(),
        program: program::executable()?,
        library: program::library(),
        home: std::env::home_dir().and_then(|home| home.canonicalize().ok()),
        store: Options::default(),
    };
    Ok(Host::open(options)?)
}

/// The directory for sockets. The path of a socket has to be short.
fn run_base() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let own = own.filter(|path| path.is_absolute() && path.is_dir() && path.as_os_str().len() < 60);
    match own {
        Some(own) => own.join("foreword"),
        None => PathBuf::from(format!("/tmp/foreword-{}", rustix::process::geteuid().as_raw())),
    }
}

/// The request for a turn, without its message.
pub(crate) fn request(choice: &TurnArgs) -> Result<TurnRequest, CliError> {
    Ok(TurnRequest {
        session: choice.session.as_deref().map(SessionId::parse).transpose()?,
        agent: choice.agent.clone(),
        user: choice.user.clone(),
        runner: choice.runner,
        model: choice.model.clone(),
        mode: choice.mode,
        hints: choice.message.hints(),
        reply_gate: choice.message.reply_gate(),
        sandbox: choice.sandbox,
        cwd: choice.cwd.clone(),
        ..TurnRequest::default()
    })
}

/// Continues only if the user trusts what an agent in `cwd` is told in its current state, and asks about the tools of MCP
/// servers that they have not reviewed. A server that they decline is off.
pub(crate) fn ensure_trusted(
    host: &Host,
    cwd: Option<&Path>,
    trust: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    ensure_workspace_trusted(host, cwd, trust, terminal)?;
    review_servers(host, false, trust, terminal).map(drop)
}

/// Continues only if the user trusts the workspace. Asks once, and again after a governed file changed. Without a
/// terminal, only `trust` lets it continue.
pub(crate) fn ensure_workspace_trusted(
    host: &Host,
    cwd: Option<&Path>,
    trust: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if trust || can_ask() {
        return review_trust(host, cwd, trust, terminal);
    }
    let (standing, now) = host.standing(cwd)?;
    let message = match &standing {
        Standing::Trusted => return Ok(()),
        Standing::Unknown => "workspace is not trusted yet",
        Standing::Changed(changes) if trust_question::is_only_new(changes) => {
            "workspace has files or settings that you have not trusted yet"
        }
        Standing::Changed(_) => "workspace changed since you trusted it",
    };
    show_standing(host, &standing, &now)?;
    Err(CliError::failed(message)
        .hint("run `foreword trust` to review it, or pass `--trust` to accept what is shown above"))
}

/// Asks about the tools of MCP servers: of those that were not reviewed, or of `all`. Without a terminal and without
/// `yes`, they stay off. Gives those whose tools cannot be used now.
pub(crate) fn review_servers(
    host: &Host,
    all: bool,
    yes: bool,
    terminal: &Terminal,
) -> Result<Vec<String>, CliError> {
    let mut off = Vec::new();
    if !yes && !can_ask() {
        return Ok(off);
    }
    for review in host.servers_to_review(all)? {
        let name = visible_line(&review.name);
        let list = match &review.offer {
            Ok(list) => list,
            Err(reason) => {
                // A turn warns about the servers that it does without.
                if all {
                    terminal.warn(&format!("MCP server `{name}` is off: {}", visible_line(reason)));
                }
                off.push(review.name);
                continue;
            }
        };
        if !(yes && terminal.quiet) {
            let text = trust_question::server(&review, list);
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
        if terminal.confirm(&format!("Let agents use the tools of `{name}`?"), yes)? {
            host.accept_tools(&review.name, list)?;
        } else {
            terminal.say(&format!("MCP server `{name}` stays off"));
            off.push(review.name);
        }
    }
    Ok(off)
}

/// Deletes sessions that the user's settings say are too old.
pub(crate) fn apply_retention(host: &Host, terminal: &Terminal) {
    match host.apply_retention() {
        Ok(removed) => {
            for removed in &removed {
                terminal.say(&format!("deleted session {} (host.retention)", named(removed)));
            }
        }
        Err(error) => terminal.warn(&format!("cannot delete old sessions: {error}")),
    }
}

/// Shows what trusting the workspace gives away to an agent that works in `cwd`, and trusts it if the
/// user agrees.
pub(crate) fn review_trust(
    host: &Host,
    cwd: Option<&Path>,
    yes: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let (standing, now) = host.standing(cwd)?;
    let question = match &standing {
        Standing::Trusted => return Ok(()),
        Standing::Unknown => "Trust this workspace?",
        Standing::Changed(changes) if trust_question::is_only_new(changes) => "Trust them?",
        Standing::Changed(_) => "Trust these changes?",
    };
    if !(yes && terminal.quiet) {
        show_standing(host, &standing, &now)?;
    }
    if !terminal.confirm(question, yes)? {
        return Err(CliError::failed("workspace is not trusted"));
    }
    Ok(host.trust(&now)?)
}

fn show_standing(host: &Host, standing: &Standing, now: &Review) -> Result<(), CliError> {
    let text = match standing {
        Standing::Trusted => return Ok(()),
        Standing::Unknown => trust_question::first_time(&host.disclosure(now)?),
        Standing::Changed(changes) => {
            trust_question::changes(changes, &host.changed_skills(changes)?)
        }
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

/// Asks before a turn runs in a weaker sandbox than the last one did. Without a terminal, the host
/// refuses it.
pub(crate) fn ensure_sandbox(
    host: &Host,
    request: &mut TurnRequest,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let Some(weaker) = host.weaker_sandbox(request)? else { return Ok(()) };
    if !can_ask() {
        return Err(HostError::WeakerSandbox(weaker).into());
    }
    let now = weaker.now;
    let question = format!(
        "The last turn ran in {}. The strongest sandbox available now is {}: {}.\nUse it?",
        visible_line(&weaker.before),
        now.as_str(),
        visible_line(&weaker.lost.join(", ")),
    );
    if !terminal.confirm(&question, false)? {
        return Err(HostError::WeakerSandbox(weaker).into());
    }
    request.sandbox = Some(Choice::Fixed(now));
    Ok(())
}

/// Fails if a message asks for a skill that does not exist. What begins with a path of this machine is a message.
pub(crate) fn check_skill_name(
    host: &Host,
    message: &str,
    found: Option<&SkillCall>,
) -> Result<(), CliError> {
    let Some((name, _)) = named_skill(message).filter(|_| found.is_none()) else { return Ok(()) };
    let is_word = name.starts_with(char::is_alphabetic);
    if !is_word || Path::new("/").join(name).exists() {
        return Ok(());
    }
    let offered = host.skills_for_people()?;
    let near = nearest(name, offered.iter().map(|skill| skill.name.as_str()));
    let mut error = CliError::usage(format!("there is no skill `{name}` to ask for"));
    if let Some(near) = near {
        error = error.hint(format!("did you mean `/{near}`?"));
    }
    Err(error
        .hint("run `foreword skill list` to list the skills")
        .hint("start the message with a space to send it as it is"))
}
