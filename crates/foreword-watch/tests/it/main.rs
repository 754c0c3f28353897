//! The integration tests of foreword-watch, in one binary.

mod captures;
mod fuzz_smoke;
#[path = "../../../../fuzz/harness.rs"]
mod harness;
mod proxy;
mod report;
mod support;
mod tls;
