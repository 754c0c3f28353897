//! Invisible characters: which are removed from a text, and which must stay.
//!
//! Line breaks of every kind become LF. Control characters, zero-width characters, bidi controls,
//! fillers and tag characters are removed. A joiner or variation selector stays where the script or
//! the emoji sequence around it needs it, so Persian, Hindi and family emoji are untouched.

pub(crate) mod show;
pub(crate) mod table;

use std::borrow::Cow;

use table::Invisible;

/// The flags of England, Scotland and Wales: the only tag sequences in general use.
const TAG_FLAGS: [&str; 3] = [
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Removes what hides and makes every line break LF. The count is of characters removed; a CR in
/// front of an LF is not one.
pub(crate) fn clean(text: &str) -> (Cow<'_, str>, u32) {
    if is_plain(text.as_bytes()) {
        return (Cow::Borrowed(text), 0);
    }
    let mut out: Option<String> = None;
    let mut removed = 0;
    let mut previous = None;
    let mut kept_from = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        let rest = chars.as_str();
        let verdict = judge(c, previous, rest);
        if verdict == Verdict::Keep {
            previous = Some(c);
            if c == '\u{1F3F4}'
                && let Some(flag) = TAG_FLAGS.iter().find(|flag| starts_with_at(text, at, flag))
            {
                for _ in 0..flag.chars().count() - 1 {
                    chars.next();
                }
            }
            continue;
        }
        let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
        out.push_str(slice(text, kept_from, at));
        kept_from = at + c.len_utf8();
        match verdict {
            Verdict::Break => {
                out.push('\n');
                previous = Some('\n');
            }
            Verdict::Remove => removed += 1,
            Verdict::Swallow | Verdict::Keep => {}
        }
    }
    match out {
        None => (Cow::Borrowed(text), 0),
        Some(mut out) => {
            out.push_str(slice(text, kept_from, text.len()));
            (Cow::Owned(out), removed)
        }
    }
}

/// Nothing that a reader would see: only white space and what [`clean`] removes.
#[inline]
pub(crate) fn is_blank(text: &str) -> bool {
    // Nearly every text is empty or starts with something to see.
    match text.as_bytes().first() {
        None => true,
        Some(first) => !first.is_ascii_graphic() && has_nothing_to_see(text),
    }
}

#[cold]
fn has_nothing_to_see(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || Invisible::of(c).is_some())
}

/// ASCII without control characters other than LF and tab. Whole blocks, so that no loop ends in single
/// bytes: the last block overlaps the one before it.
fn is_plain(bytes: &[u8]) -> bool {
    match bytes.last_chunk::<32>() {
        None => !any_odd(bytes),
        Some(last) => !any_odd(bytes.as_chunks::<32>().0.as_flattened()) && !any_odd(last),
    }
}

/// As a signed number, whatever is not ASCII is below the blank too; and there are no branches, so that
/// the loop vectorises.
#[inline(never)]
fn any_odd(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |odd, &b| {
        odd | ((b.cast_signed() < 0x20) & (b != b'\n') & (b != b'\t')) | (b == 0x7F)
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Keep,
    /// A line break of another kind.
    Break,
    /// Hidden: removed and counted.
    Remove,
    /// The CR of a CRLF.
    Swallow,
}

fn judge(c: char, previous: Option<char>, rest: &str) -> Verdict {
    match Invisible::of(c) {
        None => Verdict::Keep,
        Some(Invisible::Break) if c == '\r' && rest.starts_with('\n') => Verdict::Swallow,
        Some(Invisible::Break) => Verdict::Break,
        Some(Invisible::Joiner) => keep_if(joiner_needed(c, previous, rest.chars().next())),
        Some(Invisible::Variation) => keep_if(previous.is_some_and(|p| takes_selector(p, c))),
        Some(_) => Verdict::Remove,
    }
}

/// Does a character have a variant that this selector picks?
fn takes_selector(c: char, selector: char) -> bool {
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(c) || c.is_ascii_digit() || matches!(c, '#' | '*'),
        '\u{180B}'..='\u{180F}' => matches!(c, '\u{1820}'..='\u{18AA}'),
        _ => is_han(c),
    }
}

fn keep_if(needed: bool) -> Verdict {
    if needed { Verdict::Keep } else { Verdict::Remove }
}

/// Is a joiner or non-joiner at this place part of correct spelling or of an emoji?
fn joiner_needed(joiner: char, previous: Option<char>, next: Option<char>) -> bool {
    let Some(previous) = previous else { return false };
    if joiner == '\u{200D}' {
        // A half form or an isolated initial form may end a word.
        return is_joining_script(previous)
            || ((is_emoji(previous)
                || matches!(previous, '\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}'))
                && next.is_some_and(is_emoji));
    }
    let Some(next) = next else { return false };
    (is_joining_script(previous) && next.is_alphanumeric())
        || (is_joining_script(next) && previous.is_alphanumeric())
        || (is_joining_script(previous) && is_joining_script(next))
}

/// Scripts in which joiners change the shape or the meaning of a word.
fn is_joining_script(c: char) -> bool {
    matches!(c,
        '\u{0600}'..='\u{07FF}' | '\u{0840}'..='\u{08FF}' | '\u{0900}'..='\u{0DFF}'
        | '\u{0F00}'..='\u{109F}' | '\u{1780}'..='\u{18AF}' | '\u{1A20}'..='\u{1AAF}'
        | '\u{1B00}'..='\u{1C4F}' | '\u{A800}'..='\u{A8FF}' | '\u{A980}'..='\u{A9DF}'
        | '\u{AA60}'..='\u{AA7F}' | '\u{ABC0}'..='\u{ABFF}' | '\u{FB50}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}' | '\u{11000}'..='\u{11FFF}')
        && Invisible::of(c).is_none()
}

fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2934}' | '\u{2935}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}'
        | '\u{3299}' | '\u{1F000}'..='\u{1FAFF}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{2FDF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn starts_with_at(text: &str, at: usize, prefix: &str) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(prefix))
}

/// A slice between two known character boundaries.
fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        clean(text).0.into_owned()
    }

    #[test]
    fn every_kind_of_line_break_becomes_lf() {
        assert_eq!(
            cleaned("a\rb\r\nc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h"),
            "a\nb\nc\nd\ne\nf\ng\nh"
        );
        assert_eq!(clean("a\r\nb").1, 0);
    }

    #[test]
    fn hidden_characters_go_and_are_counted() {
        let (text, removed) =
            clean("i\u{200b}g\u{202e}n\u{2066}o\u{feff}r\u{ad}e\0\u{1b}\u{e0041}");
        assert_eq!((text.as_ref(), removed), ("ignore", 8));
    }

    #[test]
    fn hidden_characters_alone_are_blank() {
        for text in
            ["", " \n\t", "\u{feff}\u{200b}\0", "\u{200d} \u{fe0f}\u{e0041}", "\u{a0}\u{3000}"]
        {
            assert!(is_blank(text), "{text:?}");
            assert_eq!(cleaned(text).trim(), "", "{text:?}");
        }
        assert!(!is_blank("\u{200b}x") && !is_blank("ہ\u{200d}"));
    }

    #[test]
    fn scripts_and_emoji_survive_unharmed() {
        for text in [
            "می‌خواهم کتاب‌ها را بخوانم",
            "PDF‌ها",
            "क्‍ष और र्‍य, श्री‌मान",
            "👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈 1️⃣ #️⃣ ☎️ ☎︎",
            "🏴󠁧󠁢󠁥󠁮󠁧󠁿 and 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
            "葛󠄀城市",
            "ہ‍",
        ] {
            assert_eq!(clean(text), (Cow::Borrowed(text), 0), "{text}");
        }
    }

    #[test]
    fn joiners_out_of_place_go() {
        assert_eq!(cleaned("ig\u{200d}no\u{200c}re"), "ignore");
        assert_eq!(cleaned("a\u{fe0f}b"), "ab");
        assert_eq!(cleaned("🏴\u{e0068}\u{e0069}x"), "🏴x");
        assert_eq!(cleaned("می\u{200c}\u{200c}خواهم"), "می\u{200c}خواهم");
    }
}
