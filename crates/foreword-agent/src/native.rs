//! The loop of our own: ask the model, run the tools it calls, ask again.

use std::io;

use foreword::Prompt;
use foreword_protocol::{
    Action, ActionInfo, AgentEvent, Answer, Block, CallFault, Client, ClientError, Content, Delta,
    Failure, Job, LocalTool, Message, ModelCall, ModelRequest, ProviderError, Reading, Role,
    StopReason, StreamPart, StreamReader, SystemPart, ToolResult, Usage,
};
use serde_json::Value;

use crate::error::AgentError;
use crate::events::Events;
use crate::host::Host;
use crate::output::cut;
use crate::room::{Messages, RESULT_READ, Shortened};
use crate::tools::{self, Place};

/// The most of an error's body that is read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Runs a turn, and gives its last event.
pub(crate) fn run(
    job: &Job,
    prompt: &Prompt,
    events: &mut Events<'_>,
) -> Result<AgentEvent, AgentError> {
    let host = Host::new(job);
    let mut turn = Turn {
        job,
        prompt,
        client: Some(host.connect()?),
        host,
        messages: Messages::new(
            job.history.iter().cloned().chain([Message::user(&job.message)]).collect(),
            job.turn,
            job.room,
            reading(job),
        ),
    };
    let mut usage = Usage::default();
    let mut step = 0;
    let stop_reason = loop {
        step += 1;
        if let Some(Shortened { results, tokens_before, tokens_after }) = turn.messages.make_room()
        {
            events.emit(&AgentEvent::Shortened { results, tokens_before, tokens_after })?;
        }
        let answer = turn.ask(events)?;
        usage = usage.and(answer.usage);
        let stop_reason = answer.stop_reason.clone();
        let calls = calls_of(&answer);
        if !answer.blocks.is_empty() {
            turn.messages.push(answer.into_message());
        }
        if calls.is_empty() {
            break stop_reason;
        }
        let last = step >= job.limits.max_steps;
        let mut results = Vec::with_capacity(calls.len());
        for group in calls.chunk_by(|one, next| starts_agents(one) && starts_agents(next)) {
            for call in group.iter().cloned() {
                let Call { id, name, input } = call;
                events.emit(&AgentEvent::ToolCall { id, name, input })?;
            }
            let answers = if last {
                vec![Err(NotAnswered::Fault(CallFault::StepLimit)); group.len()]
            } else {
                turn.call_all(group)
            };
            for (call, answer) in group.iter().zip(answers) {
                let Call { id, name, .. } = call;
                let (content, fault, is_error) = match answer {
                    Ok(content) => (content, None, false),
                    // A failure may repeat what it was called with.
                    Err(NotAnswered::Failed(message)) => {
                        (cut(message, job.limits.max_tool_output_bytes), None, true)
                    }
                    Err(NotAnswered::Fault(fault)) => (String::new(), Some(fault), true),
                };
                let content = turn.admit(call, content, fault)?;
                events.emit(&AgentEvent::ToolResult {
                    id: id.clone(),
                    name: name.clone(),
                    content: content.clone(),
                    is_error,
                })?;
                results.push(Block::ToolResult { tool_use_id: id.clone(), content, is_error });
            }
        }
        turn.messages.push(Message { role: Role::User, content: Content::Blocks(results) });
        if last {
            break StopReason::MaxSteps;
        }
    };
    let messages = turn.messages.into_own();
    Ok(AgentEvent::Done { messages, stop_reason, usage })
}

struct Turn<'a> {
    job: &'a Job,
    prompt: &'a Prompt,
    host: Host,
    client: Option<Client>,
    messages: Messages,
}

impl Turn<'_> {
    /// Asks the model once, and passes on what it says as it comes.
    fn ask(&mut self, events: &mut Events<'_>) -> Result<Answer, AgentError> {
        let job = self.job;
        let (stable, session) = self.prompt.system_at_cache_boundary();
        let messages = self.messages.sent();
        let body = ModelRequest {
            provider: job.provider,
            model: &job.model,
            system: &[
                SystemPart { text: stable, cache_boundary: true },
                SystemPart { text: session, cache_boundary: false },
            ],
            turn_context: self.prompt.turn_context(),
            messages: &messages,
            tools: &job.tools,
            max_tokens: job.limits.max_output_tokens,
            stream: job.stream,
        }
        .body();
        let call = ModelCall::new(job.provider.path(), body)
            .map_err(|error| ClientError::Answer(error.to_string()))?;
        let mut client = match self.client.take() {
            Some(client) => client,
            None => self.host.connect()?,
        };
        let mut reader = AnswerReader::new(StreamReader::new(job.provider));
        let called = client.call_streaming(Action::ModelCall(call), &mut |part| {
            reader.take(part, events).map_err(|error| {
                reader.failed = Some(error);
                io::ErrorKind::Interrupted.into()
            })
        });
        if let Some(error) = reader.failed {
            return Err(error);
        }
        called?;
        self.client = Some(client);
        reader.finish(events)
    }

    /// Has the host judge what a tool answered, or word a fault; gives it as the model may read it.
    fn admit(
        &mut self,
        Call { id, name, input }: &Call,
        content: String,
        fault: Option<CallFault>,
    ) -> Result<String, AgentError> {
        let mut client = match self.client.take() {
            Some(client) => client,
            None => self.host.connect()?,
        };
        let report = ToolResult {
            id: id.clone(),
            name: name.clone(),
            input: input.clone(),
            content: content.clone(),
            fault,
        };
        let judged = client.call(Action::ToolResult(report))?;
        self.client = Some(client);
        let fenced = judged.get("content").and_then(Value::as_str);
        Ok(fenced.map_or(content, str::to_owned))
    }

    /// Runs one tool, or several that start agents at the same time.
    fn call_all(&mut self, calls: &[Call]) -> Vec<Result<String, NotAnswered>> {
        let (job, host) = (self.job, &self.host);
        if let [one] = calls {
            return vec![match self.messages.read_again(one.name.as_str(), &one.input) {
                // The host gets the messages of a turn when it has ended.
                Some(content) => host
                    .permit(&mut self.client, &one.name, &one.input)
                    .map(|()| content.to_owned())
                    .map_err(|failure| NotAnswered::Failed(failure.message)),
                None => call(job, host, &mut self.client, one),
            }];
        }
        std::thread::scope(|scope| {
            let started: Vec<_> = calls
                .iter()
                .map(|one| scope.spawn(move || call(job, host, &mut None, one)))
                .collect();
            let failed = || Err(NotAnswered::Fault(CallFault::Runner));
            started.into_iter().map(|call| call.join().unwrap_or_else(|_| failed())).collect()
        })
    }
}

/// Runs a tool: what it answers, or why it did not.
fn call(
    job: &Job,
    host: &Host,
    client: &mut Option<Client>,
    Call { name, input, .. }: &Call,
) -> Result<String, NotAnswered> {
    if !job.tools.iter().any(|tool| tool.name == *name) {
        return Err(NotAnswered::Fault(CallFault::NotSent));
    }
    let is_action = ActionInfo::tool(name).is_some();
    if !input.is_object() || is_action && Action::from_tool(name, input).is_err() {
        return Err(NotAnswered::Fault(CallFault::Arguments));
    }
    let failed = |failure: Failure| NotAnswered::Failed(failure.message);
    match LocalTool::named(name) {
        Some(tool) => {
            host.permit(client, name, input).map_err(failed)?;
            let place = Place { cwd: &job.cwd, limits: job.limits, file_rules: &job.file_rules };
            let ran = tools::run(tool, input, place);
            ran.map_err(|error| NotAnswered::Failed(error.to_string()))
        }
        None => host.call(client, name, input).map_err(failed),
    }
}

/// Why a call has no answer of its tool.
#[derive(Clone)]
enum NotAnswered {
    /// The tool or the host says why.
    Failed(String),
    /// The call was not passed on; the host has the words for it.
    Fault(CallFault),
}

/// Whether the model can read shortened results again.
fn reading(job: &Job) -> Reading {
    match job.tools.iter().any(|tool| tool.name == RESULT_READ) {
        true => Reading::Offered,
        false => Reading::NotOffered,
    }
}

/// A tool that the model called.
#[derive(Clone)]
struct Call {
    id: String,
    name: String,
    input: Value,
}

/// Whether a call waits for other agents, so that several need not wait for each other.
fn starts_agents(call: &Call) -> bool {
    matches!(call.name.as_str(), "spawn_agent" | "chain_run")
}

/// An answer on its way.
struct AnswerReader {
    reader: StreamReader,
    status: u16,
    error_body: String,
    told: usize,
    failed: Option<AgentError>,
}

impl AnswerReader {
    fn new(reader: StreamReader) -> Self {
        Self { reader, status: 200, error_body: String::new(), told: 0, failed: None }
    }

    fn take(&mut self, part: StreamPart, events: &mut Events<'_>) -> Result<(), AgentError> {
        match part {
            StreamPart::Head { status, .. } => self.status = status,
            StreamPart::Data(data) if self.is_error() => {
                let room = MAX_ERROR_BYTES.saturating_sub(self.error_body.len());
                let end = data.floor_char_boundary(room);
                self.error_body.push_str(data.get(..end).unwrap_or_default());
            }
            StreamPart::Data(data) => {
                for delta in self.reader.push(&data)? {
                    if let Delta::Text(text) = delta {
                        self.told += text.len();
                        events.text(&text)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_error(&self) -> bool {
        !(200..300).contains(&self.status)
    }

    fn finish(self, events: &mut Events<'_>) -> Result<Answer, AgentError> {
        if self.is_error() {
            return Err(ProviderError::from_response(self.status, None, &self.error_body).into());
        }
        let answer = self.reader.finish()?;
        // A body that was no stream has told nothing yet.
        events.text(answer.text().get(self.told..).unwrap_or_default())?;
        Ok(answer)
    }
}

fn calls_of(answer: &Answer) -> Vec<Call> {
    answer
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse { id, name, input } => {
                Some(Call { id: id.clone(), name: name.clone(), input: input.clone() })
            }
            Block::Text { .. } | Block::ToolResult { .. } => None,
        })
        .collect()
}
