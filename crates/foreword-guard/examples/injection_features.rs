//! Writes what the injection head is fitted on:
//! `cargo run --profile profiling -p foreword-guard --example injection_features < IN.jsonl > OUT`.
//!
//! Reads `{"text": …}` lines, with `"program": true` for programs. Writes how many facts a block has and which pairs of them a window adds
//! (u64, after their number). Writes for each text the number of readings; for each reading its kind, its
//! origin and the number of blocks; for each block its place (two numbers), its facts (u64), the scale
//! of its vector and the vector in eight bits, and the buckets of its character and word n-grams with
//! their numbers in front. Numbers are u32, scales f32, buckets u16, all little-endian. Behind the
//! readings of a text comes the vector of the whole text, in the same form.

use std::io::{BufRead, Error, Write};

use foreword_embed::{Embedder, StaticEmbedder};
use foreword_guard::{training_pairs, training_program, training_readings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let embedder = StaticEmbedder::embedded()?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let (shift, pairs) = training_pairs();
    out.write_all(&count(shift)?)?;
    out.write_all(&count(pairs.len())?)?;
    pairs.iter().try_for_each(|pair| out.write_all(&pair.to_le_bytes()))?;
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line?)?;
        let text = row.get("text").and_then(|t| t.as_str()).ok_or(Error::other("no text"))?;
        let program = row.get("program").is_some_and(|program| program == true);
        let readings = match program {
            true => training_program(&embedder, text),
            false => training_readings(&embedder, text),
        };
        out.write_all(&count(readings.len())?)?;
        for reading in readings {
            out.write_all(&[reading.kind, reading.origin])?;
            out.write_all(&count(reading.blocks.len())?)?;
            for block in reading.blocks {
                out.write_all(&count(block.place.start)?)?;
                out.write_all(&count(block.place.end)?)?;
                out.write_all(&block.facts.to_le_bytes())?;
                vector(&mut out, &block.vector)?;
                buckets(&mut out, &block.chars)?;
                buckets(&mut out, &block.words)?;
            }
        }
        for whole in embedder.embed(&[text])? {
            vector(&mut out, whole.values())?;
        }
    }
    Ok(())
}

fn count(n: usize) -> Result<[u8; 4], std::num::TryFromIntError> {
    Ok(u32::try_from(n)?.to_le_bytes())
}

fn vector(out: &mut impl Write, numbers: &[f32]) -> Result<(), Error> {
    let most = numbers.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = most / 127.0;
    out.write_all(&scale.to_le_bytes())?;
    let coded = |x: &f32| if scale > 0.0 { (x / scale).round() as i8 } else { 0 };
    numbers.iter().try_for_each(|x| out.write_all(&coded(x).to_le_bytes()))
}

fn buckets(out: &mut impl Write, numbers: &[u16]) -> Result<(), Box<dyn std::error::Error>> {
    out.write_all(&count(numbers.len())?)?;
    Ok(numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))?)
}
