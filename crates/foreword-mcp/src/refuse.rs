//! Answering a client whose server cannot start, so that the person learns why.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::{Value, json};

/// The longest message that is answered; longer ones are skipped.
const MAX_MESSAGE_BYTES: u64 = 4 << 20;
/// A server error of JSON-RPC.
const CODE: i32 = -32_000;

/// Answers every request at standard input with an error, until the client closes it.
///
/// A client shows the error of its first request; a server that only ended would look like a crash.
pub fn refuse_stdio(message: &str) -> io::Result<()> {
    refuse(io::stdin().lock(), io::stdout().lock(), message)
}

fn refuse(mut input: impl BufRead, mut output: impl Write, message: &str) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if !line.ends_with(b"\n") && line.len() as u64 == MAX_MESSAGE_BYTES {
            input.skip_until(b'\n')?;
            continue;
        }
        let request: Value = serde_json::from_slice(&line).unwrap_or_default();
        // A notification has no id and gets no answer.
        let Some(id) = request.get("id").filter(|id| id.is_string() || id.is_number()) else {
            continue;
        };
        let error = json!({"code": CODE, "message": message});
        let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
        if writeln!(output, "{answer}").and_then(|()| output.flush()).is_err() {
            // The client went away.
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_gets_the_reason_and_nothing_else_does() {
        let asked = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n\
                     {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
                     no json\n[1]\n{\"id\":{}}\n{\"id\":\"b\",\"method\":\"tools/list\"}";
        let mut said = Vec::new();
        refuse(asked.as_bytes(), &mut said, "run `foreword trust`").unwrap();
        let said: Vec<Value> = String::from_utf8(said)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(said.len(), 2);
        assert_eq!((&said[0]["id"], &said[1]["id"]), (&json!(1), &json!("b")));
        assert_eq!(said[0]["error"]["message"], "run `foreword trust`");
    }
}
