//! Shortening a large tool result: what stays of it, and how to read the rest.
//!
//! The host shortens results of old turns, and the native loop those of its own turn. Both give the same
//! text, so that a turn's messages keep their bytes when they become history, and the host knows a
//! shortened result again as one that it has counted.

use foreword::estimate;
use serde_json::json;

/// Results with more tokens are shortened.
const MAX_TOKENS: u32 = 400;
/// Bytes of a shortened result that stay.
const KEPT_BYTES: usize = 800;
/// The last line of a result stays if it is this short: it may close a frame.
const MAX_LAST_LINE: usize = 200;

/// What the note and the last line take at most.
const NOTE_TOKENS: u64 = 120;

/// Whether the agent has `result_read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It can read shortened results again.
    Offered,
    /// It cannot.
    NotOffered,
}

/// The beginning of a large result, its last line if that is short, and how to read the rest; `None` if it
/// is not large.
pub fn shorten_result(turn: u64, id: &str, content: &str, reading: Reading) -> Option<String> {
    shorten_result_to(turn, id, content, reading, 0)
}

/// The same with more of its beginning, as far as there is room for these tokens.
pub fn shorten_result_to(
    turn: u64,
    id: &str,
    content: &str,
    reading: Reading,
    room: u64,
) -> Option<String> {
    let tokens = estimate(content);
    if tokens <= MAX_TOKENS {
        return None;
    }
    let share = room.saturating_sub(NOTE_TOKENS).saturating_mul(content.len() as u64)
        / u64::from(tokens.max(1));
    let kept = usize::try_from(share).unwrap_or(usize::MAX).max(KEPT_BYTES);
    let start = content.get(..content.floor_char_boundary(kept)).unwrap_or_default();
    // Whole lines, unless they are so long that little would be left.
    let start = match start.rsplit_once('\n') {
        Some((whole, _)) if whole.len() >= start.len() / 2 => whole,
        _ => start,
    };
    let last = content.trim_end().rsplit_once('\n').map_or("", |(_, last)| last);
    let last = if last.len() <= MAX_LAST_LINE { last } else { "" };
    let rest = tokens.saturating_sub(estimate(start));
    let again = again(turn, id, reading);
    Some(format!("{start}\n{last}\n[Foreword: shortened by about {rest} tokens.{again}]"))
}

/// What stands for a result of which nothing stays.
pub fn left_out_note(turn: u64, id: &str, reading: Reading) -> String {
    format!("[Foreword: this result is left out here.{}]", again(turn, id, reading))
}

fn again(turn: u64, id: &str, reading: Reading) -> String {
    match reading {
        Reading::Offered => {
            let arguments = json!({ "turn": turn, "id": id });
            format!(" Call result_read with {arguments} to read all of it.")
        }
        Reading::NotOffered => String::new(),
    }
}
