//! Bodies in `gzip` and `deflate`, as far as they go.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};

/// The most bytes that a compressed body may grow to.
const MAX_DECODED: usize = 128 << 20;

/// A body as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    Text(String),
    /// Why it cannot be read.
    Unreadable(String),
}

/// Undoes the coding of a body. What a broken stream gave before it broke is kept.
pub(crate) fn decode(bytes: &[u8], coding: Option<&[u8]>) -> Decoded {
    let coding = coding.map(|coding| String::from_utf8_lossy(coding).trim().to_ascii_lowercase());
    let plain = match coding.as_deref() {
        None | Some("" | "identity") => bytes.to_vec(),
        Some("gzip" | "x-gzip") => match gzip_payload(bytes) {
            Some(payload) => unpack(payload, DataFormat::Raw),
            None => return Decoded::Unreadable("it is not valid gzip".to_owned()),
        },
        Some("deflate") => {
            let zlib = unpack(bytes, DataFormat::Zlib);
            if zlib.is_empty() { unpack(bytes, DataFormat::Raw) } else { zlib }
        }
        Some(other) => return Decoded::Unreadable(format!("it is compressed with `{other}`")),
    };
    match String::from_utf8(plain) {
        Ok(text) => Decoded::Text(text),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let is_cut = error.utf8_error().error_len().is_none();
            let mut bytes = error.into_bytes();
            if !is_cut {
                return Decoded::Unreadable("it is not UTF-8".to_owned());
            }
            bytes.truncate(valid);
            Decoded::Text(String::from_utf8(bytes).unwrap_or_default())
        }
    }
}

/// What follows the header of a gzip file.
fn gzip_payload(bytes: &[u8]) -> Option<&[u8]> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else { return None };
        rest = after.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

fn unpack(mut input: &[u8], format: DataFormat) -> Vec<u8> {
    let mut state = InflateState::new_boxed(format);
    let mut out = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while out.len() < MAX_DECODED {
        let step = inflate(&mut state, input, &mut buffer, MZFlush::None);
        input = input.get(step.bytes_consumed..).unwrap_or_default();
        out.extend_from_slice(buffer.get(..step.bytes_written).unwrap_or_default());
        match step.status {
            Ok(MZStatus::Ok) if step.bytes_consumed > 0 || step.bytes_written > 0 => {}
            Err(MZError::Buf) if step.bytes_written > 0 => {}
            _ => break,
        }
    }
    out
}
