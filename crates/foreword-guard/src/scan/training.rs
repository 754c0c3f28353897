//! The numbers the head is fitted on, for `tools/model/injection_head.py`.

use super::document::parts;
use super::features::{Features, pairs};
use super::program_words;
use super::reading::{Reading, readings};
use super::windows::each_block;
use foreword_embed::{Scratch, StaticEmbedder};

/// One reading of a text, as the head sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingReading {
    /// The kind of part: 0 visible, 1 attribute, 2 comment, 3 hidden, 4 script.
    pub kind: u8,
    /// How it was come by: 0 as written, 1 invisible characters, 2 encoded, 3 cipher, 4 spelling.
    pub origin: u8,
    /// In order.
    pub blocks: Vec<TrainingBlock>,
}

/// One block of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingBlock {
    /// The sum of the vectors of its words.
    pub vector: Vec<f32>,
    /// Buckets of its character n-grams.
    pub chars: Vec<u16>,
    /// Buckets of its word n-grams.
    pub words: Vec<u16>,
    /// What is true of it, one bit each.
    pub facts: u64,
    /// Where it stands in the text, in bytes.
    pub place: std::ops::Range<usize>,
}

/// Every block of every reading of `text`, in the order in which the scanner looks at them.
#[must_use]
pub fn training_readings(embedder: &StaticEmbedder, text: &str) -> Vec<TrainingReading> {
    let parts = parts(text);
    let readings: Vec<Reading<'_>> = parts.iter().flat_map(readings).collect();
    read(embedder, &readings, Features::default())
}

/// The same of a program.
#[must_use]
pub fn training_program(embedder: &StaticEmbedder, text: &str) -> Vec<TrainingReading> {
    let part = program_words::words(text);
    read(embedder, &[Reading::new(&part)], Features::of_words())
}

fn read(
    embedder: &StaticEmbedder,
    readings: &[Reading<'_>],
    mut features: Features,
) -> Vec<TrainingReading> {
    let mut scratch = Scratch::for_long_texts();
    let mut found = Vec::new();
    for reading in readings {
        let mut blocks = Vec::new();
        each_block(reading, Some(embedder), &mut features, &mut scratch, |block| {
            blocks.push(TrainingBlock {
                vector: block.vector.unwrap_or_default(),
                chars: block.features.chars.clone(),
                words: block.features.words.clone(),
                facts: block.features.facts,
                place: reading.place(&block.range),
            });
        });
        let (kind, origin) = (reading.kind() as u8, reading.origin as u8);
        found.push(TrainingReading { kind, origin, blocks });
    }
    found
}

/// How many facts a block has, and the pairs of facts that count as one more in a window, in order.
#[must_use]
pub fn training_pairs() -> (usize, Vec<u64>) {
    pairs()
}
