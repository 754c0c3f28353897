//! Reading the job from standard input.

use std::io::Read;

use foreword_protocol::Job;
use serde_json::Value;

use crate::error::AgentError;

/// The most bytes of a job: a conversation, and everything the prompt is made of.
pub const MAX_JOB_BYTES: usize = 64 << 20;

/// Reads a job: one JSON object on one line, or all there is.
pub(crate) fn read(input: impl Read) -> Result<Job, AgentError> {
    let wrong = |message: String| AgentError::Job(message);
    let mut bytes = Vec::new();
    let mut input = input.take(MAX_JOB_BYTES as u64 + 1);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(wrong(format!("cannot read the job: {error}"))),
        };
        let piece = buffer.get(..read).unwrap_or_default();
        // The host may keep the stream open: a job ends with its line.
        if let Some(end) = piece.iter().position(|byte| *byte == b'\n') {
            bytes.extend_from_slice(piece.get(..end).unwrap_or_default());
            break;
        }
        bytes.extend_from_slice(piece);
        if bytes.len() > MAX_JOB_BYTES {
            return Err(wrong(format!("the job is larger than {MAX_JOB_BYTES} bytes")));
        }
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|_| wrong("standard input is not UTF-8".to_owned()))?;
    parse(text)
}

fn parse(text: &str) -> Result<Job, AgentError> {
    let job: Job = serde_json::from_str(text).map_err(|error| {
        AgentError::Job(match serde_json::from_str::<Value>(text) {
            _ if text.trim().is_empty() => "standard input is empty".to_owned(),
            Err(_) => format!(
                "standard input is not a job in JSON ({error}); start an agent with `foreword run MESSAGE`"
            ),
            Ok(Value::Object(fields)) if fields.contains_key("context") => {
                format!("invalid job: {error}")
            }
            Ok(Value::Object(fields)) if fields.contains_key("message") => {
                "the payload has no `context`, as from an older host; use a host of the same version".to_owned()
            }
            Ok(_) => format!(
                "standard input is not a job ({error}); start an agent with `foreword run MESSAGE`"
            ),
        })
    })?;
    job.context.validate().map_err(|error| AgentError::Job(error.to_string()))?;
    Ok(job)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(input: &[u8]) -> String {
        read(input).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_job_is_explained() {
        for (input, expected) in [
            ("", "is empty"),
            ("  \n{", "is empty"),
            ("hello", "not a job in JSON"),
            ("[1]", "is not a job"),
            (r#"{"message":"hi","history":[],"taintRatio":0}"#, "older host"),
            (r#"{"message":"hi","context":{}}"#, "invalid job: missing field"),
            (r#"{"message":"hi","context":{},"#, "not a job in JSON"),
        ] {
            let error = error(input.as_bytes());
            assert!(error.contains(expected), "{input}: {error}");
        }
        assert!(error(b"\xff\xff").contains("not UTF-8"));
    }

    #[test]
    fn a_job_without_end_is_refused() {
        let endless = std::io::repeat(b' ');
        assert!(read(endless).unwrap_err().to_string().contains("larger than"));
    }
}
