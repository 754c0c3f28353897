//! Agents that an agent starts: one, or several in a row.

use std::path::Path;

use foreword::{Line, RuntimeContext, estimate};
use foreword_guard::{Provenance, Trust, external_content};
use foreword_protocol::{ChainRun, ErrorCode, Failure, RuntimeContextArgs, SpawnAgent, Stage};
use foreword_store::SessionId;
use foreword_workspace::Agent;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::turn::active_session::ActiveSession;
use crate::turn::report::TurnReport;
use crate::turn::request::{Origin, TurnRequest};

const MAX_STAGES: usize = 16;

pub(super) fn agent(active: &ActiveSession, args: SpawnAgent) -> Result<Value, Failure> {
    let stage = Stage {
        role: args.role,
        prompt: args.prompt,
        cwd: args.cwd,
        model: args.model,
        runtime_context: args.runtime_context,
    };
    let (report, answer) = start(active, stage, None)?;
    Ok(json!({
        "session": report.session, "answer": answer, "state": report.state,
        "taintRatio": report.taint_ratio, "usage": report.usage,
    }))
}

pub(super) fn chain(active: &ActiveSession, args: ChainRun) -> Result<Value, Failure> {
    if args.stages.is_empty() || args.stages.len() > MAX_STAGES {
        let message = format!("a chain has 1 to {MAX_STAGES} stages");
        return Err(Failure::new(ErrorCode::BadRequest, message));
    }
    // All stages are checked before the first one starts.
    for (before, stage) in args.stages.iter().enumerate() {
        check(active, stage).map_err(|failure| {
            let message = format!("stage {}: {}", before + 1, failure.message);
            Failure::new(failure.code, message)
        })?;
    }
    let mut done: Vec<Value> = Vec::new();
    let mut last = None;
    for stage in args.stages {
        let role = stage.role.clone();
        match start(active, stage, last.as_deref()) {
            Ok((report, answer)) => {
                done.push(json!({ "role": role, "session": report.session, "answer": answer }));
                last = Some(answer);
            }
            Err(failure) if done.is_empty() => return Err(failure),
            // Keeps the results of the stages before.
            Err(failure) => {
                let number = done.len() + 1;
                let failed = json!({ "stage": number, "role": role, "reason": failure.message });
                return Ok(json!({ "stages": done, "answer": null, "failed": failed }));
            }
        }
    }
    Ok(json!({ "stages": done, "answer": last }))
}

/// Checks that a stage can start; gives its agent.
fn check(active: &ActiveSession, stage: &Stage) -> Result<Agent, Failure> {
    if stage.prompt.trim().is_empty() {
        return Err(Failure::new(ErrorCode::BadRequest, "`prompt` must not be empty"));
    }
    active.host.directory(Some(Path::new(&stage.cwd)))?;
    Ok(active.host.workspace()?.agent(&stage.role).map_err(HostError::from)?)
}

/// Runs one agent to the end of its turn. If its session is tainted, so is its answer.
fn start(
    active: &ActiveSession,
    stage: Stage,
    before: Option<&str>,
) -> Result<(TurnReport, String), Failure> {
    let agent = check(active, &stage)?;
    // Without a model of its own, it works with the one it was started by.
    let parent = active.model.as_ref().filter(|_| agent.model.is_none());
    let model = stage.model.or_else(|| parent.map(|parent| parent.policy.model.clone()));
    let depth = active.tree.start(active.identity.depth)?;
    let tainted = active.is_tainted()?;
    let mut given = stage.runtime_context;
    let mut message = stage.prompt;
    if tainted && let Some(given) = &mut given {
        // Part of the fenced message, rather than of the system prompt.
        for (name, text) in [("Objective", given.objective.take()), ("Task", given.task_id.take())]
        {
            if let Some(text) = text {
                message = format!("{message}\n\n{name}: {text}");
            }
        }
        given.parent_role = None;
    }
    if let Some(before) = before {
        let fenced = external_content("previous stage", Trust::Tool, before);
        message = format!("{message}\n\n{fenced}");
    }
    let origin = Origin::Agent { parent: active.identity.session.clone(), tainted };
    let session = SessionId::random().map_err(HostError::from)?;
    let request = TurnRequest {
        message,
        session: Some(session.clone()),
        agent: Some(stage.role.clone()),
        user: active.identity.user.clone(),
        model,
        cwd: Some(stage.cwd.into()),
        runtime_context: given.map(|given| runtime_context(given, active)),
        origin,
        depth,
        tree: Some(active.tree.clone()),
        ..TurnRequest::default()
    };
    let report = match active.host.turn(&request, &mut ()) {
        // Only the end of this agent's own turn ends one that it started.
        Ok(report) if report.is_interrupted() => return Err(HostError::Cancelled.into()),
        Ok(report) => report,
        Err(error) => {
            let totals = active.host.totals(&session)?;
            let Failure { code, message, .. } = error.into();
            let reason = reason(active, &stage.role, &message, totals.is_tainted())?;
            return Err(Failure::new(code, format!("the agent `{}` failed: {reason}", stage.role)));
        }
    };
    if let Some(held) = &report.held {
        // The reason may quote the answer.
        let reason = reason(active, &stage.role, held, true)?;
        let message = format!("the answer of `{}` was held back: {reason}", stage.role);
        return Err(Failure::new(ErrorCode::Refused, message));
    }
    let tainted = report.taint_ratio > 0.0;
    let answer = if tainted {
        external_content(&format!("agent {}", stage.role), Trust::External, &report.answer)
    } else {
        report.answer.clone()
    };
    let tokens = u64::from(estimate(&answer));
    let source = format!("agent {}", stage.role);
    active.add_content(Provenance::ToolResult, &source, tokens, tainted)?;
    Ok((report, answer))
}

/// Why an agent failed, for its parent. Fenced if it may quote external content.
fn reason(
    active: &ActiveSession,
    role: &str,
    reason: &str,
    external: bool,
) -> Result<String, Failure> {
    let source = format!("agent {role}");
    let reason = if external {
        external_content(&source, Trust::External, reason)
    } else {
        reason.to_owned()
    };
    active.add_content(Provenance::ToolResult, &source, u64::from(estimate(&reason)), external)?;
    Ok(reason)
}

fn runtime_context(given: RuntimeContextArgs, active: &ActiveSession) -> RuntimeContext {
    RuntimeContext {
        mode: given.mode,
        parent_role: given.parent_role.or_else(|| active.identity.agent.clone()).map(Line::new),
        objective: given.objective.map(Line::new),
        task_id: given.task_id.map(Line::new),
    }
}
