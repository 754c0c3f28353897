//! Makes `crates/foreword/src/tokens/estimate/pairs.bin`, the estimate's table.
//!
//! ```text
//! cargo run --release -p foreword --features exact-tokens --example fit_pairs -- OUT WEIGHT:PATH...
//! ```
//!
//! Every path is one source of text, a file or a directory; its weight is what
//! it contributes whatever its size. For each pair of neighbouring characters
//! the table gets the mean number of o200k tokens that begin between them, in
//! hundredths, smoothed toward the mean of the pair's classes. Prints the same
//! mean for characters outside ASCII by block, from which the costs in
//! `estimate/script.rs` were chosen.
#![allow(clippy::print_stdout, clippy::indexing_slicing)] // a tool for the terminal, on fixed tables

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// Tokens begun, and how often the pair was seen; both weighted.
type Mean = (f64, f64);

/// Observations that the mean of the classes counts for, in weighted
/// occurrences per million bytes.
const PRIOR: f64 = 20.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("which file to write?")?;
    let mut total = vec![(0.0, 0.0); 1 << 14];
    let mut wide: BTreeMap<(u32, usize), Mean> = BTreeMap::new();
    for argument in arguments {
        let (weight, path) = argument.split_once(':').ok_or("expected WEIGHT:PATH")?;
        let mut pairs = vec![(0.0, 0.0); 1 << 14];
        let mut bytes = 0;
        read(Path::new(path), &mut |text| {
            bytes += text.len();
            observe(text, &mut pairs, &mut wide);
        })?;
        let weight = weight.parse::<f64>()? * 1e6 / f64::from(u32::try_from(bytes.max(1))?);
        for (sum, pair) in total.iter_mut().zip(pairs) {
            sum.0 += pair.0 * weight;
            sum.1 += pair.1 * weight;
        }
    }
    fs::write(out, table(&total))?;
    println!("block   inside  after space  first");
    for block in wide.keys().map(|key| key.0).collect::<std::collections::BTreeSet<_>>() {
        let mean = |place| wide.get(&(block, place)).map_or(f64::NAN, |m: &Mean| m.0 / m.1);
        println!("{:>5X} {:>8.2} {:>12.2} {:>6.2}", block * 0x80, mean(0), mean(1), mean(2));
    }
    Ok(())
}

/// Counts the tokens that begin at each character of `text`.
fn observe(text: &str, pairs: &mut [Mean], wide: &mut BTreeMap<(u32, usize), Mean>) {
    let Some(bpe) = tiktoken::get_encoding("o200k_base") else {
        return;
    };
    let mut begins = vec![0_u32; text.len() + 1];
    let mut at = 0;
    for token in bpe.encode(text) {
        begins[at] = 1;
        at += bpe.decode(&[token]).len();
    }
    // What begins inside a run of blanks is paid at its first one.
    let blank = |at: usize| matches!(text.as_bytes().get(at), Some(b' ' | b'\t'));
    for at in (1..text.len()).rev().filter(|&at| blank(at) && blank(at - 1)) {
        begins[at - 1] += begins[at];
        begins[at] = 0;
    }
    let mut before = '\n';
    for (at, c) in text.char_indices() {
        let tokens = f64::from(begins[at..at + c.len_utf8()].iter().sum::<u32>());
        let mean = if c.is_ascii() {
            &mut pairs[usize::from(symbol(before)) << 7 | usize::from(symbol(c))]
        } else {
            let block = u32::from(c) / 0x80;
            let same = !before.is_ascii() && u32::from(before) / 0x80 == block;
            let place = if same {
                0
            } else if before == ' ' {
                1
            } else {
                2
            };
            wide.entry((block, place)).or_default()
        };
        mean.0 += tokens;
        mean.1 += 1.0;
        before = c;
    }
}

/// What stands for a character in the table; as in `estimate/script.rs`.
fn symbol(c: char) -> u8 {
    match u32::from(c) {
        code @ 0..=0x7F => code as u8,
        0xC0..=0x24F | 0x1E00..=0x1EFF => b'e',
        0xA0..=0xBF | 0x2000..=0x200A | 0x2010..=0x2027 | 0x2030..=0x205F => 2,
        0x3000..=0x303F | 0xFF00..=0xFFEF | 0x60C | 0x61B | 0x61F | 0x6D4 => 2,
        _ => 1,
    }
}

fn class(symbol: usize) -> usize {
    match symbol as u8 {
        1 => 0,
        2 => 1,
        b'a'..=b'z' => 2,
        b'A'..=b'Z' => 3,
        b'0'..=b'9' => 4,
        b' ' | b'\t' => 5,
        b'\n' | b'\r' => 6,
        _ => 7,
    }
}

fn table(total: &[Mean]) -> Vec<u8> {
    let classes = |at: usize| class(at >> 7) * 8 + class(at & 0x7F);
    let mut prior = [(0.5, 1.0); 64];
    // A sign repeated is no guide to signs that differ.
    for at in (0..total.len()).filter(|at| at >> 7 != at & 0x7F || class(at >> 7) != 7) {
        prior[classes(at)].0 += total[at].0;
        prior[classes(at)].1 += total[at].1;
    }
    let mut table: Vec<u8> = (0..total.len())
        .map(|at| {
            let (tokens, seen) = prior[classes(at)];
            let mean = (total[at].0 + PRIOR * tokens / seen) / (total[at].1 + PRIOR);
            (mean * 100.0).round().clamp(0.0, 250.0) as u8
        })
        .collect();
    let cell = |before: u8, this: u8| usize::from(before) << 7 | usize::from(this);
    // Rare in the sources, or rare in runs as long as hostile ones.
    for other in 0..128 {
        table[cell(other, b'\r')] = table[cell(other, b'\n')];
        table[cell(b'\r', other)] = table[cell(b'\n', other)];
    }
    table[cell(b'\r', b'\n')] = 2;
    table[cell(b'\n', b'\n')] = 5;
    for (a, b) in [(b' ', b' '), (b' ', b'\t'), (b'\t', b' '), (b'\t', b'\t')] {
        table[cell(a, b)] = 1;
    }
    table
}

fn read(path: &Path, each: &mut impl FnMut(&str)) -> Result<(), Box<dyn Error>> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            read(&entry?.path(), each)?;
        }
    } else if let Ok(text) = String::from_utf8(fs::read(path)?) {
        each(&text);
    }
    Ok(())
}
