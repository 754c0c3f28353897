//! Everyday requests, against which it is seen which items are close to everything.
//!
//! Some items lie near the middle of all vectors and come up for any query, others lie far out and
//! come up for none, their own included: hubs and their opposite. Between languages, where all
//! cosines are low, that decides more of a ranking than the query does. How close an item is to
//! requests that have nothing to do with it tells which it is, and is taken off its cosine.
//!
//! The requests are ours, sixteen in each of six languages; none comes from a set we measure on.

use foreword_embed::Vector;
use foreword_embed::{EmbedError, Embedder};

const REQUESTS: &str = include_str!("background.txt");

/// The requests, for a caller that embeds them together with other texts.
pub fn background_requests() -> impl Iterator<Item = &'static str> {
    REQUESTS.lines()
}

/// The vectors of the requests, for [`crate::VectorIndex::set_background`].
pub fn background(embedder: &dyn Embedder) -> Result<Vec<Vector>, EmbedError> {
    embedder.embed(&background_requests().collect::<Vec<_>>())
}
