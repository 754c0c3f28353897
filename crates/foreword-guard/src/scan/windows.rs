//! Cuts a text into blocks; two neighbours are a window, so that nothing hides in a long text.

use std::ops::Range;

use super::features::Features;
use super::reading::Reading;
use foreword_embed::Scratch;
use foreword_embed::StaticEmbedder;
use foreword_embed::normalise;

/// A block ends at the first blank after this many characters,
const BLOCK: usize = 128;
/// or after this many more.
const SLACK: usize = 32;

/// One window of a reading, and its place in it.
pub(crate) struct Window<'a> {
    pub(crate) features: &'a Features,
    /// Of length one; only where an embedder was given.
    pub(crate) vector: Option<&'a [f32]>,
    pub(crate) range: Range<usize>,
}

/// Passes every window of `reading`, a reading of `text`, to `sink`.
///
/// A block is embedded once; the vector of a window is that of its blocks together. Memory does
/// not grow with the text.
pub(crate) fn each_window(
    reading: &Reading,
    text: &str,
    embedder: Option<&StaticEmbedder>,
    features: &mut Features,
    mut sink: impl FnMut(&Window<'_>),
) {
    let mut scratch = Scratch::default();
    let mut embed = |block: &Range<usize>| {
        embedder.map(|e| e.sum(reading.for_embedding(text, block), &mut scratch))
    };
    let mut each = |range: Range<usize>, vector: Option<Vec<f32>>| {
        features.read(reading.lower.get(range.clone()).unwrap_or_default(), reading.origin);
        let vector = vector.map(|mut v| {
            normalise(&mut v);
            v
        });
        sink(&Window { features, vector: vector.as_deref(), range });
    };
    let mut blocks = blocks(&reading.lower);
    let Some(mut before) = blocks.next() else { return };
    let mut sum_before = embed(&before);
    let mut alone = true;
    for block in blocks {
        let sum = embed(&block);
        let both = sum_before.zip(sum.as_ref()).map(|(mut a, b)| {
            a.iter_mut().zip(b).for_each(|(x, y)| *x += y);
            a
        });
        each(before.start..block.end, both);
        (before, sum_before, alone) = (block, sum, false);
    }
    if alone {
        each(before, sum_before);
    }
}

/// The blocks of `text` in order; a text without visible characters has none.
fn blocks(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..)?;
        start += rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let end = rest
            .char_indices()
            .enumerate()
            .skip(BLOCK)
            .find(|(n, (_, c))| c.is_whitespace() || *n >= BLOCK + SLACK)
            .map_or(rest.len(), |(_, (at, _))| at);
        let block = start..start + end;
        start = block.end;
        (!block.is_empty()).then_some(block)
    })
}

#[cfg(test)]
mod tests {
    use super::super::reading::readings;
    use super::*;

    #[test]
    fn blocks_cover_the_text() {
        let text = "one two three ".repeat(40);
        let found: Vec<_> = blocks(&text).collect();
        assert_eq!(found.len(), 5);
        assert_eq!(found.first().map(|b| b.start), Some(0));
        for pair in found.windows(2) {
            assert_eq!(text.get(pair[0].end..pair[1].start), Some(" "));
        }
        assert_eq!(blocks("short").next(), Some(0..5));
        assert_eq!(blocks(" \n ").count(), 0);
        assert_eq!(blocks(&"字".repeat(400)).count(), 3, "no blank, so they end by length");
    }

    #[test]
    fn windows_are_pairs_of_neighbours() {
        let ranges = |text: &str| {
            let mut found = Vec::new();
            let reading = readings(text).remove(0);
            each_window(&reading, text, None, &mut Features::default(), |window| {
                found.push(window.range.clone());
            });
            found
        };
        assert!(ranges("").is_empty());
        assert_eq!(ranges("short").first(), Some(&(0..5)));
        let text = "word ".repeat(80);
        let found = ranges(&text);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].start, found[2].end), (0, 400));
        assert!(found[1].start < found[0].end, "they overlap");
    }
}
