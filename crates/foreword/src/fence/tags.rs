//! Tags and markers that stand for structure, and how they are broken: `<` becomes `&lt;`.

/// Tags of our own fences. No text of any authority may write one.
const OWN_TAGS: [&str; 2] = ["untrusted_context", "external_content"];

/// Tags that models read as a change of speaker, broken in untrusted text.
const SPEAKER_TAGS: [&str; 13] = [
    "system",
    "user",
    "assistant",
    "human",
    "developer",
    "sys",
    "instructions",
    "system_prompt",
    "system_reminder",
    "function_calls",
    "tool_result",
    "start_of_turn",
    "end_of_turn",
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Our own tags and special tokens only.
    Document,
    /// Also every closing tag, comments, and tags and markers that change the speaker.
    Untrusted,
}

/// Writes a line with the tags broken that it may not contain: `<` becomes `&lt;`, `[` becomes `&#91;`.
/// A backslash would not do: the marker after it would still be whole.
pub(super) fn push_without_tags(out: &mut String, line: &str, strictness: Strictness) {
    let bytes = line.as_bytes();
    let mut copied = 0;
    let mut from = 0;
    while let Some(offset) = memchr::memchr2(b'<', b'[', bytes.get(from..).unwrap_or_default()) {
        let at = from + offset;
        from = at + 1;
        let rest = line.get(from..).unwrap_or_default();
        let escape = if bytes.get(at) == Some(&b'<') {
            if !is_forbidden_tag(rest, strictness) {
                continue;
            }
            "&lt;"
        } else {
            if strictness == Strictness::Document || !is_instruction_marker(rest) {
                continue;
            }
            "&#91;"
        };
        out.push_str(line.get(copied..at).unwrap_or_default());
        out.push_str(escape);
        copied = from;
    }
    out.push_str(line.get(copied..).unwrap_or_default());
}

/// `rest` is what follows a `<`.
fn is_forbidden_tag(rest: &str, strictness: Strictness) -> bool {
    let untrusted = strictness == Strictness::Untrusted;
    // `<|im_start|>`, and the full-width bars of some models.
    if let Some(token) = rest.strip_prefix(['|', '｜']) {
        return token.starts_with(|c: char| c.is_alphabetic() || c == '_');
    }
    let name = rest.trim_start();
    let closing = name.starts_with('/');
    if untrusted && (closing || rest.starts_with(['!', '?'])) {
        return true;
    }
    let name = name.trim_start_matches(['/', ' ', '\t']);
    let mut folded = [0u8; 24];
    let mut length = 0;
    for b in name.bytes() {
        let b = match b {
            // However many stand between two words, they are read as one.
            b'-' | b' ' | b'\t' | b'_' if length > 0 => {
                if folded.get(length - 1) == Some(&b'_') {
                    continue;
                }
                b'_'
            }
            b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => b.to_ascii_lowercase(),
            _ => break,
        };
        let Some(slot) = folded.get_mut(length) else { break };
        *slot = b;
        length += 1;
    }
    let folded = folded.get(..length).unwrap_or_default();
    let is = |tags: &[&str]| tags.iter().any(|tag| starts_with_word(folded, tag.as_bytes()));
    is(&OWN_TAGS) || (untrusted && is(&SPEAKER_TAGS))
}

fn starts_with_word(text: &[u8], word: &[u8]) -> bool {
    text.strip_prefix(word).is_some_and(|rest| rest.first().is_none_or(|&b| b == b'_'))
}

/// `rest` is what follows a `[`.
fn is_instruction_marker(rest: &str) -> bool {
    let name = rest.strip_prefix('/').unwrap_or(rest);
    name.as_bytes().get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"INST]"))
}
