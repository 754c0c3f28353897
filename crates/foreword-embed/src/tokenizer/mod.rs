//! Texts into the pieces of the vocabulary.

pub(crate) mod double_array;
#[cfg(test)]
pub(crate) mod double_array_build;
pub(crate) mod sentence_piece;
