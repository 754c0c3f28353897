//! Cuts a reading into blocks of about a sentence, so that nothing hides in a long text.

use std::ops::Range;

use super::features::Features;
use super::reading::Reading;
use foreword_embed::Scratch;
use foreword_embed::StaticEmbedder;

/// A block ends at the last end of a sentence between these many characters,
const SHORTEST: usize = 64;
const LONGEST: usize = 160;
/// or else at the first blank after this many.
const BLOCK: usize = 128;
/// A paragraph of at least so many characters is a block of its own.
const PARAGRAPH: usize = 40;

/// One block of a reading, and its place in it.
pub(crate) struct Block<'a> {
    pub(crate) features: &'a Features,
    /// The sum of the vectors of its words; only where an embedder was given.
    pub(crate) vector: Option<Vec<f32>>,
    pub(crate) range: Range<usize>,
}

/// Passes every block of `reading`, in order, to `sink`. Memory does not grow with the text.
pub(crate) fn each_block(
    reading: &Reading<'_>,
    embedder: Option<&StaticEmbedder>,
    features: &mut Features,
    scratch: &mut Scratch,
    mut sink: impl FnMut(Block<'_>),
) {
    for range in blocks(&reading.lower) {
        let before = reading.lower.get(..range.start).unwrap_or_default();
        features.read(reading.lower.get(range.clone()).unwrap_or_default(), before);
        let vector = embedder.map(|e| e.sum(reading.for_embedding(&range), scratch));
        sink(Block { features, vector, range });
    }
}

/// The blocks of `text` in order; a text without visible characters has none.
fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..)?;
        start += rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let block = start..start + block_end(rest);
        start = block.end;
        (!block.is_empty()).then_some(block)
    })
}

/// Where the first block of `rest` ends.
fn block_end(rest: &str) -> usize {
    let (mut sentence, mut blank) = (None, None);
    let mut last = ' ';
    for (n, (at, c)) in rest.char_indices().enumerate() {
        if c.is_whitespace() {
            if c == '\n' && last == '\n' && n >= PARAGRAPH {
                return at - 1;
            }
            let ends = c == '\n' || matches!(last, '.' | '!' | '?' | ':' | ';');
            if n >= SHORTEST && ends {
                sentence = Some(at);
            }
            if n >= BLOCK && blank.is_none() {
                blank = Some(at);
            }
        } else if matches!(last, '。' | '！' | '？') && n >= SHORTEST {
            sentence = Some(at);
        }
        if n >= LONGEST {
            return sentence.or(blank).unwrap_or(at);
        }
        last = c;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_text() {
        let text = "one two three ".repeat(40);
        let found: Vec<_> = blocks(&text).collect();
        assert_eq!(found.first().map(|b| b.start), Some(0));
        for pair in found.windows(2) {
            assert_eq!(text.get(pair[0].end..pair[1].start), Some(" "));
        }
        assert_eq!(found.last().map(|b| b.end), Some(text.len()));
        assert_eq!(blocks("short").next(), Some(0..5));
        assert_eq!(blocks(" \n ").count(), 0);
        assert_eq!(blocks(&"字".repeat(400)).count(), 3, "no blank, so they end by length");
    }

    #[test]
    fn a_block_ends_with_a_sentence() {
        let first = "The library opens at nine on weekdays and closes at six in the evening.";
        let second = "Members may borrow up to twelve books for four weeks, and renew them twice.";
        let text = format!("{first} {second} {second}");
        let found: Vec<_> = blocks(&text).map(|b| text.get(b).unwrap()).collect();
        assert_eq!(found[0], format!("{first} {second}"));
        let apart = format!("{first}\n\n{second}");
        assert_eq!(
            blocks(&apart).map(|b| apart.get(b).unwrap()).collect::<Vec<_>>(),
            [first, second]
        );
    }
}
