#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// The bytes. A constant: only a program that uses it contains it.
pub const BYTES: &[u8] = include_bytes!("../table.bin");
