//! The integration tests of foreword-watch, in one binary.
#![allow(clippy::indexing_slicing, clippy::unwrap_used)]

mod captures;
mod page;
mod proxy;
mod report;
mod support;
mod tls;
