//! The indexes: words, character n-grams, names and vectors.

pub(crate) mod flat;
pub(crate) mod grams;
pub(crate) mod lexical;
pub(crate) mod named;
pub(crate) mod postings;
pub(crate) mod terms;
pub(crate) mod vectors;
pub(crate) mod words;
