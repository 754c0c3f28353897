//! The full USE-multilingual-v3.

use std::path::Path;
use std::sync::Arc;

use crate::embedder::{EmbedError, Embedder};
use crate::installed::use_model_path;
use crate::sentence_piece::{Scratch, UNKNOWN};
use crate::static_embedder::StaticEmbedder;
use crate::use_file::{BLOCKS, Tensor, UseFile, WIDTH};
use crate::use_forward::encode;
use crate::vector::{EmbedderId, Vector};

const START: u32 = 1;
const END: u32 = 2;
/// A text is embedded by its first pieces; what is further down changes little and costs
/// milliseconds a line.
const LONGEST: usize = 512;

/// Embeds with the full model, in milliseconds a text.
///
/// Its vocabulary is that of the static table, which was distilled from it.
#[derive(Debug)]
pub struct UseEmbedder {
    model: UseFile,
    vocabulary: Arc<StaticEmbedder>,
    id: Arc<EmbedderId>,
}

impl UseEmbedder {
    /// Opens a model file as [`crate::use_model_from_wheel`] writes it.
    ///
    /// Nothing is used unchecked: the header, the length and the dense weights are compared with
    /// their hash here, and each row of the table when it is read.
    ///
    /// # Errors
    /// Where the file cannot be read or is not the model.
    pub fn open(path: &Path, vocabulary: Arc<StaticEmbedder>) -> Result<Self, EmbedError> {
        let model = UseFile::open(path)?;
        let version: String =
            model.digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let id = Arc::new(EmbedderId::new("use", version, WIDTH));
        Ok(Self { model, vocabulary, id })
    }

    /// Opens the model where [`crate::install_use_model`] puts it, with the vocabulary that is
    /// part of this program.
    ///
    /// # Errors
    /// Where it is not installed, cannot be read or is damaged.
    pub fn installed(models: &Path) -> Result<Self, EmbedError> {
        let path = use_model_path(models);
        if !path.exists() {
            return Err(EmbedError::NotInstalled { path: path.display().to_string() });
        }
        Self::open(&path, Arc::new(StaticEmbedder::embedded()?))
    }

    /// Reads the whole file and checks all of it.
    ///
    /// # Errors
    /// Where it cannot be read or does not match.
    pub fn verify(&self) -> Result<(), EmbedError> {
        self.model.verify()
    }

    /// The pieces of a text between start and end; an empty text is one unknown character.
    fn pieces(&self, text: &str, scratch: &mut Scratch) -> Vec<u32> {
        let mut pieces = vec![START];
        self.vocabulary.tokenise(first_part(text), scratch, |piece| {
            if pieces.len() <= LONGEST {
                pieces.push(piece);
            }
        });
        if pieces.len() == 1 {
            pieces.push(UNKNOWN);
        }
        pieces.push(END);
        pieces
    }

    fn embeddings(&self, pieces: &[u32]) -> Result<Vec<f32>, EmbedError> {
        let mut embeddings = Vec::with_capacity(pieces.len() * WIDTH);
        let mut codes = [0; WIDTH];
        for piece in pieces {
            self.model.row(*piece, &mut codes)?;
            let block = *piece as usize % BLOCKS;
            let at =
                |tensor| self.model.weights.get(tensor).get(block).copied().unwrap_or_default();
            let (scale, low) = (at(Tensor::Scale), at(Tensor::Low));
            embeddings.extend(codes.iter().map(|code| f32::from(*code) * scale + low));
        }
        Ok(embeddings)
    }
}

/// As much of a text as can hold the pieces that are looked at.
fn first_part(text: &str) -> &str {
    const LONGEST_PIECE: usize = 64;
    let end = text.floor_char_boundary(LONGEST * LONGEST_PIECE);
    text.get(..end).unwrap_or(text)
}

impl Embedder for UseEmbedder {
    fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let mut scratch = Scratch::default();
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let embeddings = self.embeddings(&self.pieces(text, &mut scratch))?;
            let values = encode(&self.model.weights, &embeddings);
            let vector = Vector::new(Arc::clone(&self.id), values);
            vectors.push(vector.map_err(|error| EmbedError::corrupt(error.to_string()))?);
        }
        Ok(vectors)
    }
}
