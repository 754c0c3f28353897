//! The full USE-multilingual-v3.

use std::path::Path;
use std::sync::Arc;

use crate::embedder::{EmbedError, Embedder};
use crate::full_model::file::{BLOCKS, Tensor, UseFile, WIDTH};
use crate::full_model::forward::encode;
use crate::full_model::installed::use_model_path;
use crate::static_table::embedder::StaticEmbedder;
use crate::tokenizer::sentence_piece::{Scratch, UNKNOWN};
use crate::vector::{EmbedderId, Vector, normalise};

const START: u32 = 1;
const END: u32 = 2;
/// Only the first pieces of a text are embedded; later ones change little and cost milliseconds
/// per line.
const LONGEST: usize = 512;

/// The weight of the full model relative to the static table in a cosine.
///
/// The model knows more of English, the table was trained further on commands in other languages:
/// each is better than the other somewhere, and the mean of their cosines is rarely worse than the
/// better of the two. A vector is both, one after the other, each scaled so that the product of
/// two such vectors is that mean.
const MODEL_SHARE: f32 = 0.4;

/// Embeds with the full model and the static table, in milliseconds per text.
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
    /// Everything is verified: the header, the length and the dense weights are compared with
    /// their hash here, and each row of the table when it is read.
    pub fn open(path: &Path, vocabulary: Arc<StaticEmbedder>) -> Result<Self, EmbedError> {
        let model = UseFile::open(path)?;
        let version: String =
            model.digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let table = vocabulary.id();
        let version = format!("{version}+{}", table.version);
        let id = Arc::new(EmbedderId::new("use", version, WIDTH + table.dims));
        Ok(Self { model, vocabulary, id })
    }

    /// Opens the model where [`crate::install_use_model`] puts it, with the vocabulary that is
    /// part of this program.
    pub fn installed(models: &Path) -> Result<Self, EmbedError> {
        let path = use_model_path(models);
        if !path.exists() {
            return Err(EmbedError::NotInstalled { path: path.display().to_string() });
        }
        Self::open(&path, Arc::new(StaticEmbedder::embedded()?))
    }

    /// Reads the whole file and checks all of it.
    pub fn verify(&self) -> Result<(), EmbedError> {
        self.model.verify()
    }

    /// The vectors of the full model alone: 512 numbers of length one for each text.
    pub fn model_vectors(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut scratch = Scratch::default();
        let vector = |text: &&str| {
            let embeddings = self.embeddings(&self.pieces(text, &mut scratch))?;
            let mut values = encode(&self.model.weights, &embeddings);
            normalise(&mut values);
            Ok(values)
        };
        texts.iter().map(vector).collect()
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

/// The start of a text, long enough for the pieces that are used.
fn first_part(text: &str) -> &str {
    const MAX_PIECE: usize = 64;
    let end = text.floor_char_boundary(LONGEST * MAX_PIECE);
    text.get(..end).unwrap_or(text)
}

impl Embedder for UseEmbedder {
    fn id(&self) -> &Arc<EmbedderId> {
        &self.id
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>, EmbedError> {
        let models = self.model_vectors(texts)?;
        let tables = self.vocabulary.embed(texts)?;
        let (model_part, table_part) = (MODEL_SHARE.sqrt(), (1.0 - MODEL_SHARE).sqrt());
        let both = models.into_iter().zip(&tables).map(|(mut values, table)| {
            // If the table knows no piece of a text, its vector is zero, whatever the model returns.
            let factor = if table.is_zero() { 0.0 } else { model_part };
            values.iter_mut().for_each(|x| *x *= factor);
            values.extend(table.values().iter().map(|x| x * table_part));
            Vector::new(Arc::clone(&self.id), values)
                .map_err(|error| EmbedError::corrupt(error.to_string()))
        });
        both.collect()
    }
}
