//! Writes what the injection head is fitted on:
//! `cargo run --profile profiling -p foreword-guard --example injection_features < IN.jsonl > OUT`.
//!
//! Reads `{"text": …}` lines. Writes for each the number of windows, and for each window its
//! vector, facts, and the buckets of its character and word n-grams with their numbers in front;
//! numbers are u32, weights f32, buckets u16, all little-endian. Behind the windows of a text comes
//! the vector of the whole text.

use std::io::{BufRead, Error, Write};

use foreword_embed::{Embedder, StaticEmbedder};
use foreword_guard::training_windows;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let embedder = StaticEmbedder::embedded()?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line?)?;
        let text = row.get("text").and_then(|t| t.as_str()).ok_or(Error::other("no text"))?;
        let windows = training_windows(&embedder, text);
        out.write_all(&count(windows.len())?)?;
        for window in windows {
            floats(&mut out, &window.vector)?;
            floats(&mut out, &window.facts)?;
            buckets(&mut out, &window.chars)?;
            buckets(&mut out, &window.words)?;
        }
        for vector in embedder.embed(&[text])? {
            floats(&mut out, vector.values())?;
        }
    }
    Ok(())
}

fn count(n: usize) -> Result<[u8; 4], std::num::TryFromIntError> {
    Ok(u32::try_from(n)?.to_le_bytes())
}

fn floats(out: &mut impl Write, numbers: &[f32]) -> Result<(), Error> {
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

fn buckets(out: &mut impl Write, numbers: &[u16]) -> Result<(), Box<dyn std::error::Error>> {
    out.write_all(&count(numbers.len())?)?;
    Ok(numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?)
}
