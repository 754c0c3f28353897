//! One line from an agent, read strictly.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::actions::action::{Action, ActionInfo, actions};
use crate::wire::reply::{ErrorCode, Failure};

/// Names longer than this are not repeated in messages.
const MAX_NAME_CHARS: usize = 64;
/// What a reader says about a fault is cut here: it repeats what it read.
const MAX_FAULT_CHARS: usize = 300;

/// A call: a number that grows, the session's token, and what is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Grows from call to call on a connection; an id that was used is refused.
    pub id: u64,
    /// The session's token.
    pub token: String,
    /// What is asked for.
    pub action: Action,
}

/// A line that is no call. `id` is there if it could be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct CallError {
    /// The call it would have been.
    pub id: Option<u64>,
    /// What kind of fault.
    pub code: ErrorCode,
    /// What is wrong, and what to do.
    pub message: String,
}

/// A line that is no call, with the token it carried: whoever has no token is told nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// What is wrong.
    pub error: CallError,
    /// The token, if one could be read.
    pub token: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    id: u64,
    token: String,
    action: String,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Written<'a> {
    id: u64,
    token: &'a str,
    action: &'a str,
    args: &'a RawValue,
}

impl Call {
    /// Reads a line.
    pub fn parse(line: &[u8]) -> Result<Self, CallError> {
        Self::parse_with_token(line).map_err(|rejected| rejected.error)
    }

    /// As [`Call::parse`]; a fault comes with the token of the line.
    pub fn parse_with_token(line: &[u8]) -> Result<Self, Rejected> {
        let fault = |id, code, message: String| CallError { id, code, message };
        let text = std::str::from_utf8(line).map_err(|_| Rejected {
            error: fault(None, ErrorCode::BadRequest, "the line is not UTF-8".to_owned()),
            token: None,
        })?;
        let no_call = |error: String| Rejected {
            error: fault(
                None,
                ErrorCode::BadRequest,
                format!("not a call of the form {{id, token, action, args}}: {error}"),
            ),
            token: None,
        };
        if !is_object(text) {
            return Err(no_call("it is not a JSON object".to_owned()));
        }
        let envelope: Envelope<'_> =
            serde_json::from_str(text).map_err(|error| no_call(fault_of(&error)))?;
        let Envelope { id, token, action: name, args } = envelope;
        let nothing;
        let args = match args {
            Some(args) => args,
            None => {
                nothing = RawValue::from_string("{}".to_owned()).unwrap_or_default();
                &nothing
            }
        };
        let read = Action::read(&name, args).map(|read| {
            read.map_err(|error| fault_of(&error)).and_then(|action| {
                if is_object(args.get()) { Ok(action) } else { Err("not a JSON object".to_owned()) }
            })
        });
        match read {
            Some(Ok(action)) => Ok(Self { id, token, action }),
            Some(Err(error)) => Err(Rejected {
                error: fault(
                    Some(id),
                    ErrorCode::BadRequest,
                    format!("invalid call to `{name}`: {error}"),
                ),
                token: Some(token),
            }),
            None => Err(Rejected {
                error: fault(Some(id), ErrorCode::UnknownAction, unknown(&name)),
                token: Some(token),
            }),
        }
    }

    /// The token of a line of which only the beginning is here, if it is written as [`Call::line`]
    /// writes it: behind the id, before all that may be long.
    pub fn token_at_start(line: &[u8]) -> Option<&[u8]> {
        let rest = line.strip_prefix(b"{\"id\":")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = rest.get(digits..)?.strip_prefix(b",\"token\":\"")?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        rest.get(..end)
    }

    /// The line, without its line break.
    pub fn line(&self) -> serde_json::Result<String> {
        let args = self.action.args()?;
        let (action, token) = (self.action.name(), self.token.as_str());
        serde_json::to_string(&Written { id: self.id, token, action, args: &args })
    }
}

impl Action {
    /// The action that a tool of an agent stands for: tool and action have the same name.
    pub fn from_tool(name: &str, input: &Value) -> Result<Self, Failure> {
        if ActionInfo::tool(name).is_none() {
            return Err(Failure::new(ErrorCode::UnknownAction, unknown(name)));
        }
        let wrong = |error: String| {
            let message = format!("invalid call to `{name}`: {error}");
            Failure::new(ErrorCode::BadRequest, message)
        };
        if !input.is_object() {
            return Err(wrong("the input is not a JSON object".to_owned()));
        }
        let input =
            serde_json::value::to_raw_value(input).map_err(|error| wrong(fault_of(&error)))?;
        match Self::read(name, &input) {
            Some(read) => read.map_err(|error| {
                // A model wrote no lines and columns.
                let fault = fault_of(&error);
                let fault = fault.rsplit_once(" at line ").map_or(fault.as_str(), |(what, _)| what);
                wrong(fault.to_owned())
            }),
            None => Err(Failure::new(ErrorCode::UnknownAction, unknown(name))),
        }
    }
}

fn fault_of(error: &serde_json::Error) -> String {
    let mut fault = error.to_string();
    if let Some((end, _)) = fault.char_indices().nth(MAX_FAULT_CHARS) {
        fault.truncate(end);
        fault.push('…');
    }
    fault
}

/// Lists would be taken for objects otherwise, field by field.
fn is_object(json: &str) -> bool {
    json.trim_ascii_start().starts_with('{')
}

fn unknown(name: &str) -> String {
    let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
    match foreword::nearest(&shown, actions().iter().map(|action| action.name)) {
        Some(near) => format!("there is no action `{shown}`; did you mean `{near}`?"),
        None => format!("there is no action `{shown}`; `foreword schema` lists them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Option<u64>, ErrorCode) {
        let error = Call::parse(line.as_bytes()).unwrap_err();
        (error.id, error.code)
    }

    #[test]
    fn a_call_comes_back_as_it_was_written() {
        let line = r#"{"id":7,"token":"t","action":"model_call","args":{"path":"/v1/messages","body":{"b": 1,"a":[ ]}}}"#;
        let call = Call::parse(line.as_bytes()).unwrap();
        assert_eq!(call.line().unwrap(), line);
    }

    #[test]
    fn the_token_is_read_before_the_rest() {
        let action = Action::ModelCall(crate::ModelCall::new("/", "{}".to_owned()).unwrap());
        let line = Call { id: 12, token: "t0ken".into(), action }.line().unwrap();
        let start = line.as_bytes().get(..27).unwrap();
        assert_eq!(Call::token_at_start(start), Some(&b"t0ken"[..]));
        for other in ["", "{", "{\"id\":1,\"token\":\"t", "{\"action\":\"x\",\"token\":\"t\"}"] {
            assert_eq!(Call::token_at_start(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn arguments_may_be_missing_where_there_are_none() {
        let call = Call::parse(br#"{"id":1,"token":"t","action":"skill_list"}"#).unwrap();
        assert_eq!(call.action.name(), "skill_list");
        let missing = r#"{"id":1,"token":"t","action":"skill_read"}"#;
        assert_eq!(code(missing), (Some(1), ErrorCode::BadRequest));
    }

    #[test]
    fn what_nobody_knows_is_refused() {
        for (line, expected) in [
            (
                r#"{"id":1,"token":"t","action":"skill_list","more":1}"#,
                (None, ErrorCode::BadRequest),
            ),
            (
                r#"{"id":1,"token":"t","action":"skill_list","args":{"x":1}}"#,
                (Some(1), ErrorCode::BadRequest),
            ),
            (r#"{"id":1,"token":"t","action":"skil_list"}"#, (Some(1), ErrorCode::UnknownAction)),
            (r#"{"id":-1,"token":"t","action":"skill_list"}"#, (None, ErrorCode::BadRequest)),
            (r#"[1,"t","skill_list",{}]"#, (None, ErrorCode::BadRequest)),
            ("", (None, ErrorCode::BadRequest)),
            ("\u{0}", (None, ErrorCode::BadRequest)),
        ] {
            assert_eq!(code(line), expected, "{line}");
        }
        assert!(Call::parse(b"\xff\xfe").is_err());
    }

    #[test]
    fn a_tool_is_the_action_of_its_name() {
        use serde_json::json;

        let action = Action::from_tool("skill_read", &json!({"name": "tea"})).unwrap();
        assert!(matches!(action, Action::SkillRead(args) if args.name == "tea"));
        for (name, input, code) in [
            ("skill_read", json!({"name": "tea", "more": 1}), ErrorCode::BadRequest),
            ("skill_read", json!(["tea"]), ErrorCode::BadRequest),
            ("skill_list", json!("{"), ErrorCode::BadRequest),
            ("model_call", json!({"path": "/", "body": {}}), ErrorCode::UnknownAction),
            ("rm", json!({}), ErrorCode::UnknownAction),
        ] {
            assert_eq!(Action::from_tool(name, &input).unwrap_err().code, code, "{name}");
        }
    }

    #[test]
    fn a_model_call_is_one_line() {
        let body = "{\n \"a\":\r\n \"x\\ny\"}".to_owned();
        let action = Action::ModelCall(crate::ModelCall::new("/v1/messages", body).unwrap());
        let line = Call { id: 1, token: "t".into(), action }.line().unwrap();
        assert!(!line.contains(['\n', '\r']) && line.contains("\"x\\ny\""));
        assert!(crate::ModelCall::new("/", "{".to_owned()).is_err());
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        let error = Call::parse(br#"{"id":1,"token":"t","action":"skil_list"}"#).unwrap_err();
        assert_eq!(error.to_string(), "there is no action `skil_list`; did you mean `skill_list`?");
    }
}
