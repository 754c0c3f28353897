//! A skill as its reader sees it: headings, sentences, list items, code, comments.
//!
//! A line scanner, linear in the text. It follows markdown where that affects what a reader
//! sees. If in doubt it treats text as code or a comment, which is stricter.

use crate::screen::line::{
    FenceMark, fence_mark, heading_level, is_list_item, is_table_row, unquoted,
};
use crate::screen::sentence::split_sentences;

/// The position of a piece of text in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The YAML header.
    Header,
    Heading,
    Prose,
    ListItem,
    Table,
    /// Inside a fence, or indented as code.
    Code,
    /// An HTML comment, or a markdown link definition used as one.
    Comment,
    /// Decoded from something that was not readable as written.
    Decoded,
}

impl Place {
    /// Text that a person reading the rendered page does not see.
    pub(crate) fn is_hidden(self) -> bool {
        matches!(self, Self::Comment | Self::Decoded)
    }
}

/// A sentence, a line of code, or another piece of text that is judged as one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The line in the original on which the unit starts, from 1.
    pub(crate) line: u32,
    pub(crate) place: Place,
    /// The unit of the heading above; of a heading, the one it belongs to.
    pub(crate) heading: Option<u32>,
    /// The sentence that leads into a list, a table or a fence.
    pub(crate) lead: Option<u32>,
    /// Which fence, or paragraph, or list item: units of one block share it.
    pub(crate) block: u32,
}

/// The units of a text, in order.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) units: Vec<Unit>,
    /// The info string of each fence, by block.
    pub(crate) fences: Vec<Fence>,
}

/// One fence.
#[derive(Debug)]
pub(crate) struct Fence {
    pub(crate) block: u32,
    pub(crate) language: String,
    /// Lines that are not blank.
    pub(crate) lines: u32,
}

impl Document {
    pub(crate) fn fence(&self, block: u32) -> Option<&Fence> {
        self.fences.binary_search_by_key(&block, |f| f.block).ok().and_then(|i| self.fences.get(i))
    }

    /// Reads markdown.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::new(text);
        let mut at = 0;
        let header_end = header_end(text);
        for (line, raw) in (1..).zip(text.split_inclusive('\n')) {
            let end = at + raw.len();
            if at < header_end {
                reader.push_unit(at, end, line, Place::Header);
            } else {
                reader.line(at, raw, line);
            }
            at = end;
        }
        reader.finish();
        reader.document
    }

    /// Reads a text that has no markdown: each line is a unit.
    pub(crate) fn read_lines(text: &str, line: u32, place: Place) -> Self {
        let mut reader = Reader::new(text);
        let mut at = 0;
        for raw in text.split_inclusive('\n') {
            reader.push_unit(at, at + raw.len(), line, place);
            at += raw.len();
        }
        reader.document
    }
}

/// Units are cut at this length, with an overlap, so that no pattern runs over more.
const MAX_UNIT: usize = 4096;
const OVERLAP: usize = 256;

struct Reader<'a> {
    text: &'a str,
    /// Whether any comment opens at all.
    has_comments: bool,
    document: Document,
    block: u32,
    /// The headings above, outermost first, with their levels.
    headings: Vec<(usize, u32)>,
    /// The last sentence of the paragraph before, until something ends its reach.
    lead: Option<u32>,
    /// The last sentence of the list item before.
    item: Option<u32>,
    /// The paragraph or list item being read: start, line, place.
    open: Option<(usize, u32, Place)>,
    open_end: usize,
    fence: Option<FenceMark>,
    /// A comment that is not closed yet.
    comment: bool,
    /// A line of code that goes on with the next line: start and line.
    continued: Option<(usize, u32)>,
    blank_before: bool,
    in_list: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            has_comments: text.contains("<!--"),
            document: Document::default(),
            block: 0,
            headings: Vec::new(),
            lead: None,
            item: None,
            open: None,
            open_end: 0,
            fence: None,
            comment: false,
            continued: None,
            blank_before: true,
            in_list: false,
        }
    }

    /// Reads a line; text after the end of a comment is read separately.
    fn line(&mut self, at: usize, raw: &str, line: u32) {
        let mut rest = Some((at, raw));
        while let Some((at, raw)) = rest {
            rest = if self.comment {
                self.comment_line(at, raw, line)
            } else {
                self.visible_line(at, raw, line)
            };
        }
    }

    fn visible_line<'r>(&mut self, at: usize, raw: &'r str, line: u32) -> Option<(usize, &'r str)> {
        let body = unquoted(raw);
        if let Some(mark) = self.fence {
            if mark.is_closed_by(body) {
                self.end_continued(at);
                self.fence = None;
                self.block += 1;
            } else {
                self.code_line(at, raw, line);
            }
            return None;
        }
        let trimmed = body.trim();
        if trimmed.is_empty() {
            self.close();
            self.blank_before = true;
            return None;
        }
        if let Some(mark) = fence_mark(body) {
            self.close();
            self.block += 1;
            self.document.fences.push(Fence {
                block: self.block,
                language: mark.language(body).to_ascii_lowercase(),
                lines: 0,
            });
            self.fence = Some(mark);
            self.blank_before = false;
            return None;
        }
        if self.has_comments
            && let Some(open) = comment_start(raw)
        {
            return self.comment_opens(at, raw, line, open);
        }
        self.text_line(at, raw, line);
        None
    }

    fn text_line(&mut self, at: usize, raw: &str, line: u32) {
        let body = unquoted(raw);
        let trimmed = body.trim();
        let indented = body.starts_with("    ") || body.starts_with('\t');
        // In a list, less indentation continues an item.
        let is_deep = body.starts_with("        ") || body.starts_with("\t\t");
        let blank_before = std::mem::replace(&mut self.blank_before, false);
        if let Some(level) = heading_level(trimmed) {
            self.close();
            self.block += 1;
            self.headings.retain(|(above, _)| *above < level);
            self.push_unit(at, at + raw.len(), line, Place::Heading);
            self.headings.extend(self.last().map(|id| (level, id)));
            self.lead = None;
            self.item = None;
            self.in_list = false;
        } else if trimmed.starts_with("[//]:") || trimmed.starts_with("[comment]:") {
            self.close();
            self.block += 1;
            self.push_unit(at, at + raw.len(), line, Place::Comment);
        } else if is_table_row(trimmed) {
            self.close_into(Place::Table);
            self.push_unit(at, at + raw.len(), line, Place::Table);
        } else if is_list_item(trimmed) {
            self.close();
            self.open = Some((at, line, Place::ListItem));
            self.in_list = true;
        } else if indented && blank_before && (is_deep || !self.in_list) {
            self.close();
            self.block += 1;
            self.push_unit(at, at + raw.len(), line, Place::Code);
        } else if indented && self.open.is_none() && !self.in_list {
            self.push_unit(at, at + raw.len(), line, Place::Code);
        } else {
            if self.open.is_none() {
                let place = if indented { Place::ListItem } else { Place::Prose };
                if !indented {
                    self.in_list = false;
                    self.lead = None;
                }
                self.open = Some((at, line, place));
            }
        }
        self.open_end = at + raw.len();
    }

    /// A comment starts on this line, at `open` bytes.
    fn comment_opens<'r>(
        &mut self,
        at: usize,
        raw: &'r str,
        line: u32,
        open: usize,
    ) -> Option<(usize, &'r str)> {
        let before = raw.get(..open).unwrap_or_default();
        if !before.trim().is_empty() {
            self.text_line(at, before, line);
            self.open_end = at + open;
        }
        self.close();
        self.block += 1;
        self.comment = true;
        let rest = raw.get(open + 4..).unwrap_or_default();
        Some((at + open + 4, rest))
    }

    fn comment_line<'r>(&mut self, at: usize, raw: &'r str, line: u32) -> Option<(usize, &'r str)> {
        let Some(end) = raw.find("-->") else {
            self.push_unit(at, at + raw.len(), line, Place::Comment);
            return None;
        };
        self.push_unit(at, at + end, line, Place::Comment);
        self.comment = false;
        self.block += 1;
        let after = raw.get(end + 3..).unwrap_or_default();
        (!after.trim_start().is_empty()).then_some((at + end + 3, after))
    }

    fn code_line(&mut self, at: usize, raw: &str, line: u32) {
        let trimmed = raw.trim_end();
        if let Some(fence) = self.document.fences.last_mut()
            && !trimmed.is_empty()
        {
            fence.lines += 1;
        }
        let (start, first) = self.continued.take().unwrap_or((at, line));
        let goes_on = trimmed.ends_with('\\') || trimmed.ends_with('|') || trimmed.ends_with("&&");
        if goes_on && at + raw.len() - start < MAX_UNIT {
            self.continued = Some((start, first));
        } else {
            self.push_unit(start, at + raw.len(), first, Place::Code);
        }
        self.open_end = at + raw.len();
    }

    fn end_continued(&mut self, end: usize) {
        if let Some((start, line)) = self.continued.take() {
            self.push_unit(start, end, line, Place::Code);
        }
    }

    /// Ends a paragraph or list item and splits it into sentences.
    fn close(&mut self) {
        let Some((start, line, place)) = self.open.take() else { return };
        self.block += 1;
        let text = self.text.get(start..self.open_end).unwrap_or_default();
        let mut line = line;
        let mut seen = 0;
        for (from, to) in split_sentences(text) {
            line += newlines(text.get(seen..from).unwrap_or_default());
            seen = from;
            self.push_unit(start + from, start + to, line, place);
        }
        if place == Place::Prose {
            self.lead = self.last();
            self.item = None;
        } else {
            self.item = self.last();
        }
    }

    fn close_into(&mut self, place: Place) {
        let continues = self.document.units.last().is_some_and(|u| u.place == place);
        if self.open.is_some() || !continues {
            self.close();
            self.block += 1;
        }
    }

    fn finish(&mut self) {
        self.close();
        self.end_continued(self.text.len());
    }

    fn last(&self) -> Option<u32> {
        self.document.units.len().checked_sub(1).and_then(|n| u32::try_from(n).ok())
    }

    fn push_unit(&mut self, start: usize, end: usize, line: u32, place: Place) {
        let mut from = start;
        let mut at_line = line;
        loop {
            let mut to = end.min(from + MAX_UNIT);
            while to < end && !self.text.is_char_boundary(to) {
                to += 1;
            }
            let piece = self.text.get(from..to).unwrap_or_default();
            if !piece.trim().is_empty() {
                let lead = match place {
                    Place::ListItem | Place::Table => self.lead,
                    Place::Code => self.item.or(self.lead),
                    _ => None,
                };
                let (heading, block) = (self.headings.last().map(|(_, id)| *id), self.block);
                let unit =
                    Unit { start: from, end: to, line: at_line, place, heading, lead, block };
                self.document.units.push(unit);
            }
            if to >= end {
                return;
            }
            let mut next = to.saturating_sub(OVERLAP).max(from + 1);
            while !self.text.is_char_boundary(next) {
                next += 1;
            }
            if place != Place::Decoded {
                at_line += newlines(self.text.get(from..next).unwrap_or_default());
            }
            from = next;
        }
    }
}

pub(crate) fn newlines(text: &str) -> u32 {
    u32::try_from(text.bytes().filter(|b| *b == b'\n').count()).unwrap_or(u32::MAX)
}

/// The end of the YAML header, 0 without one.
fn header_end(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|l| l.trim_end() == "---") else { return 0 };
    let mut at = first.len();
    for line in lines {
        at += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return at;
        }
    }
    0
}

/// Where a comment opens on this line, unless in inline code.
fn comment_start(raw: &str) -> Option<usize> {
    let mut from = 0;
    let mut ticks = 0;
    loop {
        let at = from + raw.get(from..)?.find("<!--")?;
        ticks += raw.get(from..at)?.bytes().filter(|b| *b == b'`').count();
        if ticks % 2 == 0 {
            return Some(at);
        }
        from = at + 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<(u32, Place, &str)> {
        let document = Document::read(text);
        let piece = |u: &Unit| text.get(u.start..u.end).unwrap().trim();
        document.units.iter().map(|u| (u.line, u.place, piece(u))).collect()
    }

    #[test]
    fn reads_each_kind_of_block() {
        let text = "---\nname: a\n---\n# T\n\nOne. Two\nthree.\n\n- item\n  more\n\n| a | b |\n\n```sh\nls \\\n  -l\n```\n";
        assert_eq!(
            places(text),
            [
                (1, Place::Header, "---"),
                (2, Place::Header, "name: a"),
                (3, Place::Header, "---"),
                (4, Place::Heading, "# T"),
                (6, Place::Prose, "One."),
                (6, Place::Prose, "Two\nthree."),
                (9, Place::ListItem, "- item\n  more"),
                (12, Place::Table, "| a | b |"),
                (15, Place::Code, "ls \\\n  -l"),
            ]
        );
    }

    #[test]
    fn fences_end_only_with_their_own_mark() {
        let text = "~~~\n```\na\n~~~\n\n````md\n```\nb\n```\n````\n\n```\nunclosed\n";
        let code: Vec<&str> =
            places(text).into_iter().filter(|p| p.1 == Place::Code).map(|p| p.2).collect();
        assert_eq!(code, ["```", "a", "```", "b", "```", "unclosed"]);
    }

    #[test]
    fn comments_are_hidden_text_and_inline_code_is_not() {
        assert_eq!(
            places("a <!-- b --> c\n\n`<!-- d -->`\n"),
            [
                (1, Place::Prose, "a"),
                (1, Place::Comment, "b"),
                (1, Place::Prose, "c"),
                (3, Place::Prose, "`<!-- d -->`")
            ]
        );
        assert_eq!(places("<!-- x\ny\n"), [(1, Place::Comment, "x"), (2, Place::Comment, "y")]);
    }
}
