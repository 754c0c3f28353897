//! `cargo xtask types`: the types of the Python and Node packages, from the published schemas.
//!
//! `schemas/*.json` is checked against the code by the tests of foreword-cli, and the files written here
//! are checked against the schemas by the test below. So a field that changes in Rust changes everywhere,
//! or a test fails.

mod model;
mod python;
mod typescript;

use std::path::{Path, PathBuf};

use crate::error::TaskError;

/// The files to write, with their texts.
fn generated(root: &Path) -> Result<Vec<(PathBuf, String)>, TaskError> {
    let types = model::read(&root.join("schemas"))?;
    Ok(vec![
        (root.join("bindings/python/python/foreword/types.py"), python::write(&types)),
        (root.join("bindings/node/types.d.ts"), typescript::write(&types)),
    ])
}

/// Writes the types.
pub(crate) fn run() -> Result<(), TaskError> {
    for (path, text) in generated(&root())? {
        std::fs::write(&path, text).map_err(TaskError::io(path.display().to_string()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_the_packages_are_those_of_the_schemas() {
        for (path, text) in generated(&root()).unwrap() {
            let known = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(known == text, "{} is out of date; run `cargo xtask types`", path.display());
        }
    }
}
