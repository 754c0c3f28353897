//! What a text says once its disguises are taken off.
//!
//! Two kinds of disguise: spellings (entities, percent signs, escapes, split strings, quotes inside
//! words), which are taken off within the unit, and payloads (base64, hexadecimal), which become
//! texts of their own.

mod escapes;
mod payload;
mod splice;

pub(crate) use payload::payloads;

/// How often a spelling is taken off before we give up looking for the next.
const MAX_DEPTH: usize = 3;

/// The unit without its disguises, if it wore any.
pub(crate) fn undisguised(unit: &str, is_code: bool) -> Option<String> {
    if !may_be_disguised(unit.as_bytes()) {
        return None;
    }
    let mut text: Option<String> = None;
    for _ in 0..MAX_DEPTH {
        let current = text.as_deref().unwrap_or(unit);
        let Some(next) = once(current, is_code) else { break };
        text = Some(next);
    }
    text
}

fn once(text: &str, is_code: bool) -> Option<String> {
    let mut out = escapes::decode(text);
    if let Some(spliced) = splice::join(out.as_deref().unwrap_or(text), is_code) {
        out = Some(spliced);
    }
    out.filter(|t| t != text)
}

/// A cheap look for the bytes with which every disguise is made: an escape, a joint, or a call that
/// makes characters out of numbers.
fn may_be_disguised(unit: &[u8]) -> bool {
    let mut before = 0;
    for &byte in unit {
        let joint = matches!(before, b'"' | b'\'' | b'`');
        let odd = match byte {
            b'%' | b'&' | b'\\' | b'^' | b'[' => true,
            b'(' => matches!(before, b'r' | b'R' | b'e' | b'E'),
            b'"' | b'\'' | b'+' | b'.' | b',' | b' ' => joint,
            b'@' | b'{' | b'*' => before == b'$',
            b'`' => before.is_ascii_alphanumeric(),
            _ => false,
        };
        if odd {
            return true;
        }
        before = byte;
    }
    false
}
