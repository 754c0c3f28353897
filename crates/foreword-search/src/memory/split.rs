//! Divides a long text at paragraphs, lines and sentences, in that order.

/// Pieces of at most `limit` bytes, each as long as it can be without crossing a better place to
/// divide. Blank pieces are left out.
pub(crate) fn pieces(text: &str, limit: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = if rest.len() <= limit { rest.len() } else { divide(rest, limit) };
        let (piece, after) = rest.split_at(end);
        found.push(piece.trim_end());
        rest = after.trim_start();
    }
    found
}

/// Where to end a piece of a text that is longer than `limit`; at least one character.
fn divide(text: &str, limit: usize) -> usize {
    let first = text.chars().next().map_or(1, char::len_utf8);
    let window = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    // A piece that is too short tells little.
    let least = limit / 4;
    for end in ["\n\n", "\n", ". ", "! ", "? ", "\u{3002}", "; ", " "] {
        if let Some(at) = window.rfind(end).filter(|at| *at >= least) {
            return at + end.len();
        }
    }
    window.len().max(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paragraphs_come_before_sentences_and_words() {
        assert_eq!(pieces("one two\n\nthree four", 12), ["one two", "three four"]);
        assert_eq!(pieces("First one. Second one.", 14), ["First one.", "Second one."]);
        assert_eq!(pieces("aaa bbb ccc ddd", 8), ["aaa bbb", "ccc ddd"]);
        assert_eq!(pieces("short", 100), ["short"]);
        assert!(pieces(" \n ", 10).is_empty());
    }

    proptest! {
        #[test]
        fn nothing_but_space_is_lost(text: String, limit in 1_usize..40) {
            let dense = |text: &str| text.split_whitespace().collect::<String>();
            let found = pieces(&text, limit);
            prop_assert_eq!(dense(&found.concat()), dense(&text));
            prop_assert!(found.iter().all(|piece| piece.len() <= limit.max(4)));
        }
    }
}
