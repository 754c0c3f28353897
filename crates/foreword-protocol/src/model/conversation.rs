//! A conversation brought into the order that providers insist on: roles take turns, the person
//! begins, and every tool call is followed by exactly one result.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::model::message::{Block, Content, Message, Role};

/// Stands where the beginning of a conversation is missing.
const LEFT_OUT: &str = "[The beginning of this conversation was left out.]";
/// Stands for a result whose call is gone.
const ORPHAN: &str =
    "[The result of an earlier tool call was left out: the call is no longer in the conversation.]";
/// The result of a call that has none.
const NO_RESULT: &str = "This tool was not run: the turn ended before it.";

/// A part of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part<'a> {
    /// A text, never blank.
    Text(&'a str),
    /// A call of a tool.
    Call { id: &'a str, name: &'a str, input: &'a Value },
    /// Its result.
    Result { id: &'a str, content: &'a str, is_error: bool },
}

/// What one side says before the other does. Results come before texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Turn<'a> {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part<'a>>,
}

/// The conversation in turns, with the turn context in front of the newest thing the person said.
/// The number is that of the turn it stands in: what is before it stays the same in the next turn.
pub(crate) fn turns<'a>(
    messages: &'a [Message],
    turn_context: &'a str,
) -> (Vec<Turn<'a>>, Option<usize>) {
    let newest = messages.iter().rposition(|message| message.role == Role::User && speaks(message));
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len() + 1);
    let mut person = None;
    for (index, message) in messages.iter().enumerate() {
        let mut context =
            Some(turn_context).filter(|text| !is_blank(text) && newest == Some(index));
        let mut parts = Vec::new();
        for part in parts_of(message) {
            if matches!(part, Part::Text(_))
                && let Some(context) = context.take()
            {
                parts.push(Part::Text(context));
            }
            parts.push(part);
        }
        if parts.is_empty() {
            continue;
        }
        push(&mut turns, message.role, parts);
        if newest == Some(index) {
            person = Some(turns.len() - 1);
        }
    }
    if turns.first().is_none_or(|turn| turn.role == Role::Assistant) {
        turns.insert(0, Turn { role: Role::User, parts: vec![Part::Text(LEFT_OUT)] });
        person = person.map(|person| person + 1);
    }
    if person.is_none() && !is_blank(turn_context) {
        push(&mut turns, Role::User, vec![Part::Text(turn_context)]);
        person = Some(turns.len() - 1);
    }
    // Only the results of a last call make a turn of their own, behind everything.
    pair(&mut turns);
    (turns, person)
}

fn push<'a>(turns: &mut Vec<Turn<'a>>, role: Role, parts: Vec<Part<'a>>) {
    match turns.last_mut() {
        Some(last) if last.role == role => last.parts.extend(parts),
        _ => turns.push(Turn { role, parts }),
    }
}

/// Gives every call one result, in the order of the calls, and takes away results without a call.
fn pair(turns: &mut Vec<Turn<'_>>) {
    let mut calls: Vec<&str> = Vec::new();
    let mut seen = BTreeSet::new();
    for turn in turns.iter_mut() {
        match turn.role {
            Role::Assistant => {
                // A call and its result are named by one id, once in a conversation.
                turn.parts.retain(|part| match part {
                    Part::Call { id, .. } => seen.insert(*id),
                    Part::Text(_) => true,
                    Part::Result { .. } => false,
                });
                calls = calls_of(turn);
            }
            Role::User => {
                let mut results = BTreeMap::new();
                for part in &turn.parts {
                    if let Part::Result { id, .. } = part {
                        results.entry(*id).or_insert(*part);
                    }
                }
                let mut parts: Vec<Part<'_>> =
                    calls.drain(..).map(|id| results.remove(id).unwrap_or(no_result(id))).collect();
                if !results.is_empty() {
                    parts.push(Part::Text(ORPHAN));
                }
                parts.extend(turn.parts.iter().filter(|part| matches!(part, Part::Text(_))));
                turn.parts = parts;
            }
        }
    }
    if !calls.is_empty() {
        turns.push(Turn { role: Role::User, parts: calls.into_iter().map(no_result).collect() });
    }
    // A turn can be empty now only if it held nothing but misplaced parts.
    for turn in turns.iter_mut().filter(|turn| turn.parts.is_empty()) {
        turn.parts.push(Part::Text(ORPHAN));
    }
}

fn calls_of<'a>(turn: &Turn<'a>) -> Vec<&'a str> {
    turn.parts
        .iter()
        .filter_map(|part| match part {
            Part::Call { id, .. } => Some(*id),
            _ => None,
        })
        .collect()
}

fn no_result(id: &str) -> Part<'_> {
    Part::Result { id, content: NO_RESULT, is_error: true }
}

fn speaks(message: &Message) -> bool {
    parts_of(message).any(|part| matches!(part, Part::Text(_)))
}

fn parts_of(message: &Message) -> impl Iterator<Item = Part<'_>> {
    let (text, blocks) = match &message.content {
        Content::Text(text) => (Some(text.as_str()), [].as_slice()),
        Content::Blocks(blocks) => (None, blocks.as_slice()),
    };
    let blocks = blocks.iter().map(|block| match block {
        Block::Text { text } => Part::Text(text),
        Block::ToolUse { id, name, input } => Part::Call { id, name, input },
        Block::ToolResult { tool_use_id, content, is_error } => {
            Part::Result { id: tool_use_id, content, is_error: *is_error }
        }
    });
    text.map(Part::Text).into_iter().chain(blocks).filter(|part| match part {
        // Providers refuse texts without a visible character.
        Part::Text(text) => !is_blank(text),
        Part::Call { .. } | Part::Result { .. } => true,
    })
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Block {
        Block::ToolUse { id: id.into(), name: "read".into(), input: json!({}) }
    }

    fn result(id: &str) -> Block {
        Block::ToolResult { tool_use_id: id.into(), content: "done".into(), is_error: false }
    }

    fn blocks(role: Role, blocks: Vec<Block>) -> Message {
        Message { role, content: Content::Blocks(blocks) }
    }

    #[test]
    fn the_context_stays_with_the_person_while_tools_run() {
        let messages = [
            Message::user("first"),
            Message::assistant("yes"),
            Message::user("second"),
            blocks(Role::Assistant, vec![call("a"), call("b")]),
            blocks(Role::User, vec![result("b"), result("a")]),
        ];
        let (turns, person) = turns(&messages, "CONTEXT");
        assert_eq!(person, Some(2));
        assert_eq!(turns[2].parts, [Part::Text("CONTEXT"), Part::Text("second")]);
        let ids: Vec<_> = turns[4]
            .parts
            .iter()
            .map(|part| if let Part::Result { id, .. } = part { *id } else { "text" })
            .collect();
        assert_eq!(ids, ["a", "b"], "results follow the order of the calls");
    }

    #[test]
    fn roles_take_turns_and_results_have_calls() {
        let messages = [
            Message::assistant("I begin"),
            blocks(Role::User, vec![result("gone")]),
            Message::user("one"),
            Message::user(" \n"),
            Message::user("two"),
            blocks(Role::Assistant, vec![call("x")]),
        ];
        let (turns, person) = turns(&messages, "");
        let roles: Vec<_> = turns.iter().map(|turn| turn.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::User, Role::Assistant, Role::User]);
        assert_eq!(person, Some(2));
        assert_eq!(turns[2].parts, [Part::Text(ORPHAN), Part::Text("one"), Part::Text("two")]);
        assert_eq!(turns[4].parts, [Part::Result { id: "x", content: NO_RESULT, is_error: true }]);
    }

    #[test]
    fn a_call_made_twice_is_made_once() {
        let messages = [
            Message::user("go"),
            blocks(Role::Assistant, vec![call("x"), call("x")]),
            blocks(Role::User, vec![result("x"), result("x")]),
        ];
        let (turns, _) = turns(&messages, "");
        assert_eq!(turns[1].parts.len(), 1);
        assert_eq!(turns[2].parts.len(), 1);
    }

    #[test]
    fn nothing_said_is_still_a_conversation() {
        let (turns, person) = turns(&[], "CONTEXT");
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0].parts, [Part::Text(LEFT_OUT), Part::Text("CONTEXT")]);
        assert_eq!(person, Some(0));
    }
}
