//! The embedder in the binary: a table of token vectors, distilled from the full model.

pub(crate) mod bytes;
pub(crate) mod embedder;
#[cfg(test)]
pub(crate) mod pack;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod word_cache;
