//! Normalised text for comparison, with a map back to the original.
//!
//! Compatibility forms, lookalike letters, accents, typographic marks and runs of blanks are made
//! plain, and invisible characters are taken out and reported. Line breaks stay where they are, so
//! that line numbers are those of the original.

mod fold;
mod invisible;
mod lookalike;
pub(crate) use lookalike::ascii as lookalike_letter;

pub use invisible::HiddenKind;

use foreword::Invisible;
use invisible::{classify, is_pictograph, lacks_spaces, needs_joiners, variation_byte};

/// A run of invisible characters that the text has no use for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    pub kind: HiddenKind,
    /// How many there are in the run.
    pub count: usize,
    /// Where the run starts in the original, in bytes.
    pub offset: usize,
    /// The line of the original, from 1.
    pub line: u32,
    /// Whether the run is inside a word.
    pub inside_word: bool,
    /// The text that the run spells, if any.
    pub spelled: String,
}

/// A text made comparable.
#[derive(Debug, Clone, Default)]
pub struct Normalised {
    text: String,
    /// Where the distance to the original changes: offset here, offset there.
    map: Vec<(usize, usize)>,
    hidden: Vec<Hidden>,
    forged_lines: Vec<u32>,
}

impl Normalised {
    /// The text: ASCII keeps its case, everything else is folded.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The invisible characters that were taken out and had no business being there.
    #[must_use]
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// The lines, from 1, with words that mix Latin letters and their lookalikes.
    #[must_use]
    pub fn forged_lines(&self) -> &[u32] {
        &self.forged_lines
    }

    /// Takes the text out; what leads back to the original stays.
    pub(crate) fn take_text(&mut self) -> String {
        std::mem::take(&mut self.text)
    }

    /// The offset in the original that belongs to `offset` in [`Self::text`].
    #[must_use]
    pub fn original_offset(&self, offset: usize) -> usize {
        let next = self.map.partition_point(|(here, _)| *here <= offset);
        match next.checked_sub(1).and_then(|i| self.map.get(i)) {
            Some((here, there)) => there + (offset - here),
            None => offset,
        }
    }
}

/// Makes `text` comparable.
#[must_use]
pub fn normalise(text: &str) -> Normalised {
    let mut reader = Reader {
        out: Normalised::default(),
        line: 1,
        line_start: true,
        prev: '\n',
        foreign: false,
    };
    reader.out.text.reserve(text.len());
    reader.read(text);
    let Reader { mut out, foreign, .. } = reader;
    if foreign {
        fold_lookalikes(&mut out);
    }
    out
}

struct Reader {
    out: Normalised,
    line: u32,
    /// Only blanks were seen on this line.
    line_start: bool,
    /// The last visible character.
    prev: char,
    /// A letter was seen that may be a lookalike.
    foreign: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            at = match byte {
                b'\n' => self.newline(at, 1, bytes),
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => self.newline(at, 2, bytes),
                b'\r' => self.newline(at, 1, bytes),
                b' ' | b'\t' => self.blanks(at, bytes),
                0x0B | 0x0C => {
                    self.out.text.push(' ');
                    at + 1
                }
                0..=0x1F | 0x7F => self.invisible(at, text),
                0x20..=0x7E => self.ascii(at, text),
                _ => self.non_ascii(at, text),
            };
        }
    }

    /// Maps the next byte to `there` in the original.
    fn mark(&mut self, there: usize) {
        self.out.map.push((self.out.text.len(), there));
    }

    fn newline(&mut self, at: usize, width: usize, bytes: &[u8]) -> usize {
        self.out.text.push('\n');
        if width > 1 || bytes.get(at) == Some(&b'\r') {
            self.mark(at + width);
        }
        self.line = self.line.saturating_add(1);
        self.line_start = true;
        self.prev = '\n';
        at + width
    }

    /// Blanks at the start of a line are structure; elsewhere a run of them is one.
    fn blanks(&mut self, at: usize, bytes: &[u8]) -> usize {
        let mut end = at;
        while let Some(b' ' | b'\t') = bytes.get(end) {
            if self.line_start {
                self.out.text.push(if bytes.get(end) == Some(&b'\t') { '\t' } else { ' ' });
            }
            end += 1;
        }
        if !self.line_start {
            self.out.text.push(' ');
            if end - at > 1 {
                self.mark(end);
            }
        }
        self.prev = ' ';
        end
    }

    fn ascii(&mut self, at: usize, text: &str) -> usize {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let len = rest.iter().take_while(|b| matches!(b, 0x21..=0x7E)).count().max(1);
        if let Some(piece) = text.get(at..at + len) {
            self.out.text.push_str(piece);
            self.prev = piece.chars().next_back().unwrap_or(' ');
        }
        self.line_start = false;
        at + len
    }

    /// A run of characters outside ASCII, up to the first invisible one.
    fn non_ascii(&mut self, at: usize, text: &str) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let len: usize = rest
            .chars()
            .take_while(|c| !c.is_ascii() && classify(*c).is_none())
            .map(char::len_utf8)
            .sum();
        if len == 0 {
            return self.invisible(at, text);
        }
        if let Some(run) = rest.get(..len) {
            self.foreign |= run.chars().any(|c| {
                lookalike::ascii(c).is_some()
                    || matches!(c, '\u{0370}'..='\u{058F}' | '\u{13A0}'..='\u{13FF}')
            });
            self.prev = run.chars().next_back().unwrap_or(' ');
            fold::fold_run(run, &mut self.out.text);
            self.mark(at + len);
        }
        self.line_start = false;
        at + len
    }

    /// A run of invisible characters of one class; taken out, and reported if nothing needs it.
    fn invisible(&mut self, at: usize, text: &str) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        let Some(class) = rest.chars().next().and_then(classify) else {
            // Not a character of ours after all: step over it.
            return at + rest.chars().next().map_or(1, char::len_utf8);
        };
        let mut len = 0;
        let mut count = 0;
        let mut spelled = String::new();
        let mut bytes = Vec::new();
        for c in rest.chars() {
            if classify(c) != Some(class) {
                break;
            }
            len += c.len_utf8();
            count += 1;
            match class {
                Invisible::Tag => spelled.extend(
                    char::from_u32(u32::from(c) - 0xE0000)
                        .filter(|c| c.is_ascii() && !c.is_ascii_control()),
                ),
                Invisible::Variation => bytes.extend(variation_byte(c)),
                _ => {}
            }
        }
        if class == Invisible::Variation && count > 1 {
            spelled = String::from_utf8(bytes).unwrap_or_default();
        }
        let next = rest.get(len..).and_then(|r| r.chars().next()).unwrap_or('\n');
        if let Some(kind) = self.unneeded(class, count, at, next) {
            let inside_word = self.prev.is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
            let line = self.line;
            self.out.hidden.push(Hidden { kind, count, offset: at, line, inside_word, spelled });
        }
        self.mark(at + len);
        at + len
    }

    fn unneeded(
        &self,
        class: Invisible,
        count: usize,
        at: usize,
        next: char,
    ) -> Option<HiddenKind> {
        let prev = self.prev;
        let needed = match class {
            Invisible::Mark => true,
            Invisible::Joiner => {
                count == 1
                    && (needs_joiners(prev)
                        || needs_joiners(next)
                        || (is_pictograph(prev) && is_pictograph(next)))
            }
            Invisible::Space => count == 1 && (lacks_spaces(prev) || lacks_spaces(next)),
            Invisible::Filler => at == 0,
            Invisible::Tag => prev == '\u{1F3F4}' && count <= 8,
            Invisible::Variation => count == 1,
            Invisible::Bidi | Invisible::Control | Invisible::Break => false,
        };
        if needed {
            return None;
        }
        Some(match class {
            Invisible::Bidi => HiddenKind::Bidi,
            Invisible::Tag => HiddenKind::Tag,
            Invisible::Variation => HiddenKind::Variation,
            Invisible::Control => HiddenKind::Control,
            _ => HiddenKind::ZeroWidth,
        })
    }
}

/// Folds forged words, line by line, and composes the map.
fn fold_lookalikes(page: &mut Normalised) {
    let before = std::mem::take(page);
    let mut at = 0;
    for (index, line) in before.text.split_inclusive('\n').enumerate() {
        if line.is_ascii() {
            copy_marks(&before.map, at, at + line.len(), page.text.len(), &mut page.map);
            page.text.push_str(line);
        } else {
            let map = &mut page.map;
            let mark = |here, there| map.push((here, before.original_offset(at + there)));
            if lookalike::fold_line(line, &mut page.text, mark) {
                page.forged_lines.push(u32::try_from(index + 1).unwrap_or(u32::MAX));
            }
        }
        at += line.len();
    }
    page.map.push((page.text.len(), before.original_offset(at)));
    page.hidden = before.hidden;
}

/// Carries the marks of `from..to` over to a text in which that stretch starts at `base`.
fn copy_marks(
    map: &[(usize, usize)],
    from: usize,
    to: usize,
    base: usize,
    out: &mut Vec<(usize, usize)>,
) {
    let first = map.partition_point(|(here, _)| *here <= from);
    if let Some((here, there)) = first.checked_sub(1).and_then(|i| map.get(i)) {
        out.push((base, there + (from - here)));
    } else {
        out.push((base, from));
    }
    for (here, there) in map.iter().skip(first).take_while(|(here, _)| *here < to) {
        out.push((base + (here - from), *there));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_text_plain() {
        for (written, plain) in [
            ("ｅｖａｌ　x", "eval x"),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
            ("précédentes ĐÃ", "precedentes dA"),
            ("“don’t” — no", "\"don't\" - no"),
            ("a   b\t c", "a b c"),
            ("  a", "  a"),
            ("Игнорируй", "игнорируй"),
            ("еvаl", "eval"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("e\u{301}", "e"),
        ] {
            assert_eq!(normalise(written).text(), plain, "{written:?}");
        }
    }

    #[test]
    fn reports_what_nobody_sees() {
        let hidden = |text: &str| -> Vec<(HiddenKind, usize)> {
            normalise(text).hidden().iter().map(|h| (h.kind, h.count)).collect()
        };
        assert_eq!(hidden("pass\u{200B}word"), [(HiddenKind::ZeroWidth, 1)]);
        assert_eq!(hidden("a\u{202E}b"), [(HiddenKind::Bidi, 1)]);
        assert_eq!(hidden("x\u{E0068}\u{E0069}"), [(HiddenKind::Tag, 2)]);
        assert_eq!(hidden("\u{1b}[8m"), [(HiddenKind::Control, 1)]);
        assert_eq!(hidden("\u{FEFF}text 👩\u{200D}💻 ❤\u{FE0F} می\u{200C}خ"), []);
        assert_eq!(normalise("x\u{E0068}\u{E0069}").hidden()[0].spelled, "hi");
    }

    #[test]
    fn leads_back_to_the_original() {
        let text = "ａｂ x\u{200B}y  z\nпрpвет еvаl end";
        let plain = normalise(text);
        for word in ["y", "z", "end"] {
            let at = plain.text().find(word).unwrap();
            assert_eq!(plain.original_offset(at), text.find(word).unwrap(), "{word}");
        }
        assert_eq!(plain.forged_lines(), [2]);
    }
}
