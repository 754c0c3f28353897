//! The integration tests of foreword-watch, in one binary.

mod report;
