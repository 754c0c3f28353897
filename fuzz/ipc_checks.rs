//! What must hold for any line that an agent sends its host.
//!
//! The coverage-guided target in this directory and the harness that runs with the tests
//! (`crates/foreword-ipc/tests/fuzz_smoke.rs`) share this function.

use foreword_ipc::{Action, Call, Frames, Job, Reply};

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
        let _ = serde_json::from_slice::<Job>(&line);
    }
}
