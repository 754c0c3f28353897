//! The static embedder against the reference reader of `tools/model`.

use std::path::{Path, PathBuf};

use foreword_embed::Embedder;
use serde::Deserialize;

#[derive(Deserialize)]
struct Expected {
    text: String,
    pieces: Vec<u32>,
    /// The first values of the vector.
    first: Vec<f32>,
}

#[test]
fn pieces_and_vectors_are_those_of_the_reference() {
    let repository =
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/model/test_vectors.json");
    let vectors =
        std::env::var_os("FOREWORD_STATIC_VECTORS").map_or_else(repository, PathBuf::from);
    let embedder = crate::static_table();
    let expected: Vec<Expected> =
        serde_json::from_str(&std::fs::read_to_string(&vectors).unwrap()).unwrap();
    assert!(expected.len() >= 50);
    for Expected { text, pieces, first } in expected {
        assert_eq!(embedder.pieces(&text), pieces, "{text:?}");
        let vector = embedder.embed(&[&text]).unwrap().remove(0);
        for (found, expected) in vector.values().iter().zip(&first) {
            assert!(
                (found - expected).abs() < 1e-5,
                "{text:?}: {:?}, not {first:?}",
                &vector.values()[..first.len()]
            );
        }
    }
}
