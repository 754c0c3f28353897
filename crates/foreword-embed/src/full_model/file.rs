//! The full model as one file of ours, and how it is read without loading it.
//!
//! ```text
//! 0   "FWUSEML3"          16  32 bytes, BLAKE3 of everything after the rows
//! 8   u32 version, 2      64  128,000 rows of 512 codes, a byte each
//! 12  zeros               ..  the tensors of `TENSORS`, f32, one after another
//!                         ..  8 bytes of BLAKE3 of each block of 8 rows
//! ```
//!
//! The code table (65 MB) stays on disk: a text needs one row of 512 bytes per piece, which a
//! positioned read takes from the page cache in about a microsecond. That is what a memory map
//! would do, without its unsafe code and without a fault where the file is cut off under us. The
//! 14 MB of dense weights are read on opening.
//!
//! Everything is verified: the data read on opening against its hash, and each row against
//! the hash of its block. So a damaged file never gives a wrong vector, and no process has to read
//! the whole of it first.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::embedder::EmbedError;

pub(crate) const MAGIC: &[u8; 8] = b"FWUSEML3";
pub(crate) const VERSION: u32 = 2;
pub(crate) const BODY: usize = 64;
pub(crate) const PIECES: usize = 128_000;
pub(crate) const WIDTH: usize = 512;
/// The blocks that codes are scaled by: piece `p` belongs to block `p % 17`.
pub(crate) const BLOCKS: usize = 17;

/// Rows that share a hash, and its length.
pub(crate) const BLOCK: usize = 8 * WIDTH;
pub(crate) const BLOCK_HASH: usize = 8;

/// The dense tensors in the order of the file, with their sizes.
pub(crate) const TENSORS: [(Tensor, usize); 29] = [
    (Tensor::Epsilon, 1),
    (Tensor::Scale, BLOCKS),
    (Tensor::Low, BLOCKS),
    (Tensor::Projection, 512 * 768),
    (Tensor::ProjectionBias, 768),
    (Tensor::ProjectionGain, 768),
    (Tensor::ProjectionShift, 768),
    (Tensor::First(2), 512 * 256),
    (Tensor::FirstBias(2), 256),
    (Tensor::Second(2), 512 * 256),
    (Tensor::SecondBias(2), 256),
    (Tensor::First(3), 768 * 256),
    (Tensor::FirstBias(3), 256),
    (Tensor::Second(3), 768 * 256),
    (Tensor::SecondBias(3), 256),
    (Tensor::First(5), 1280 * 256),
    (Tensor::FirstBias(5), 256),
    (Tensor::Second(5), 1280 * 256),
    (Tensor::SecondBias(5), 256),
    (Tensor::Gain, 1280),
    (Tensor::Shift, 1280),
    (Tensor::Joint, 1280 * 512),
    (Tensor::JointBias, 512),
    (Tensor::D0, 512 * 320),
    (Tensor::D1, 320 * 320),
    (Tensor::P1, 512 * 320),
    (Tensor::D2, 320 * 512),
    (Tensor::D3, 512 * 512),
    (Tensor::P3, 320 * 512),
];

/// A tensor of the model; those of a convolution carry the length of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tensor {
    Epsilon,
    Scale,
    Low,
    Projection,
    ProjectionBias,
    ProjectionGain,
    ProjectionShift,
    First(u8),
    FirstBias(u8),
    Second(u8),
    SecondBias(u8),
    Gain,
    Shift,
    Joint,
    JointBias,
    D0,
    D1,
    P1,
    D2,
    D3,
    P3,
}

/// The dense weights, in memory.
#[derive(Debug)]
pub(crate) struct Weights {
    values: Vec<f32>,
}

impl Weights {
    pub(crate) fn get(&self, tensor: Tensor) -> &[f32] {
        let mut start = 0;
        for (name, size) in TENSORS {
            if name == tensor {
                return self.values.get(start..start + size).unwrap_or_default();
            }
            start += size;
        }
        &[]
    }
}

/// The length of all tensors.
fn dense_length() -> usize {
    4 * TENSORS.iter().map(|(_, size)| size).sum::<usize>()
}

/// The length of a whole file.
pub(crate) fn file_length() -> usize {
    BODY + PIECES * WIDTH + dense_length() + PIECES * WIDTH / BLOCK * BLOCK_HASH
}

/// The hash of a block of rows.
pub(crate) fn block_hash(block: &[u8]) -> [u8; BLOCK_HASH] {
    blake3::hash(block).as_bytes().first_chunk().copied().unwrap_or_default()
}

/// An open model.
#[derive(Debug)]
pub(crate) struct UseFile {
    file: File,
    path: String,
    pub(crate) digest: [u8; 32],
    pub(crate) weights: Weights,
    /// Of every block of rows.
    hashes: Vec<u8>,
}

impl UseFile {
    pub(crate) fn open(path: &Path) -> Result<Self, EmbedError> {
        let name = path.display().to_string();
        let unreadable = |source| EmbedError::Unreadable { path: name.clone(), source };
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        let mut header = [0; BODY];
        let start = read_at(&file, &mut header, 0);
        if start.is_err() || !header.starts_with(MAGIC) {
            return Err(EmbedError::corrupt(format!("{name} does not start like the full model")));
        }
        let [_, _, _, _, _, _, _, _, a, b, c, d, ..] = header;
        let version = u32::from_le_bytes([a, b, c, d]);
        if version != VERSION {
            return Err(EmbedError::Version { found: version, known: VERSION });
        }
        if length != file_length() as u64 {
            return Err(EmbedError::corrupt(format!(
                "{name} is {length} bytes long, not {}",
                file_length()
            )));
        }
        let dense = BODY + PIECES * WIDTH;
        let mut bytes = vec![0; file_length() - dense];
        read_at(&file, &mut bytes, dense as u64).map_err(unreadable)?;
        let digest =
            header.get(16..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if *blake3::hash(&bytes).as_bytes() != digest {
            return Err(mismatch(&name));
        }
        let hashes = bytes.split_off(dense_length());
        let values = bytes.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect();
        Ok(Self { file, path: name, digest, weights: Weights { values }, hashes })
    }

    /// The codes of a piece.
    pub(crate) fn row(&self, piece: u32, codes: &mut [u8; WIDTH]) -> Result<(), EmbedError> {
        let piece = (piece as usize).min(PIECES - 1);
        let mut block = [0; BLOCK];
        self.block(piece * WIDTH / BLOCK, &mut block)?;
        if let Some(row) = block.as_chunks().0.get(piece % (BLOCK / WIDTH)) {
            *codes = *row;
        }
        Ok(())
    }

    /// Reads a block of rows and compares its hash.
    fn block(&self, number: usize, block: &mut [u8; BLOCK]) -> Result<(), EmbedError> {
        read_at(&self.file, block, (BODY + number * BLOCK) as u64)
            .map_err(|source| EmbedError::Unreadable { path: self.path.clone(), source })?;
        if self.hashes.as_chunks().0.get(number) == Some(&block_hash(block)) {
            Ok(())
        } else {
            Err(mismatch(&self.path))
        }
    }

    /// Reads all rows and compares their hashes.
    pub(crate) fn verify(&self) -> Result<(), EmbedError> {
        let mut block = [0; BLOCK];
        (0..PIECES * WIDTH / BLOCK).try_for_each(|number| self.block(number, &mut block))
    }
}

fn mismatch(path: &str) -> EmbedError {
    EmbedError::corrupt(format!("the content of {path} does not match its hash"))
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, buffer, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += read as u64;
        buffer = buffer.get_mut(read..).unwrap_or_default();
    }
    Ok(())
}
