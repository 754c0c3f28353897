//! What must hold for any line that an agent and its host say to each other.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-protocol/tests/it/fuzz_smoke.rs`) share these functions.

use foreword::{Blueprint, Context};
use foreword_protocol::{Action, AgentEvent, Call, FrameError, Frames, Job, Reply};

/// A line is a call that can be written again and is the same then, or a fault in a few words.
pub(crate) fn call(text: &str) {
    let mut frames = Frames::new(text.as_bytes(), 1 << 20);
    while let Ok(Some(line)) = frames.next_line() {
        let line = line.to_vec();
        match Call::parse_with_token(&line) {
            Ok(call) => {
                let written = call.line().expect("a call cannot be written");
                assert!(!written.contains(['\n', '\r']), "{written:?}");
                let again = Call::parse(written.as_bytes()).expect("what was written is no call");
                assert_eq!(again, call);
                // A tool of that name and input is the same action, unless it is not for agents.
                let args = call.action.args().expect("arguments cannot be written");
                let input = serde_json::from_str(args.get()).expect("arguments are not JSON");
                if let Ok(action) = Action::from_tool(call.action.name(), &input) {
                    assert_eq!(action, call.action);
                }
            }
            Err(rejected) => {
                let message = rejected.error.to_string();
                assert!(!message.is_empty() && message.len() < 2500, "{}", message.len());
            }
        }
        let _ = serde_json::from_slice::<Reply>(&line);
    }
}

/// No line of a stream is longer in these checks.
const LIMIT: usize = 200;

/// A stream that brings so many bytes at once.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (piece, rest) = self.rest.split_at(self.size.min(buffer.len()).min(self.rest.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        self.rest = rest;
        Ok(piece.len())
    }
}

/// However a stream comes in, its lines are the same, whole and bounded.
pub(crate) fn frames(text: &str) {
    let mut expected: Vec<Result<Vec<u8>, &str>> = Vec::new();
    let mut lines: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    for line in lines {
        if line.len() > LIMIT {
            expected.push(Err("too long"));
            break;
        }
        expected.push(Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
    }
    if expected.last().is_none_or(Result::is_ok) && !last.is_empty() {
        expected.push(Err(if last.len() > LIMIT { "too long" } else { "truncated" }));
    }
    for size in [1, 7, 1 << 20] {
        let mut frames = Frames::new(Pieces { rest: text.as_bytes(), size }, LIMIT);
        let mut found = Vec::new();
        loop {
            found.push(match frames.next_line() {
                Ok(None) => break,
                Ok(Some(line)) => Ok(line.to_vec()),
                Err(FrameError::TooLong { .. }) => Err("too long"),
                Err(FrameError::Truncated) => Err("truncated"),
                Err(error) => panic!("{error}"),
            });
            if found.last().is_some_and(Result::is_err) {
                break;
            }
        }
        assert_eq!(found, expected, "in pieces of {size}");
    }
}

/// Any text as what an agent is started with.
pub(crate) fn job(text: &str) {
    let job: Job = match serde_json::from_str(text) {
        Ok(job) => job,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let written = serde_json::to_string(&job).expect("a job can be written");
    let again: Job = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(serde_json::to_string(&again).expect("a job can be written"), written);
    if job.context.validate().is_err() {
        return;
    }
    if let Ok(blueprint) = Blueprint::from_source(&job.blueprint) {
        let build = |context: &Context| blueprint.build(context).text().to_owned();
        assert_eq!(build(&job.context), build(&again.context));
    }
}

/// Any line as an event of an agent.
pub(crate) fn event(text: &str) {
    if let Ok(event) = serde_json::from_str::<AgentEvent>(text) {
        let written = serde_json::to_string(&event).expect("an event can be written");
        assert_eq!(serde_json::from_str::<AgentEvent>(&written).ok(), Some(event));
    }
}
