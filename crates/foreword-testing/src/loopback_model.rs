//! A model's server on loopback that answers every request with server-sent events.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// The events of an answer that says one sentence.
pub const ONE_SENTENCE: &str = concat!(
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

/// Serves until the process ends, on threads of its own. `answer` gets the body of a request and gives the
/// events. Returns the address.
pub fn serve(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || converse(stream, &*answer));
        }
    });
    Ok(url)
}

/// Answers the requests of one connection.
fn converse(stream: TcpStream, answer: &dyn Fn(&str) -> String) -> Option<()> {
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
        let body = answer(&String::from_utf8_lossy(&asked));
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length";
        write!(out, "{head}: {}\r\n\r\n{body}", body.len()).ok()?;
    }
}
