//! Payloads: base64 and hexadecimal that decode to readable text.

use std::ops::Range;

/// Something that was encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payload {
    /// Its byte range in the surrounding text.
    pub(crate) range: Range<usize>,
    /// The decoded text.
    pub(crate) text: String,
}

/// Shorter runs are words, names and keys.
const MIN_RUN: usize = 16;
/// A payload of more than this is looked at in part.
const MAX_RUN: usize = 256 * 1024;

/// Every readable payload in `text`, in order: base64 and hexadecimal.
///
/// Takes linear time, and decoded text is never longer than encoded text.
#[must_use]
pub(crate) fn payloads(text: &str) -> Vec<Payload> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // A run that is long enough covers every position at that distance.
    while let Some(&byte) = bytes.get(at + MIN_RUN - 1) {
        if !is_base64(byte) {
            at += MIN_RUN;
            continue;
        }
        let window = bytes.get(at..at + MIN_RUN).unwrap_or_default();
        at += window.iter().rposition(|b| !is_base64(*b)).map_or(0, |gap| gap + 1);
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|b| is_base64(**b)).count();
        if length < MIN_RUN {
            at += length + 1;
            continue;
        }
        let (run, end) = run_at(bytes, at);
        let decoded = decode_hex(&run).or_else(|| decode_base64(&run));
        found.extend(decoded.map(|text| Payload { range: at..end, text }));
        at = end;
    }
    found
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The run from `at`, over line breaks where the lines are those of a wrapped payload.
fn run_at(bytes: &[u8], at: usize) -> (Vec<u8>, usize) {
    let mut run = Vec::new();
    let mut end = at;
    loop {
        let rest = bytes.get(end..).unwrap_or_default();
        let len = rest.iter().take(MAX_RUN).take_while(|b| is_base64(**b)).count();
        run.extend_from_slice(rest.get(..len).unwrap_or_default());
        end += len;
        if len < 60 || run.len() >= MAX_RUN || bytes.get(end) != Some(&b'\n') {
            break;
        }
        let blanks = bytes.get(end + 1..).unwrap_or_default();
        let indent = blanks.iter().take(32).take_while(|b| matches!(b, b' ' | b'\t')).count();
        if !bytes.get(end + 1 + indent).is_some_and(|b| is_base64(*b)) {
            break;
        }
        end += 1 + indent;
    }
    (run, end)
}

fn decode_hex(run: &[u8]) -> Option<String> {
    let digits = run.strip_prefix(b"0x").unwrap_or(run);
    if digits.len() < MIN_RUN || !digits.len().is_multiple_of(2) {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 2);
    for pair in digits.chunks_exact(2) {
        let (high, low) = (pair.first()?, pair.last()?);
        let high = char::from(*high).to_digit(16)?;
        let low = char::from(*low).to_digit(16)?;
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    readable(out)
}

fn decode_base64(run: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(run.len() / 4 * 3);
    let mut buffer = 0u32;
    let mut bits = 0;
    for (index, &byte) in run.iter().enumerate() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        buffer = (buffer << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((buffer >> bits) & 0xFF).ok()?);
        }
        // Words and paths are recognisable within the first few bytes.
        if index == 15 && !looks_readable(&out) {
            return None;
        }
    }
    readable(out)
}

/// Whether bytes may be text: ASCII, UTF-8, or UTF-16 as PowerShell encodes it.
fn looks_readable(bytes: &[u8]) -> bool {
    let printable =
        bytes.iter().filter(|b| matches!(b, 0x20..=0x7E | b'\n' | b'\r' | b'\t')).count();
    let zeros = bytes.iter().skip(1).step_by(2).filter(|b| **b == 0).count();
    let high = bytes.iter().filter(|b| **b >= 0x80).count();
    printable + high >= bytes.len() && high * 3 <= bytes.len() * 2 || zeros * 2 + 2 >= bytes.len()
}

fn readable(bytes: Vec<u8>) -> Option<String> {
    let zeros = bytes.iter().skip(1).step_by(2).filter(|b| **b == 0).count();
    let text = if bytes.len() >= 8 && zeros * 2 + 2 >= bytes.len() {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| pair.iter().rev().fold(0u16, |n, b| (n << 8) | u16::from(*b)))
            .collect();
        String::from_utf16(&units).ok()?
    } else {
        String::from_utf8(bytes).ok()?
    };
    let total = text.chars().count();
    let control = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    (control * 20 <= total && letters * 3 >= total && total >= 8).then_some(text)
}
