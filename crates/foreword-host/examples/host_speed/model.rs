//! A model that says one sentence or calls the tools, in a process of its own so that its memory is not taken for
//! the host's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, answer_ms));
        }
    });
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

fn answer(stream: TcpStream, answer_ms: u64) -> Option<()> {
    const BODY: &str = concat!(
        r#"data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"t","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}"#,
        "\n\n",
        r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        "\n\n",
        r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Nothing is on today."}}"#,
        "\n\n",
        r#"data: {"type":"content_block_stop","index":0}"#,
        "\n\n",
        r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}"#,
        "\n\n",
        r#"data: {"type":"message_stop"}"#,
        "\n\n",
    );
    stream.set_nodelay(true).ok()?;
    let mut out = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut asked = vec![0; length];
        reader.read_exact(&mut asked).ok()?;
        let asked = String::from_utf8_lossy(&asked);
        let calls = asked.contains(CALL_TOOLS) && !asked.contains("tool_result");
        let body = if calls { tool_calls() } else { BODY.to_owned() };
        std::thread::sleep(Duration::from_millis(answer_ms));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length";
        write!(out, "{head}: {}\r\n\r\n{body}", body.len()).ok()?;
    }
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
