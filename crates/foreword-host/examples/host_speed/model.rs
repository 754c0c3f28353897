//! A model that says one sentence or calls the tools, in a process of its own so that its memory is not taken for
//! the host's.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use foreword_testing::loopback_model::{self, ONE_SENTENCE};
use serde_json::{Value, json};

use crate::{CALL_TOOLS, CALLS};

/// Starts the model, which takes so long for each answer.
pub(crate) fn start(answer_ms: u64) -> (Child, String) {
    let mut model = Command::new(std::env::current_exe().unwrap())
        .args(["model", &answer_ms.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(model.stdout.take().unwrap()).read_line(&mut url).unwrap();
    (model, url.trim_end().to_owned())
}

/// Ends with its standard input, so that an interrupted benchmark leaves nothing behind.
pub(crate) fn serve(answer_ms: u64) {
    let url = loopback_model::serve(move |asked| {
        std::thread::sleep(Duration::from_millis(answer_ms));
        let calls = asked.contains(CALL_TOOLS) && !asked.contains("tool_result");
        if calls { tool_calls() } else { ONE_SENTENCE.to_owned() }
    });
    println!("{}", url.unwrap());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

/// An answer that calls the tools one after another.
fn tool_calls() -> String {
    let mut out = String::new();
    let mut event = |value: Value| out.push_str(&format!("data: {value}\n\n"));
    event(
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "t", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}}),
    );
    for index in 0..=CALLS {
        let name = if index == CALLS { "direct" } else { "noop" };
        let block =
            json!({"type": "tool_use", "id": format!("t{index}"), "name": name, "input": {}});
        event(json!({"type": "content_block_start", "index": index, "content_block": block}));
        event(json!({"type": "content_block_stop", "index": index}));
    }
    event(
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
        "usage": {"output_tokens": 5}}),
    );
    event(json!({"type": "message_stop"}));
    out
}
