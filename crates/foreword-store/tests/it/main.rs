//! The integration tests of `foreword-store`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod backing_up;
mod contents;
#[cfg(unix)]
mod crash;
mod fixture;
mod grants;
mod grouping;
mod held_changes;
mod identity;
mod key;
mod locating;
mod memories;
mod migrating;
mod opening;
mod planning;
mod proposals;
mod removing;
mod sealing;
mod sessions;
mod spending;
mod tampering;
mod writing;
