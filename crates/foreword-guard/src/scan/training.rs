//! The numbers the head is fitted on, for `tools/model/injection_head.py`.

use super::features::Features;
use super::reading::readings;
use super::windows::each_window;
use foreword_embed::StaticEmbedder;

/// One window of a text, as the head sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingWindow {
    /// Of length one, or zero.
    pub vector: Vec<f32>,
    /// Buckets of its character n-grams.
    pub chars: Vec<u16>,
    /// Buckets of its word n-grams.
    pub words: Vec<u16>,
    /// The facts.
    pub facts: Vec<f32>,
}

/// Every window of every reading of `text`, in the order in which the scanner looks at them.
#[must_use]
pub fn training_windows(embedder: &StaticEmbedder, text: &str) -> Vec<TrainingWindow> {
    let mut features = Features::default();
    let mut found = Vec::new();
    for reading in readings(text) {
        each_window(&reading, text, Some(embedder), &mut features, |window| {
            found.push(TrainingWindow {
                vector: window.vector.unwrap_or_default().to_vec(),
                chars: window.features.chars.clone(),
                words: window.features.words.clone(),
                facts: window.features.facts.to_vec(),
            });
        });
    }
    found
}
