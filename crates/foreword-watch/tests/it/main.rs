//! The integration tests of foreword-watch, in one binary.

mod captures;
mod proxy;
mod report;
mod support;
mod tls;
