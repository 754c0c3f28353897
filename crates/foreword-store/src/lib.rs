//! What Foreword remembers, in an embedded SQLite database: proposals and the audit chain.
//!
//! No SQL type leaves this crate. It reads no clock and no environment: times, paths and actors are
//! arguments.
