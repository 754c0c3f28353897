//! The actions an agent may call.
//!
//! Every call goes through [`perform`]. Which checks apply and who writes the audit entry follows from
//! the action's row in the table of `foreword-protocol`:
//!
//! 1. [`check_caller`] refuses a tool that the agent does not have, and arguments that contain the
//!    session's canary token.
//! 2. [`tools::check_call`] refuses arguments that are not those of a server's tool.
//! 3. [`check_permission`] refuses what the permission rules deny, and asks the person where they say so.
//! 4. [`check_taint`] refuses a sensitive action in a tainted session. It stores the refused call under
//!    an ID, with which a person can approve it.
//! 5. [`apply`] passes the call to the module that implements it.
//! 6. [`record`] writes the audit entry, unless the action succeeded and wrote its own with [`change`].
//!
//! A refusal by one of the checks is the host's own text, and is remembered as such: a runner hands it to the
//! model as the result of the tool, and it is not external content.

mod content;
mod identity;
mod memory;
mod model;
mod schedule;
mod session;
mod skills;
mod spawn;
mod tasks;
mod tools;
mod web;

use foreword_protocol::{Action, AuditEntry, Caller, Effect, ErrorCode, Failure, Sensitivity};
use foreword_store::{GrantId, Outcome, StoreError};
use serde_json::{Value, json};

use crate::error::HostError;
use crate::model::proxy::Sink;
use crate::turn::active_session::ActiveSession;

/// Longest description of an action that a person is asked to approve.
const MAX_SUMMARY_BYTES: usize = 1900;

/// Checks, applies and records an action of the session's agent.
pub(crate) fn perform(
    active: &ActiveSession,
    action: Action,
    sink: Sink<'_>,
) -> Result<Value, Failure> {
    let info = action.info();
    let checked = check_caller(active, &action)
        .and_then(|()| tools::check_call(active, &action))
        .and_then(|()| check_permission(active, &action))
        .and_then(|()| match info.sensitivity {
            Sensitivity::Ordinary => Ok(Review::None),
            Sensitivity::TaintGated => check_taint(active, &action),
        });
    if let Err(refusal) = &checked {
        active.own_words.remember(&refusal.message);
        if let Some(tool) = called_tool(&action) {
            active.note_refused(tool, &refusal.message);
        }
    }
    let result = checked.and_then(|review| apply(active, action, review, sink));
    // An action that writes its own entry does so only when it succeeds.
    if result.is_err() || info.audit == AuditEntry::AfterAction {
        record(active, info.name, &result);
    }
    result
}

/// The tool that an action calls for the model.
fn called_tool(action: &Action) -> Option<&str> {
    match action {
        Action::ToolCall(call) | Action::ToolInvoke(call) | Action::ToolPermit(call) => {
            Some(&call.name)
        }
        action => action.info().is_tool().then(|| action.name()),
    }
}

/// What a person has seen of a call before it is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Review {
    None,
    /// A person approved exactly this call, arguments included.
    Approved,
}

fn apply(
    active: &ActiveSession,
    action: Action,
    review: Review,
    sink: Sink<'_>,
) -> Result<Value, Failure> {
    match action {
        Action::SkillList(_) => skills::list(active),
        Action::SkillRead(args) => skills::read(active, &args),
        Action::SkillPropose(args) => skills::propose(active, args, review),
        Action::IdentityPropose(args) => identity::propose(active, args),
        Action::MemorySearch(args) => memory::search(active, &args),
        Action::MemoryWrite(args) => memory::write(active, args),
        Action::AuditReport(args) => session::report(active, &args),
        Action::ContentAdd(args) => content::add(active, &args),
        Action::WebFetch(args) => web::fetch(active, &args),
        Action::SpawnAgent(args) => spawn::agent(active, args),
        Action::ChainRun(args) => spawn::chain(active, args),
        Action::TaskCreate(args) => tasks::create(active, args),
        Action::TaskList(args) => tasks::list(active, &args),
        Action::TaskUpdate(args) => tasks::update(active, args),
        Action::TodoRead(_) => tasks::read_todos(active),
        Action::TodoWrite(args) => tasks::write_todos(active, args),
        Action::ScheduleAdd(args) => schedule::add(active, args),
        Action::ScheduleList(_) => schedule::list(active),
        Action::ScheduleRemove(args) => schedule::remove(active, args),
        Action::ToolDescribe(args) => session::describe(active, &args),
        Action::SessionStatus(_) => session::status(active),
        Action::ResultRead(args) => session::read_result(active, &args),
        Action::ToolSearch(args) => tools::search(active, &args),
        Action::ToolCall(args) => tools::call(active, args, sink),
        Action::ToolList(_) => tools::list(active),
        Action::ToolInvoke(args) => tools::invoke(active, args),
        // The check before this was the whole of it.
        Action::ToolPermit(_) => Ok(Value::Null),
        Action::ToolResult(args) => content::judge_result(active, &args),
        Action::ModelCall(args) => model::call(active, &args, sink),
    }
}

/// Refuses a tool that the agent does not have, and arguments that leak the canary token.
fn check_caller(active: &ActiveSession, action: &Action) -> Result<(), Failure> {
    let info = action.info();
    let name = info.name;
    let has_tool = || active.prompt.tools.specs.iter().any(|tool| tool.name == name);
    if info.caller == Caller::AgentWithTool && !has_tool() {
        return Err(Failure::new(
            ErrorCode::Refused,
            format!("this agent does not have the tool `{name}`"),
        ));
    }
    if info.needs_skills() && !active.prompt.allow_skills {
        return Err(Failure::new(
            ErrorCode::Refused,
            format!("`{name}` is off: this agent may not use skills (allow_skills)"),
        ));
    }
    // A tool of a server is called for the model, by whichever way.
    let is_called = info.is_tool() || matches!(action, Action::ToolInvoke(_));
    if info.effect == Effect::Changes && is_called {
        let args = action.args().map_err(|error| internal(&error))?;
        if let Some(leak) = active.canary.detector.find_in_json(args.get()) {
            active.report_leak(name, &leak.to_string());
            return Err(Failure::new(
                ErrorCode::Refused,
                "the session's canary token must not be repeated in any form",
            ));
        }
    }
    Ok(())
}

/// Refuses a tool that the permission rules deny, or that they ask about and the person does not allow.
fn check_permission(active: &ActiveSession, action: &Action) -> Result<(), Failure> {
    match action {
        // The tool behind it is checked by its own name.
        Action::ToolCall(args) if !active.prompt.tools.servers.contains_key(&args.name) => Ok(()),
        Action::ToolCall(args) | Action::ToolInvoke(args) | Action::ToolPermit(args) => {
            let arguments = Value::Object(args.arguments.clone());
            active.check_permission(&args.name, &arguments)
        }
        action if !action.info().is_tool() => Ok(()),
        action => {
            let args = action.args().map_err(|error| internal(&error))?;
            let args = serde_json::from_str(args.get()).unwrap_or_default();
            active.check_permission(action.name(), &args)
        }
    }
}

/// Allows a sensitive action if the session is clean enough or a person approved this call.
fn check_taint(active: &ActiveSession, action: &Action) -> Result<Review, Failure> {
    let name = action.name();
    let Err(refusal) = active.taint_gate().check(name, active.taint()?) else {
        return Ok(Review::None);
    };
    let now = active.host.now();
    let session = active.identity.session.clone();
    // An approval by ID covers only the arguments that the person saw.
    let args = action.args().map_err(|error| internal(&error))?;
    let digest = *blake3::hash(args.get().as_bytes()).as_bytes();
    let actor = active.actor();
    let used = active.host.writer.write(now, move |write| -> Result<_, StoreError> {
        write.grant_use(&session, name, &digest, &actor, now)
    });
    let used = used.map_err(HostError::from)?;
    active.host.report_unsealed("grant", used.passed_over.iter().map(GrantId::as_str));
    if let Some(grant) = used.grant {
        let is_exact = grant.refusal.is_some();
        return Ok(if is_exact { Review::Approved } else { Review::None });
    }
    let summary = summary(action);
    let (session, reason) = (active.identity.session.clone(), refusal.reason.to_string());
    let args = args.get().to_owned();
    let id = active.host.writer.write(now, move |write| -> Result<_, StoreError> {
        let id = write.refusal_add(&session, name, &digest, &summary, &reason, now)?;
        write.refusal_keep_args(&id, &args)?;
        Ok(id)
    });
    let id = id.map_err(HostError::from)?;
    Err(Failure::new(ErrorCode::Tainted, format!("{refusal}: `foreword approve {id}`")))
}

/// Describes an action to the person who is asked to approve it.
fn summary(action: &Action) -> String {
    let text = match action {
        Action::SkillPropose(args) => {
            let files = args.files.iter().map(|(path, text)| format!("\n`{path}`: {text}"));
            format!("skill `{}`: {}{}", args.skill, args.content, files.collect::<String>())
        }
        Action::IdentityPropose(args) => format!("file `{}`: {}", args.file, args.content),
        Action::MemoryWrite(args) => args.text.clone(),
        Action::SpawnAgent(args) => format!("{}: {}", args.role, args.prompt),
        Action::ChainRun(args) => {
            let stages = args.stages.iter();
            stages
                .map(|stage| format!("{}: {}", stage.role, stage.prompt))
                .collect::<Vec<_>>()
                .join("; ")
        }
        Action::ScheduleAdd(args) => {
            let when = args.cron.as_deref().or(args.at.as_deref()).unwrap_or_default();
            format!("{when}: {}", args.prompt)
        }
        Action::ScheduleRemove(args) => format!("schedule `{}`", args.id),
        other => other.name().to_owned(),
    };
    let shown = text.floor_char_boundary(MAX_SUMMARY_BYTES);
    match text.split_at_checked(shown) {
        Some((_, "")) | None => text,
        Some((shown, rest)) => format!("{shown} … and {} more bytes", rest.len()),
    }
}

/// Queues the audit entry of an action, without waiting for the disk.
fn record(active: &ActiveSession, name: &str, result: &Result<Value, Failure>) {
    let outcome = match result {
        Ok(_) => Outcome::Done,
        Err(failure) => match failure.code {
            ErrorCode::Tainted | ErrorCode::Refused | ErrorCode::RateLimited => Outcome::Refused,
            _ => Outcome::Failed,
        },
    };
    let action = format!("ipc.{name}");
    let event = match result {
        Ok(_) => active.event(&action, outcome),
        Err(failure) => active
            .event_with_text(&action, outcome, json!({ "reason": failure.message }))
            .with_detail(json!({ "code": failure.code.as_str() })),
    };
    active.host.record(event);
}

/// Changes the database and writes the audit entry, with the detail that `change` gives, in the same
/// transaction.
fn change<T: Send + 'static>(
    active: &ActiveSession,
    name: &str,
    change: impl FnOnce(&mut foreword_store::Transaction<'_>, i64) -> Result<(T, Value), StoreError>
    + Send
    + 'static,
) -> Result<T, Failure> {
    let now = active.host.now();
    let event = active.event(&format!("ipc.{name}"), Outcome::Done);
    let written = active.host.writer.write(now, move |write| -> Result<T, StoreError> {
        let (value, detail) = change(write, now)?;
        write.audit(&event.with_detail(detail))?;
        Ok(value)
    });
    Ok(written.map_err(HostError::from)?)
}

pub(super) fn internal(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::Internal, error.to_string())
}

pub(super) fn to_json(value: impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value).map_err(|error| internal(&error))
}
