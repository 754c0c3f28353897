//! Classifies a line of markdown.

/// How a fence was opened, and so what closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FenceMark {
    mark: u8,
    length: usize,
}

impl FenceMark {
    pub(crate) fn is_closed_by(self, line: &str) -> bool {
        let trimmed = line.trim();
        trimmed.len() >= self.length && trimmed.bytes().all(|b| b == self.mark)
    }

    /// The first word of the info string: `bash` in `- ``` bash title=x` and in `~~~ {.bash}`.
    pub(crate) fn language(self, line: &str) -> &str {
        let mark = char::from(self.mark);
        let info = line.find(mark).and_then(|at| line.get(at..)).unwrap_or_default();
        let info = info.trim_start_matches(mark).trim_start();
        let info = info.trim_start_matches(['{', '.', '=']).trim_start();
        let ends = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',' | ':' | ';');
        info.split(ends).next().unwrap_or_default()
    }
}

/// Whether a line opens a fence. Any indentation will do: lists indent fences.
pub(crate) fn fence_mark(line: &str) -> Option<FenceMark> {
    let mut trimmed = line.trim_start();
    if let Some(rest) = list_rest(trimmed) {
        trimmed = rest.trim_start();
    }
    let mark = trimmed.bytes().next().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = trimmed.bytes().take_while(|b| *b == mark).count();
    let info = trimmed.get(length..).unwrap_or_default();
    (length >= 3 && (mark == b'~' || !info.contains('`'))).then_some(FenceMark { mark, length })
}

/// A line without the marks of block quotes.
pub(crate) fn unquoted(line: &str) -> &str {
    let mut rest = line;
    while let Some(inner) = rest.trim_start_matches(' ').strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

pub(crate) fn heading_level(trimmed: &str) -> Option<usize> {
    let level = trimmed.bytes().take_while(|b| *b == b'#').count();
    let next = trimmed.as_bytes().get(level);
    ((1..=6).contains(&level) && matches!(next, None | Some(b' ' | b'\t'))).then_some(level)
}

pub(crate) fn is_table_row(trimmed: &str) -> bool {
    trimmed.starts_with('|') && trimmed.len() > 1
}

pub(crate) fn is_list_item(trimmed: &str) -> bool {
    list_rest(trimmed).is_some()
}

/// What follows the mark of a list item.
fn list_rest(trimmed: &str) -> Option<&str> {
    if let Some(rest) = trimmed.strip_prefix(['-', '*', '+']) {
        return rest.starts_with([' ', '\t']).then_some(rest);
    }
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 4 {
        return None;
    }
    let rest = trimmed.get(digits..)?.strip_prefix(['.', ')'])?;
    rest.starts_with([' ', '\t']).then_some(rest)
}
