//! The `foreword` command.
fn main() {}
