//! Markdown of the operator and the user: kept, but not let out of its place.

use super::tags::{Strictness, push_without_tags};
use super::{Fenced, lines, push_quoted, trim_blank_lines};
use crate::compile::titles::Titles;
use crate::fence::invisible::clean;

/// Writes text of the operator or the user with its markdown, except that
/// - a heading that reads as one of the prompt's own titles is escaped, under whatever markup,
/// - a line that reads as a change of speaker is escaped, and so are our own tags,
/// - a code fence left open is closed; where it is not certain that every block ends with the text,
///   a CommonMark parser decides, and text that would swallow what follows is quoted as a whole,
/// - its first line is not indented, so that it does not continue a list that stands above it.
pub(crate) fn document(out: &mut String, text: &str, titles: &Titles) -> Fenced {
    let (text, removed) = clean(text);
    let (text, skipped_lines) = trim_blank_lines(&text);
    let text = if text.starts_with([' ', '\t']) { text.trim_start() } else { text };
    let start = out.len();
    let blocks = push_document_lines(out, text, titles);
    let (mut quoted, mut added_lines) = (false, 0);
    if blocks.doubtful {
        let written = out.get(start..).unwrap_or_default();
        if !is_contained(written, titles) {
            out.truncate(start);
            push_quoted(out, text);
            quoted = true;
        }
    } else if let Some((mark, length)) = blocks.open_fence {
        out.push('\n');
        out.extend(std::iter::repeat_n(char::from(mark), length));
        added_lines = 1;
    }
    Fenced { removed, skipped_lines, quoted, added_lines, shortened: false }
}

/// What is known about the blocks of a document after its last line.
#[derive(Default)]
struct Blocks {
    /// A code fence that started at the margin and has not ended.
    open_fence: Option<(u8, usize)>,
    /// Something stood in the text that only a parser can judge.
    doubtful: bool,
}

fn push_document_lines(out: &mut String, text: &str, titles: &Titles) -> Blocks {
    out.reserve(text.len() + 8);
    let has_tags = memchr::memchr(b'<', text.as_bytes()).is_some();
    let mut blocks = Blocks::default();
    let mut copied = 0;
    let mut at = 0;
    for line in lines(text) {
        let indent = line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let body = line.get(indent..).unwrap_or_default();
        let escape = match body.as_bytes().first() {
            Some(b'#') if is_title(body, titles) => Some(0),
            Some(b'#') => {
                // A link may be defined elsewhere in the text.
                blocks.doubtful |= memchr::memchr(b'[', body.as_bytes()).is_some();
                None
            }
            Some(b'=' | b'-') if is_underline(body) => {
                let above = title_above(text.get(..at).unwrap_or_default(), titles);
                blocks.doubtful |= above.is_none();
                (above == Some(true)).then_some(0)
            }
            Some(mark @ (b'`' | b'~')) => {
                blocks.note_fence(*mark, body, indent);
                None
            }
            Some(b'<') => {
                blocks.doubtful = true;
                None
            }
            Some(b'a'..=b'z' | b'A'..=b'Z') => role_colon(body),
            _ => None,
        };
        if let Some(offset) = escape {
            let place = at + indent + offset;
            push_checked(out, text.get(copied..place).unwrap_or_default(), has_tags);
            out.push('\\');
            copied = place;
        }
        at += line.len() + 1;
    }
    push_checked(out, text.get(copied..).unwrap_or_default(), has_tags);
    blocks
}

/// Does a `#` heading read as one of the prompt's own titles, as it is written or as it is shown?
fn is_title(body: &str, titles: &Titles) -> bool {
    titles.contains(body)
        || (memchr::memchr3(b'&', b'<', b'[', body.as_bytes()).is_some()
            && top_level_headings(body).iter().any(|(_, text)| titles.contains(text)))
}

/// Would an underline here make one of the prompt's own titles of the lines above it? Nothing where
/// only a parser can tell.
fn title_above(above: &str, titles: &Titles) -> Option<bool> {
    const MAX_LINES: usize = 16;
    let above = above.strip_suffix('\n').unwrap_or(above);
    let mut from = above.len() + 1;
    for line in above.rsplit('\n').take(MAX_LINES) {
        if line.trim().is_empty() {
            return Some(false);
        }
        if line.contains(['&', '<', '[']) {
            return None;
        }
        from -= line.len() + 1;
        if above.get(from..).is_some_and(|lines| titles.contains(lines)) {
            return Some(true);
        }
    }
    if from == 0 { Some(false) } else { None }
}

fn push_checked(out: &mut String, text: &str, has_tags: bool) {
    if has_tags {
        push_without_tags(out, text, Strictness::Document);
    } else {
        out.push_str(text);
    }
}

fn is_underline(body: &str) -> bool {
    let body = body.trim_end();
    body.bytes().all(|b| b == b'=') || body.bytes().all(|b| b == b'-')
}

/// The place of the colon in `System:` and the like.
fn role_colon(body: &str) -> Option<usize> {
    let role = match body.as_bytes().first()?.to_ascii_lowercase() {
        b's' => "system",
        b'h' => "human",
        b'u' => "user",
        b'a' => "assistant",
        b'd' => "developer",
        _ => return None,
    };
    let (start, rest) = body.split_at_checked(role.len())?;
    if !start.eq_ignore_ascii_case(role) {
        return None;
    }
    let gap = rest.len() - rest.trim_start().len();
    rest.trim_start().starts_with([':', '：']).then_some(role.len() + gap)
}

impl Blocks {
    /// Follows code fences at the margin; one that is indented may belong to a list, which only a
    /// parser can tell.
    fn note_fence(&mut self, mark: u8, body: &str, indent: usize) {
        let length = body.bytes().take_while(|&b| b == mark).count();
        if length < 3 {
            return;
        }
        if indent > 0 {
            self.doubtful |= indent < 4;
            return;
        }
        let info = body.get(length..).unwrap_or_default();
        match self.open_fence {
            Some((open, least)) if open == mark && length >= least && info.trim().is_empty() => {
                self.open_fence = None;
            }
            Some(_) => {}
            None if mark == b'`' && info.contains('`') => {}
            None => self.open_fence = Some((mark, length)),
        }
    }
}

/// Does every block end with this text, so that a heading after it stands at the top level, and is no
/// heading in it one of the prompt's own titles?
fn is_contained(text: &str, titles: &Titles) -> bool {
    let headings = top_level_headings(&format!("{text}\n\n# end\n"));
    let Some((last, own)) = headings.split_last() else { return false };
    last.0 == text.len() + 2 && own.iter().all(|(_, heading)| !titles.contains(heading))
}

/// The headings that stand in no list, quote or other block: where they start and the text they show.
fn top_level_headings(text: &str) -> Vec<(usize, String)> {
    use pulldown_cmark::{Event, Parser, Tag};
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut depth = 0usize;
    let mut inside = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    inside = matches!(tag, Tag::Heading { .. });
                    if inside {
                        headings.push((range.start, String::new()));
                    }
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(shown) | Event::Code(shown) if inside && depth > 0 => {
                if let Some((_, heading)) = headings.last_mut() {
                    heading.push_str(&shown);
                }
            }
            _ => {}
        }
    }
    headings
}
