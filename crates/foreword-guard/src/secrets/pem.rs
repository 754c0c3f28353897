//! Private keys in PEM: from their first line to their last, also where the line breaks are written
//! as `\n`, the lines are quoted, or the end never comes.

use crate::secrets::shapes::{Begins, begins};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END";
const DASHES: &[u8] = b"-----";
/// The minimum length of a data line, except the last.
const MIN_LINE: usize = 16;
/// The longest label of a first or last line.
const MAX_LABEL: usize = 64;
/// The most between two lines of data.
const MAX_GAP: usize = 64;
/// Fields such as `Proc-Type: 4,ENCRYPTED` between the first line and the data.
const FIELDS: [&str; 4] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:"];
const MAX_FIELD_BYTES: usize = 160;
const MAX_FIELDS: usize = 6;

/// Whether a text starts with a private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    No,
    More,
    /// At least this many bytes, the last in a data line.
    Yes {
        length: usize,
    },
}

/// How a private key goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// This many bytes, the last in a data line that may continue.
    On(usize),
    /// This many bytes; complete.
    Over(usize),
    More,
}

fn is_data(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Bytes of data at the start, at most `most`.
fn data(text: &[u8], most: usize) -> usize {
    text.iter().take(most).take_while(|b| is_data(**b)).count()
}

/// What may stand between lines: blanks, marks of quotes, and line breaks as they are or escaped. Where
/// it ends is not known while the text ends with it; nothing where it is too long.
fn gap(text: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        length += match text.get(length..).unwrap_or_default() {
            [b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'|', ..] => 1,
            [b'\\', b'n' | b'r', ..] => 2,
            // The other half of an escape may follow.
            [b'\\'] => return Some(length + 1),
            _ => return Some(length),
        };
        if length > MAX_GAP {
            return None;
        }
    }
}

fn rest(text: &[u8], from: usize) -> &[u8] {
    text.get(from..).unwrap_or_default()
}

/// Looks at a text that starts with `-----BEGIN `.
pub(crate) fn opening(text: &[u8], last: bool) -> Opening {
    let undecided = if last { Opening::No } else { Opening::More };
    let mut at = BEGIN.len();
    let is_label = |b: &&u8| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b' ';
    let label = rest(text, at).iter().take(MAX_LABEL + 1).take_while(is_label).count();
    if label > MAX_LABEL {
        return Opening::No;
    }
    let name = rest(text, at).get(..label).unwrap_or_default();
    at += label;
    match rest(text, at).get(..DASHES.len()) {
        None if rest(text, at).iter().all(|b| *b == b'-') => return undecided,
        Some(dashes) if dashes == DASHES => at += DASHES.len(),
        _ => return Opening::No,
    }
    if !name.windows(11).any(|words| words == b"PRIVATE KEY") {
        return Opening::No;
    }
    for _ in 0..=MAX_FIELDS {
        let Some(between) = gap(rest(text, at)) else { return Opening::No };
        at += between;
        let line = rest(text, at);
        if line.is_empty() {
            return undecided;
        }
        let mut field = Begins::No;
        for name in FIELDS {
            match begins(line, name, true, last) {
                Begins::No => {}
                found => field = found,
            }
        }
        match field {
            Begins::More => return Opening::More,
            Begins::Yes => {
                let is_in_line = |b: &&u8| !matches!(**b, b'\n' | b'\r' | b'\\');
                let length = line.iter().take(MAX_FIELD_BYTES).take_while(is_in_line).count();
                if length == line.len() {
                    return undecided;
                }
                at += length;
            }
            Begins::No => {
                let length = data(line, MIN_LINE);
                if length == MIN_LINE {
                    return Opening::Yes { length: at + length };
                }
                return if length == line.len() { undecided } else { Opening::No };
            }
        }
    }
    Opening::No
}

/// Goes on in a private key. `in_line` says that the text before ended in a line of data.
pub(crate) fn step(text: &[u8], in_line: bool, last: bool) -> Step {
    if in_line {
        let length = data(text, usize::MAX);
        if length > 0 {
            return Step::On(length);
        }
    }
    let undecided = |swallowed| if last { Step::Over(swallowed) } else { Step::More };
    let Some(before) = gap(text) else { return Step::Over(0) };
    let line = rest(text, before);
    if line.is_empty() {
        return undecided(0);
    }
    let length = data(line, MIN_LINE);
    if length == MIN_LINE {
        return Step::On(before + length);
    }
    // A short line is the last one, or none of the key.
    let mut at = before + length;
    if length > 0 {
        if at == text.len() {
            return undecided(at);
        }
        let Some(after) = gap(rest(text, at)) else { return Step::Over(0) };
        if at + after == text.len() {
            return undecided(at);
        }
        at += after;
    }
    match begins(rest(text, at), END, true, last) {
        Begins::No => Step::Over(0),
        Begins::More => Step::More,
        Begins::Yes => {
            at += END.len();
            let label = rest(text, at).iter().take(MAX_LABEL).take_while(|b| **b != b'-');
            let label = label.count();
            let closing = rest(text, at + label);
            let dashes = closing.iter().take(DASHES.len()).take_while(|b| **b == b'-').count();
            if dashes == closing.len() && dashes < DASHES.len() && !last {
                return Step::More;
            }
            // A last line that does not end as it should ends with its dashes.
            Step::Over(if dashes > 0 || closing.is_empty() { at + label + dashes } else { at })
        }
    }
}
