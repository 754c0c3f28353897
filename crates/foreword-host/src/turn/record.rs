//! The database side of a turn: its session, its start, its end. Each is one transaction.

use foreword::{Context, estimate};
use foreword_guard::Provenance;
use foreword_protocol::Message;
use foreword_store::{
    Content, Event, FinishedTurn, NewSession, Outcome, Session, SessionId, StoreError, TurnEnd,
    TurnNumber, TurnRange, TurnUsage,
};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;
use crate::random::new_canary;
use crate::turn::active_session::ActiveSession;
use crate::turn::agent_output::AgentOutcome;
use crate::turn::prepare::PreparedTurn;
use crate::turn::process_identity;
use crate::turn::request::{Origin, TurnRequest};
use crate::turn::sandbox::UsedSandbox;
use crate::turn::scan::FencedText;

/// What the model reads in the history in place of an answer that was held back.
const HELD_ANSWER: &str = "[this answer was held back]";

impl Host {
    /// Creates the session of a first turn.
    pub(crate) fn new_session(
        &self,
        request: &TurnRequest,
        prepared: &PreparedTurn,
        canary: &str,
    ) -> Result<Session, HostError> {
        let id = match &request.session {
            Some(id) => id.clone(),
            None => SessionId::random()?,
        };
        let parent = match &request.origin {
            Origin::Agent { parent, .. } => Some(parent.clone()),
            _ => None,
        };
        self.create_session(NewSession {
            id,
            agent: prepared.turn.agent.clone(),
            user: prepared.turn.user.clone(),
            runner: prepared.turn.runner.as_str().to_owned(),
            canary: canary.to_owned(),
            parent,
            depth: request.depth,
            channel: prepared.turn.context.channel.inspect().to_owned(),
        })
    }

    pub(crate) fn create_session(&self, new: NewSession) -> Result<Session, HostError> {
        let (now, id) = (self.now(), new.id.clone());
        let event = Event::new(&self.options.person, "session.create", id.as_str(), Outcome::Done)
            .with_detail(json!({ "agent": new.agent, "runner": new.runner, "depth": new.depth }));
        self.writer.write(now, move |write| {
            write.session_create(&new, now)?;
            write.audit(&event).map(drop)
        })?;
        let created = self.reader.session(&id)?;
        created.ok_or_else(|| HostError::SessionMissing { session: id.as_str().to_owned() })
    }

    /// Starts the turn. The message and everything recalled for it are recorded before the agent sees
    /// them.
    pub(crate) fn begin_turn(
        &self,
        request: &TurnRequest,
        session: &Session,
        prepared: &PreparedTurn,
    ) -> Result<TurnNumber, HostError> {
        let now = self.now();
        let contents = contents(request, &prepared.turn.external, &prepared.turn.context, now);
        let (id, owner, message) =
            (session.id.clone(), self.owner.clone(), prepared.turn.message.clone());
        let advisory = prepared.turn.sandbox.guarantees().advisory();
        let event = Event::new(&self.options.person, "turn.begin", id.as_str(), Outcome::Pending)
            .with_detail(json!({
                "model": prepared.model,
                "runner": prepared.turn.runner.as_str(),
                "sandbox": prepared.turn.context.sandbox_type.inspect(),
                "prompt": prepared.turn.prompt.digest(),
                "external": prepared.turn.external.iter().filter(|text| text.is_external).count(),
                "governance": if advisory { "advisory" } else { "enforced" },
            }));
        let before = session.clone();
        let sandbox = UsedSandbox::of(prepared.turn.sandbox.as_ref()).to_json();
        self.writer.write(now, move |write| -> Result<_, HostError> {
            for running in write.running_turns(Some(&id))? {
                if process_identity::is_alive(&running.owner) {
                    return Err(HostError::Busy { session: id.as_str().to_owned() });
                }
                write.turns_abandon(&id, &running.owner, now)?;
            }
            // The prompt was built from the session's history, taint and canary as they were read.
            let current = write.session(&id)?;
            if !current.is_some_and(|current| {
                (current.turns, current.last_at) == (before.turns, before.last_at)
                    && current.canary() == before.canary()
            }) {
                return Err(HostError::SessionChanged { session: id.as_str().to_owned() });
            }
            let number = write.turn_begin(&id, &message, &owner, now)?;
            write.sandbox_used(&sandbox)?;
            for content in &contents {
                write.content_add(&id, Some(number), content)?;
            }
            write.audit(&event)?;
            Ok(number)
        })
    }

    /// Finishes the turn: once this transaction is durable, the turn cannot be lost.
    pub(crate) fn finish_turn(
        &self,
        active: &ActiveSession,
        session: &Session,
        number: TurnNumber,
        outcome: &AgentOutcome,
    ) -> Result<TurnUsage, HostError> {
        let usage = active.activity.usage();
        let now = self.now();
        let last = self.reader.turns(&session.id, TurnRange::newest(1))?;
        let message = last.last().map(|turn| turn.message.clone()).unwrap_or_default();
        let mut messages = vec![Message::user(message)];
        match &outcome.held {
            None => messages.extend(outcome.messages.iter().cloned()),
            Some(_) => messages.push(Message::assistant(HELD_ANSWER)),
        }
        let (end, audited) = match &outcome.held {
            None if outcome.interrupted => (TurnEnd::Interrupted, Outcome::Done),
            None => (TurnEnd::Done, Outcome::Done),
            Some(_) => (TurnEnd::Held, Outcome::Refused),
        };
        let finished = FinishedTurn {
            messages: serde_json::to_string(&messages).unwrap_or_else(|_| "[]".to_owned()),
            answer: outcome.answer.clone(),
            usage,
            state: end,
            at: now,
        };
        let held = outcome.held.as_ref().map(ToString::to_string);
        let mut event = active.event("turn.finish", audited).with_detail(json!({
            "turn": number.0, "held": held.is_some(), "interrupted": outcome.interrupted,
            "usage": finished.usage,
        }));
        if let Some(reason) = &held {
            event = event.with_text(&session.id, json!({ "held": reason }));
        }
        let is_exposed = active.canary.leaked_at().is_some() || held.is_some();
        let canary = if is_exposed { Some(new_canary()?) } else { None };
        let rotate = active.event("canary.rotate", Outcome::Done);
        let id = session.id.clone();
        self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.turn_finish(&id, number, &finished)?;
            write.audit(&event)?;
            if let Some(canary) = canary {
                write.session_canary(&id, canary.as_str())?;
                write.audit(&rotate)?;
            }
            Ok(())
        })?;
        Ok(usage)
    }

    /// Gives the session another canary, because the one it has is known.
    pub(crate) fn replace_canary(&self, active: &ActiveSession) -> Result<(), HostError> {
        let (id, canary) = (active.identity.session.clone(), new_canary()?);
        let rotate = active.event("canary.rotate", Outcome::Done);
        self.writer.write(self.now(), move |write| -> Result<(), StoreError> {
            write.session_canary(&id, canary.as_str())?;
            write.audit(&rotate).map(drop)
        })?;
        Ok(())
    }

    /// Records that the turn failed. The caller still gets the error itself.
    pub(crate) fn fail_turn(&self, active: &ActiveSession, number: TurnNumber, error: &HostError) {
        let (id, reason, now) = (active.identity.session.clone(), error.to_string(), self.now());
        let usage = active.activity.usage();
        let event = Event::new("host", "turn.fail", id.as_str(), Outcome::Failed)
            .with_detail(json!({ "turn": number.0, "usage": usage }))
            .with_text(&id, json!({ "reason": reason }));
        let written = self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.turn_fail(&id, number, &reason, usage, now)?;
            write.audit(&event).map(drop)
        });
        if let Err(error) = written {
            tracing::error!("cannot record the failed turn: {error}");
        }
    }
}

/// What the turn starts with, as the taint ledger counts it.
pub(super) fn contents(
    request: &TurnRequest,
    external: &[FencedText],
    context: &Context,
    at: i64,
) -> Vec<Content> {
    let content = |provenance, source: &str, tokens, external| Content {
        provenance,
        source: source.to_owned(),
        tokens,
        external,
        at,
    };
    let tokens = |text: &str| u64::from(estimate(text));
    let provenance = request.origin.provenance();
    let is_external = provenance == Provenance::External;
    let message = tokens(&request.message);
    let mut contents = vec![content(provenance, request.origin.source(), message, is_external)];
    contents.extend(external.iter().map(|text| {
        let provenance =
            if text.is_external { Provenance::External } else { Provenance::ToolResult };
        content(provenance, &text.source, text.tokens, text.is_external)
    }));
    contents.extend(context.memories.iter().chain(&context.activity).map(|memory| {
        let tokens = tokens(memory.text.inspect());
        content(Provenance::Memory, "recalled", tokens, memory.tainted)
    }));
    contents
}
