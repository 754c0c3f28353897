//! One turn: a message goes in, the agent works in its sandbox, an answer comes out or is held back.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

use foreword::estimate;
use foreword_guard::{
    Canary, OutputGuard, Provenance, redact_with, scan_input, scan_output, whole,
};
use foreword_ipc::{AgentEvent, Job, JobLimits, RunnerKind};
use foreword_provider::{Block, Content as Said, Message, Role};
use foreword_sandbox::{DEFAULT_PATH, Quarantine, SandboxKind, SandboxSpec};
use foreword_semantic::ScanVerdict;
use foreword_skills::visible_line;
use foreword_store::{
    Content, Event, FinishedTurn, NewSession, Outcome, Session, SessionId, StoreError, TurnEnd,
    TurnNumber,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::HostError;
use crate::heartbeat::{Waking, Woken};
use crate::host::Host;
use crate::live::{Live, Spent, stored};
use crate::prepare::{Origin, Prepared, TurnRequest};
use crate::process::AgentProcess;
use crate::run_dir::RunDir;
use crate::server::Server;

/// No answer is longer.
const LONGEST_ANSWER: usize = 4 << 20;

/// No word for why an agent stopped is longer.
const LONGEST_REASON: usize = 40;

/// What a person sees while a turn lasts.
pub trait Observer {
    /// The turn can start, with this prompt.
    fn prepared(&mut self, _prepared: &Prepared) {}
    /// Text of the answer, as it may be shown.
    fn text(&mut self, _text: &str) {}
    /// The agent calls a tool.
    fn tool_call(&mut self, _name: &str, _input: &Value) {}
    /// A tool answered.
    fn tool_result(&mut self, _name: &str, _content: &str, _is_error: bool) {}
    /// Something the person should know.
    fn notice(&mut self, _text: &str) {}
    /// Something about the workspace, likely the same in every turn.
    fn warning(&mut self, text: &str) {
        self.notice(text);
    }
    /// An agent is set to work by a schedule or the heartbeat.
    fn wakes(&mut self, _waking: &Waking) {}
    /// What came of that.
    fn woke(&mut self, _woken: &Woken) {}
}

/// Looks at nothing.
impl Observer for () {}

/// What came of a turn.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReport {
    /// The session.
    pub session: String,
    /// The turn's number.
    pub turn: u64,
    /// What the person got to see.
    pub answer: String,
    /// `done` or `held`.
    pub state: &'static str,
    /// Why the answer was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Why the agent stopped, as its loop calls it: `end_turn`, `max_tokens`, `max_steps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Tokens of all calls of the model.
    pub usage: foreword_provider::Usage,
    /// Calls of the model.
    pub calls: u64,
    /// External tokens over all tokens of the session.
    pub taint_ratio: f64,
    /// Above this, sensitive actions are refused.
    pub taint_threshold: f64,
    /// The sandbox in use.
    pub sandbox: String,
    /// The model.
    pub model: String,
    /// The digest of the prompt.
    pub prompt: String,
    /// Turns of the conversation that no longer fit.
    pub history_omitted: u64,
    /// What the scanner says of message and answer.
    pub scanned: Scans,
    /// What the host itself took, in milliseconds: everything but waiting for the agent's process,
    /// for the model, for other agents and for pages.
    pub overhead_ms: f64,
}

/// Verdicts of the scanner.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scans {
    /// On the message.
    pub input: &'static str,
    /// On the answer.
    pub output: &'static str,
}

/// How the agent's part went.
struct Outcomes {
    messages: Vec<Message>,
    answer: String,
    held: Option<String>,
    output: ScanVerdict,
    stop_reason: Option<String>,
}

impl Host {
    /// Runs one turn to its end. Whatever stops it, a turn that was finished stays finished.
    ///
    /// # Errors
    ///
    /// If the turn cannot start, or the agent fails; the turn is on record as failed then.
    pub fn turn(
        self: &Arc<Self>,
        request: &TurnRequest,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let began = Instant::now();
        let found = match &request.session {
            Some(id) => self.reader.session(id)?,
            None => None,
        };
        let canary = match &found {
            Some(session) => session.canary().to_owned(),
            None => new_canary()?.as_str().to_owned(),
        };
        // Before and after the files are read: what an agent slips in meanwhile takes no effect.
        self.check_trusted()?;
        let prepared = self.prepare(request, found.as_ref(), &canary)?;
        self.check_trusted()?;
        prepared.check_room()?;
        for warning in &prepared.warnings {
            observer.warning(warning);
        }
        for content in &prepared.external {
            if content.verdict != ScanVerdict::Pass {
                let verdict = content.verdict.as_str();
                observer.notice(&format!("the scanner says {verdict} of {}", content.source));
            }
        }
        observer.prepared(&prepared);
        let scanned = self.scan_message(request)?;
        if scanned == ScanVerdict::Flag {
            observer.notice("the message reads like an attempt to steer the agent; it was flagged");
        }
        let session = match found {
            Some(session) => session,
            None => self.new_session(request, &prepared, &canary)?,
        };
        let token = random_hex::<32>()?;
        let number = self.begin(request, &session, &prepared)?;
        let live = Live::new(self, &session, Some(number), request.depth, token, &prepared);
        let live = Arc::new(live);
        let result = self.run(&live, &session, number, &prepared, scanned, began, observer);
        if let Err(error) = &result {
            self.fail(&live, number, error);
        }
        result
    }

    fn scan_message(&self, request: &TurnRequest) -> Result<ScanVerdict, HostError> {
        let Some(scanner) = self.scanner() else { return Ok(ScanVerdict::Pass) };
        let provenance = match &request.origin {
            Origin::Agent { tainted: true, .. } | Origin::Schedule { tainted: true } => {
                Provenance::External
            }
            _ => Provenance::User,
        };
        let scanned = scan_input(scanner, &request.message, provenance);
        if scanned.verdict == ScanVerdict::Block {
            let subject = request.session.as_ref().map_or("new", SessionId::as_str);
            let detail = json!({ "score": scanned.score, "reason": scanned.reason });
            let event = Event::new(&self.options.person, "scan.input", subject, Outcome::Refused);
            self.record_durably(event.with_detail(detail))?;
            return Err(HostError::Blocked { reason: scanned.reason });
        }
        Ok(scanned.verdict)
    }

    pub(crate) fn new_session(
        &self,
        request: &TurnRequest,
        prepared: &Prepared,
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
        let new = NewSession {
            id: id.clone(),
            agent: prepared.agent.clone(),
            user: prepared.user.clone(),
            runner: prepared.runner.as_str().to_owned(),
            canary: canary.to_owned(),
            parent,
            depth: request.depth,
            channel: prepared.context.channel.inspect().to_owned(),
        };
        let now = self.now();
        let event = Event::new(&self.options.person, "session.create", id.as_str(), Outcome::Done)
            .with_detail(json!({ "agent": new.agent, "runner": new.runner, "depth": new.depth }));
        self.writer.write(now, move |write| {
            write.session_create(&new, now)?;
            write.audit(&event).map(drop)
        })?;
        let made = self.reader.session(&id)?;
        made.ok_or_else(|| HostError::Limit(format!("the session `{id}` is gone")))
    }

    /// Begins the turn: message and recalled memories are on record before the agent sees them.
    fn begin(
        &self,
        request: &TurnRequest,
        session: &Session,
        prepared: &Prepared,
    ) -> Result<TurnNumber, HostError> {
        let now = self.now();
        let (provenance, external, source) = match &request.origin {
            Origin::Person => (Provenance::User, false, "message"),
            Origin::Schedule { tainted: true } => (Provenance::External, true, "schedule"),
            Origin::Schedule { tainted: false } => (Provenance::Operator, false, "schedule"),
            Origin::Agent { tainted: true, .. } => (Provenance::External, true, "parent agent"),
            Origin::Agent { tainted: false, .. } => (Provenance::User, false, "parent agent"),
        };
        let content = |provenance, source: &str, text: &str, external| Content {
            provenance: stored(provenance),
            source: source.to_owned(),
            tokens: u64::from(estimate(text)),
            external,
            at: now,
        };
        let mut contents = vec![content(provenance, source, &request.message, external)];
        for content in &prepared.external {
            contents.push(Content {
                provenance: stored(Provenance::External),
                source: content.source.clone(),
                tokens: content.tokens,
                external: true,
                at: now,
            });
        }
        let context = &prepared.context;
        for memory in context.memories.iter().chain(&context.activity) {
            let text = memory.text.inspect();
            contents.push(content(Provenance::Memory, "recalled", text, memory.tainted));
        }
        let (id, owner, message) =
            (session.id.clone(), self.owner.clone(), prepared.message.clone());
        let event = Event::new(&self.options.person, "turn.begin", id.as_str(), Outcome::Pending)
            .with_detail(json!({
                "model": prepared.model, "runner": prepared.runner.as_str(),
                "sandbox": prepared.context.sandbox_type.inspect(), "prompt": prepared.prompt.digest(),
                "external": prepared.external.len(),
            }));
        let before = session.clone();
        self.writer.write(now, move |write| -> Result<_, HostError> {
            for running in write.running_turns(Some(&id))? {
                if crate::owner::is_alive(&running.owner) {
                    return Err(HostError::Busy { session: id.as_str().to_owned() });
                }
                write.turns_abandon(&id, &running.owner, now)?;
            }
            // History, taint and canary are those of the session as it was when it was read.
            let current = write.session(&id)?;
            if !current.is_some_and(|current| {
                (current.turns, current.last_at) == (before.turns, before.last_at)
                    && current.canary() == before.canary()
            }) {
                return Err(HostError::WentOn { session: id.as_str().to_owned() });
            }
            let number = write.turn_begin(&id, &message, &owner, now)?;
            for content in &contents {
                write.content_add(&id, Some(number), content)?;
            }
            write.audit(&event)?;
            Ok(number)
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one turn, named one by one")]
    fn run(
        &self,
        live: &Arc<Live>,
        session: &Session,
        number: TurnNumber,
        prepared: &Prepared,
        scanned: ScanVerdict,
        began: Instant,
        observer: &mut dyn Observer,
    ) -> Result<TurnReport, HostError> {
        let name = random_hex::<8>()?;
        let run_dir = RunDir::create(&self.options.run_base, &name, &self.owner)?;
        let workspace = self.workspace()?;
        // There from the start, it is the store that fills it: inside it cannot be written.
        let skills = self.root.join(&workspace.config().skills.directory);
        std::fs::create_dir_all(&skills)
            .map_err(|error| HostError::io(format!("make {}", skills.display()), error))?;
        let governed = workspace.governed()?;
        let quarantine = Quarantine::before(&governed);
        let spec = self.spec(prepared, &governed, &quarantine, &run_dir)?;
        let inside = prepared.sandbox.run_dir_inside(&spec);
        let job = self.job(prepared, live, inside.join(crate::run_dir::SOCKET), &spec)?;
        let server = Server::start(live, &run_dir.socket())?;
        let mut process = AgentProcess::start(prepared.sandbox.as_ref(), &spec, job)?;
        let outcomes = self.listen(live, &mut process, observer);
        let outcomes = self.without_leaks(live, outcomes);
        let away = process.away();
        drop(process);
        // Whatever the agent started ends with it, and nobody waits for an answer any more.
        live.tree.cancel();
        drop(server);
        let accepted = self.accepted()?;
        let place = format!("{}-{}", session.id, number.0);
        let aside = quarantine.after(&workspace, &place, accepted.as_ref());
        for fault in aside.faults {
            let fault = visible_line(&fault.to_string());
            observer.notice(&format!("what the agent made may be left in its place: {fault}"));
            let event = live.event("governed.quarantine", Outcome::Failed);
            self.record(event.with_detail(json!({ "reason": fault })));
        }
        for found in aside.moved {
            let why = match found.group {
                Some(_) => "which is governed",
                None => "which your own git would heed",
            };
            observer.notice(&format!(
                "the agent made {}, {why}; it was moved to {}",
                visible_line(&found.path),
                visible_line(&found.moved_to)
            ));
            let event = live.event("governed.quarantine", Outcome::Refused);
            self.record(event.with_detail(json!({ "path": found.path, "moved": found.moved_to })));
        }
        let outcomes = outcomes?;
        let report_parts = self.finish(live, session, number, &outcomes)?;
        let level = live.taint()?;
        let overhead = began.elapsed().saturating_sub(away) + live.busy();
        Ok(TurnReport {
            session: session.id.as_str().to_owned(),
            turn: number.0,
            state: if outcomes.held.is_some() { "held" } else { "done" },
            answer: outcomes.answer,
            held: outcomes.held,
            stop_reason: outcomes.stop_reason,
            usage: report_parts.usage,
            calls: report_parts.calls,
            taint_ratio: level.ratio(),
            taint_threshold: live.threshold,
            sandbox: prepared.context.sandbox_type.inspect().to_owned(),
            model: prepared.model.clone(),
            prompt: prepared.prompt.digest(),
            history_omitted: prepared.history.omitted.map_or(0, |omitted| omitted.turns),
            scanned: Scans { input: scanned.as_str(), output: outcomes.output.as_str() },
            overhead_ms: overhead.as_secs_f64() * 1000.0,
        })
    }

    fn spec(
        &self,
        prepared: &Prepared,
        governed: &foreword_workspace::Governed,
        quarantine: &Quarantine,
        run_dir: &RunDir,
    ) -> Result<SandboxSpec, HostError> {
        let resolved = |path: &std::path::Path| {
            path.canonicalize()
                .map_err(|error| HostError::io(format!("find {}", path.display()), error))
        };
        let mut path: Vec<String> =
            prepared.located.path.iter().map(|path| path.display().to_string()).collect();
        path.push(DEFAULT_PATH.to_owned());
        let mut env = BTreeMap::from([("PATH".to_owned(), path.join(":"))]);
        for name in ["LANG", "LC_ALL", "TERM", "TZ"] {
            env.extend((self.options.environment)(name).map(|value| (name.to_owned(), value)));
        }
        let mut read_only = governed.read_only();
        read_only.extend(quarantine.run_by_host());
        Ok(SandboxSpec {
            workspace: self.root.clone(),
            cwd: prepared.cwd.clone(),
            writable: true,
            governed: read_only,
            private: vec![governed.private(), self.options.config_dir.clone()],
            home: self.options.home.clone(),
            program: resolved(&self.options.program)?,
            args: vec!["agent".to_owned()],
            read_only: prepared.located.read_only.clone(),
            run_dir: resolved(&run_dir.shared())?,
            bridge_ports: bridge_ports(prepared)?,
            env,
        })
    }

    fn job(
        &self,
        prepared: &Prepared,
        live: &Live,
        socket: std::path::PathBuf,
        spec: &SandboxSpec,
    ) -> Result<String, HostError> {
        let host = &prepared.config.host;
        let job = Job {
            message: prepared.message.clone(),
            history: prepared.history.messages.clone(),
            taint_ratio: prepared.context.taint_ratio,
            taint_threshold: live.threshold,
            profile: prepared.context.profile(),
            sandbox_type: prepared.context.sandbox_type.inspect().to_owned(),
            context: prepared.context.clone(),
            blueprint: prepared.blueprint.source().clone(),
            runner: prepared.runner,
            provider: prepared.upstream.provider,
            model: prepared.model.clone(),
            stream: true,
            tools: prepared.tools.clone(),
            cwd: prepared.cwd.clone(),
            socket,
            token: live.token.clone(),
            foreword: spec.program.clone(),
            cli: prepared.located.cli.clone(),
            bridge_port: spec.bridge_ports.as_ref().map(|ports| *ports.start()),
            limits: JobLimits {
                max_steps: host.max_steps,
                command_seconds: host.command_seconds,
                max_output_tokens: prepared.max_output_tokens(),
                ..JobLimits::default()
            },
        };
        serde_json::to_string(&job).map_err(|error| HostError::Agent {
            message: format!("the job cannot be written: {error}"),
        })
    }

    /// Listens to the agent until it is done, lets through what may be seen, and counts what came in.
    fn listen(
        &self,
        live: &Live,
        process: &mut AgentProcess<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Outcomes, HostError> {
        let credential = live.upstream.as_ref().and_then(|upstream| upstream.credential.as_ref());
        let secrets: Vec<&str> = credential.map(|key| key.expose()).into_iter().collect();
        let new_guard = || OutputGuard::with_detector(&live.detector, &secrets);
        // What a step says is shown when it ends; a canary that goes on in the next one is found.
        let mut whole = OutputGuard::new(&live.canaries, &secrets);
        let mut guard = new_guard();
        let mut answer = String::new();
        let mut said = Steps::default();
        loop {
            if let Some(place) = leaked(live) {
                return Ok(held(answer, &format!("its canary token was found in `{place}`")));
            }
            let Some(event) = process.next(live)? else {
                return Err(HostError::Agent { message: process.last_words() });
            };
            match event {
                AgentEvent::Prompt { .. } => {}
                AgentEvent::Text { text } => {
                    match whole.push(&text).and_then(|_| guard.push(&text)) {
                        Ok(safe) => {
                            observer.text(&safe);
                            said.text(&text);
                            answer.push_str(&safe);
                            if answer.len() > LONGEST_ANSWER {
                                return Err(HostError::Agent {
                                    message: format!(
                                        "the agent said more than {LONGEST_ANSWER} bytes in one turn"
                                    ),
                                });
                            }
                        }
                        Err(leak) => {
                            live.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    }
                }
                AgentEvent::ToolCall { name, input, .. } => {
                    if let Some(leak) = live.detector.find(&input.to_string()) {
                        live.note_leak(&name, &leak.to_string());
                        return Ok(held(answer, "it passed the session's canary token to a tool"));
                    }
                    // The text of a step ends with it: a blank line sets it off from the next one.
                    match std::mem::replace(&mut guard, new_guard()).finish() {
                        Ok(finished) => {
                            let rest = finished.text + said.separator();
                            observer.text(&rest);
                            answer.push_str(&rest);
                        }
                        Err(leak) => {
                            live.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    }
                    let mut input = input;
                    each_string(&mut input, &mut |text| *text = redact_with(text, &secrets).text);
                    observer.tool_call(own_name(&name), &input);
                }
                AgentEvent::ToolResult { name, content, is_error, .. } => {
                    let name = own_name(&name);
                    count_result(live, name, &content)?;
                    observer.tool_result(name, &content, is_error);
                }
                AgentEvent::Error { message } => return Err(HostError::Agent { message }),
                AgentEvent::Done { messages, .. } if !is_own_account(&messages) => {
                    return Err(HostError::Agent {
                        message:
                            "the agent's account of the turn puts words into the person's mouth"
                                .to_owned(),
                    });
                }
                AgentEvent::Done { messages, stop_reason, .. } => {
                    let finished = match whole.finish().and_then(|_| guard.finish()) {
                        Ok(finished) => finished,
                        Err(leak) => {
                            live.note_leak("answer", &leak.to_string());
                            return Ok(held(answer, "it repeated the session's canary token"));
                        }
                    };
                    observer.text(&finished.text);
                    answer.push_str(&finished.text);
                    if said.separated {
                        answer.truncate(answer.trim_end().len());
                    }
                    process.farewell();
                    if let Some(notice) = stopped_short(live, &stop_reason, &answer) {
                        observer.notice(&notice);
                    }
                    let stop_reason = Some(stop_reason.chars().take(LONGEST_REASON).collect());
                    let judged = self.judged(live, messages, answer, &secrets);
                    return Ok(Outcomes { stop_reason, ..judged });
                }
            }
        }
    }

    /// What an agent says of its failure passes the guard too, and a canary found meanwhile holds the
    /// turn back however it ended.
    fn without_leaks(
        &self,
        live: &Live,
        outcomes: Result<Outcomes, HostError>,
    ) -> Result<Outcomes, HostError> {
        let outcomes = match outcomes {
            Err(HostError::Agent { message }) => {
                let credential = live.upstream.as_ref().and_then(|it| it.credential.as_ref());
                let secrets: Vec<&str> = credential.map(|key| key.expose()).into_iter().collect();
                match whole(&message, &live.canaries, &secrets) {
                    Ok(shown) => Err(HostError::Agent { message: shown.text }),
                    Err(leak) => {
                        live.note_leak("error", &leak.to_string());
                        Ok(held(String::new(), "it repeated the session's canary token"))
                    }
                }
            }
            outcomes => outcomes,
        };
        match (outcomes, leaked(live)) {
            (Ok(outcomes), Some(place)) if outcomes.held.is_none() => {
                let reason = format!("its canary token was found in `{place}`");
                Ok(held(outcomes.answer, &reason))
            }
            (Err(HostError::Agent { .. }), Some(place)) => {
                Ok(held(String::new(), &format!("its canary token was found in `{place}`")))
            }
            (outcomes, _) => outcomes,
        }
    }

    /// The answer as it is kept: without secrets, and judged.
    fn judged(
        &self,
        live: &Live,
        mut messages: Vec<Message>,
        answer: String,
        secrets: &[&str],
    ) -> Outcomes {
        for message in &mut messages {
            each_text(message, &mut |text| *text = redact_with(text, secrets).text);
        }
        let kept = serde_json::to_string(&messages).unwrap_or_default();
        if let Some(leak) = live.detector.find(&kept) {
            live.note_leak("messages", &leak.to_string());
            return held(answer, "it repeated the session's canary token");
        }
        let scanned = self.scanner().map(|scanner| scan_output(scanner, &answer));
        let output = scanned.as_ref().map_or(ScanVerdict::Pass, |scanned| scanned.verdict);
        if let (ScanVerdict::Flag | ScanVerdict::Block, Some(scanned)) = (output, &scanned) {
            let detail = json!({ "score": scanned.score, "reason": scanned.reason });
            let event = live.event("scan.output", Outcome::Refused).with_detail(detail);
            self.record(event);
        }
        if let (ScanVerdict::Block, Some(scanned)) = (output, scanned) {
            let reason = format!("it reads as an attack: {}", scanned.reason);
            return Outcomes { output, ..held(answer, &reason) };
        }
        Outcomes { messages, answer, held: None, output, stop_reason: None }
    }

    /// Finishes the turn in one transaction: from here on it cannot be lost.
    fn finish(
        &self,
        live: &Live,
        session: &Session,
        number: TurnNumber,
        outcomes: &Outcomes,
    ) -> Result<Spent, HostError> {
        let spent = live.spent();
        let now = self.now();
        let message = self.reader.turns(&session.id, foreword_store::TurnRange::newest(1))?;
        let said = message.last().map(|turn| turn.message.clone()).unwrap_or_default();
        let mut messages = vec![Message::user(said)];
        match &outcomes.held {
            None => messages.extend(outcomes.messages.iter().cloned()),
            Some(_) => messages.push(Message::assistant("[this answer was held back]")),
        }
        let finished = FinishedTurn {
            messages: serde_json::to_string(&messages).unwrap_or_else(|_| "[]".to_owned()),
            answer: outcomes.answer.clone(),
            usage: spent.stored(),
            state: if outcomes.held.is_some() { TurnEnd::Held } else { TurnEnd::Done },
            at: now,
        };
        let outcome = if outcomes.held.is_some() { Outcome::Refused } else { Outcome::Done };
        let event = live.event("turn.finish", outcome).with_detail(json!({
            "turn": number.0, "held": outcomes.held, "usage": finished.usage,
        }));
        let leaked = leaked(live).is_some() || outcomes.held.is_some();
        let canary = if leaked { Some(new_canary()?) } else { None };
        let rotate = live.event("canary.rotate", Outcome::Done);
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
        Ok(spent)
    }

    /// Puts on record that a turn failed; the error itself goes to whoever asked.
    fn fail(&self, live: &Live, number: TurnNumber, error: &HostError) {
        let (id, reason, now) = (live.session.clone(), error.to_string(), self.now());
        let usage = live.spent().stored();
        let event = Event::new("host", "turn.fail", id.as_str(), Outcome::Failed)
            .with_detail(json!({ "turn": number.0, "reason": reason, "usage": usage }));
        let written = self.writer.write(now, move |write| -> Result<(), StoreError> {
            write.turn_fail(&id, number, &reason, usage, now)?;
            write.audit(&event).map(drop)
        });
        if let Err(error) = written {
            tracing::error!("a failed turn could not be put on record: {error}");
        }
    }
}

/// What was said after the person's message: the model's words, and results of tools. Nobody else
/// speaks for the person.
fn is_own_account(messages: &[Message]) -> bool {
    messages.iter().all(|message| match (&message.role, &message.content) {
        (Role::Assistant, _) => true,
        (Role::User, Said::Text(_)) => false,
        (Role::User, Said::Blocks(blocks)) => {
            blocks.iter().all(|block| matches!(block, Block::ToolResult { .. }))
        }
    })
}

/// Where the bridge to the model may listen, if the sandbox shares the network of the host.
fn bridge_ports(prepared: &Prepared) -> Result<Option<RangeInclusive<u16>>, HostError> {
    let shared = matches!(prepared.sandbox.kind(), SandboxKind::Subprocess | SandboxKind::Seatbelt);
    if !shared || prepared.runner == RunnerKind::Native {
        return Ok(None);
    }
    let failed = |error| HostError::io("find a free port for the bridge to the model", error);
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = free.local_addr().map_err(failed)?.port();
    Ok(Some(port..=port))
}

fn held(answer: String, reason: &str) -> Outcomes {
    Outcomes {
        messages: Vec::new(),
        answer,
        held: Some(reason.to_owned()),
        output: ScanVerdict::Pass,
        stop_reason: None,
    }
}

/// What to tell a person of an agent that did not end by itself, or said nothing.
fn stopped_short(live: &Live, stop_reason: &str, answer: &str) -> Option<String> {
    match stop_reason {
        "max_steps" => Some(format!(
            "the agent stopped after {} calls of the model (host.max_steps); it may not be done",
            live.settings.max_steps
        )),
        "max_tokens" => Some("the answer was cut off (model.max_output_tokens)".to_owned()),
        _ if answer.trim().is_empty() => Some("the agent ended without an answer".to_owned()),
        _ => None,
    }
}

fn leaked(live: &Live) -> Option<String> {
    live.leaked.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
}

/// A tool's name without what another loop puts in front of it.
fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__foreword__").unwrap_or(name)
}

/// Counts what a tool brought into the session. Some were counted as they were served.
fn count_result(live: &Live, name: &str, content: &str) -> Result<(), HostError> {
    let counted = [
        "web_fetch",
        "memory_search",
        "content_add",
        "spawn_agent",
        "chain_run",
        "task_list",
        "task_update",
        "schedule_list",
    ];
    if counted.contains(&name) {
        return Ok(());
    }
    let external = live.settings.external_tools.iter().any(|tool| tool == name);
    let tokens = u64::from(estimate(content));
    if tokens == 0 {
        return Ok(());
    }
    if !external && live.taint()?.external_tokens > 0 {
        // Otherwise an agent could thin out what came from outside with output of its own.
        let source = format!("{name} ({tokens} tokens, not counted)");
        live.take_in(Provenance::ToolResult, &source, 0, false)?;
        return Ok(());
    }
    live.take_in(Provenance::ToolResult, name, tokens, external)?;
    Ok(())
}

fn each_text(message: &mut Message, change: &mut dyn FnMut(&mut String)) {
    match &mut message.content {
        Said::Text(text) => change(text),
        Said::Blocks(blocks) => {
            for block in blocks {
                match block {
                    Block::Text { text } => change(text),
                    Block::ToolResult { content, .. } => change(content),
                    Block::ToolUse { input, .. } => each_string(input, change),
                }
            }
        }
    }
}

/// Every text in a value of JSON.
fn each_string(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string(value, change)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_string(value, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Where the text of one step ends and that of the next begins.
#[derive(Default)]
struct Steps {
    /// Has text come that does not end its line?
    open: bool,
    /// Was the last text a separator?
    separated: bool,
}

impl Steps {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.open = !text.ends_with('\n');
            self.separated = false;
        }
    }

    /// What ends the text of a step.
    fn separator(&mut self) -> &'static str {
        if !std::mem::take(&mut self.open) {
            return "";
        }
        self.separated = true;
        "\n\n"
    }
}

/// A new canary token.
pub(crate) fn new_canary() -> Result<Canary, HostError> {
    Ok(Canary::from_random(random::<16>()?))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], HostError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        HostError::io("get random bytes", std::io::Error::other(error.to_string()))
    })?;
    Ok(bytes)
}

pub(crate) fn random_hex<const N: usize>() -> Result<String, HostError> {
    Ok(random::<N>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}
