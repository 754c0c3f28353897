//! The lines around places in a text, so that a disguise in one place does not make the whole text
//! be read twice.

use std::ops::Range;

/// How much is read around a place, in bytes, at least; it ends where a line does.
const AROUND: usize = 240;
const MAX_AROUND: usize = 600;

/// Places in a text, marked in any order.
pub(super) struct Nearby<'a> {
    text: &'a str,
    places: Vec<usize>,
}

impl<'a> Nearby<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, places: Vec::new() }
    }

    pub(super) fn mark(&mut self, at: usize) {
        self.places.push(at);
    }

    /// The pieces of text around all places, in order.
    pub(super) fn pieces(mut self) -> Vec<(Range<usize>, &'a str)> {
        self.places.sort_unstable();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for at in &self.places {
            if ranges.last().is_some_and(|last| at + AROUND <= last.end) {
                continue;
            }
            let around = self.start(*at)..self.end(*at);
            match ranges.last_mut() {
                Some(last) if around.start <= last.end => last.end = around.end.max(last.end),
                _ => ranges.push(around),
            }
        }
        let piece = |range: Range<usize>| Some((range.clone(), self.text.get(range)?));
        ranges.into_iter().filter_map(piece).collect()
    }

    fn start(&self, at: usize) -> usize {
        let from = floor(self.text, at.saturating_sub(MAX_AROUND));
        let near = floor(self.text, at.saturating_sub(AROUND));
        let before = self.text.get(from..near).unwrap_or_default();
        if near == 0 { 0 } else { before.rfind('\n').map_or(from, |line| from + line + 1) }
    }

    fn end(&self, at: usize) -> usize {
        let near = floor(self.text, at.saturating_add(AROUND));
        let to = floor(self.text, at.saturating_add(MAX_AROUND));
        let after = self.text.get(near..to).unwrap_or_default();
        after.find('\n').map_or(to, |line| near + line)
    }
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
