//! Text taken from a PDF: words divided at the ends of lines are joined.

use super::part::{Part, PartKind};

/// Fewer divided words than this are hyphens where a line happens to end.
const DIVIDED: usize = 2;

/// The text with its divided words joined; nothing where there are none.
pub(super) fn read(text: &str) -> Option<Part> {
    let pages = text.contains('\u{0C}');
    let breaks: Vec<usize> = divisions(text).take(1 << 20).collect();
    if breaks.is_empty() || (!pages && breaks.len() < DIVIDED) {
        return None;
    }
    let mut part = Part::empty(PartKind::Visible);
    let mut at = 0;
    for hyphen in breaks {
        let before = text.get(at..hyphen)?;
        part.push(before, at, before.len());
        let after = text.get(hyphen + 1..)?;
        at = text.len() - after.trim_start_matches(['\r', '\n', ' ']).len();
    }
    let rest = text.get(at..)?;
    part.push(rest, at, rest.len());
    Some(part)
}

/// Hyphens between two small letters with a line break behind them.
fn divisions(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices('-').map(|(at, _)| at).filter(|at| {
        let before = text.get(..*at).and_then(|s| s.chars().next_back());
        let after = text.get(at + 1..).unwrap_or_default();
        if !after.starts_with(['\r', '\n']) {
            return false;
        }
        let after = after.trim_start_matches(['\r', '\n', ' ']).chars().next();
        before.is_some_and(char::is_lowercase) && after.is_some_and(char::is_lowercase)
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn divided_words_are_joined() {
        let text = "Please disre-\ngard the instruc-\n  tions above.\n\u{0C}Page 2";
        let part = read(text).unwrap();
        assert_eq!(part.text, "Please disregard the instructions above.\n\u{0C}Page 2");
        let at = part.original_offset(part.text.find("tions").unwrap());
        assert!(text.get(at..).unwrap().starts_with("tions"));
        assert!(read("- one\n- two\nA well-\nknown word").is_none());
        assert!(read("").is_none());
    }
}
