//! The static embedder against small tables, damaged tables and hostile texts.

use proptest::prelude::*;

use crate::embedder::{EmbedError, Embedder};
use crate::static_table::embedder::StaticEmbedder;
use crate::static_table::pack::Recipe;

const SPACE: char = '\u{2581}';

/// Eight dimensions of three bits: code 7 is 1, code 0 is -1.
fn table() -> Vec<u8> {
    let row = |axis: usize| (0..8).map(|i| if i == axis { 7 } else { 3 }).collect::<Vec<u8>>();
    let pieces = [
        (format!("{SPACE}turn"), -3.0, row(0)),
        (format!("{SPACE}on"), -2.0, row(1)),
        (format!("{SPACE}"), -5.0, row(2)),
        ("turn".to_owned(), -6.0, row(3)),
        ("s".to_owned(), -4.0, row(4)),
        (format!("{SPACE}turns"), -8.0, row(5)),
        ("é".to_owned(), -7.0, row(6)),
    ];
    let pieces: Vec<_> = pieces.iter().map(|(a, b, c)| (a.as_str(), *b, c.clone())).collect();
    let map = [("Ａ", "turn"), ("\t", " "), ("\u{3000}", " "), ("\u{200b}", "")];
    Recipe { dims: 8, bits: 3, pieces: &pieces, map: &map }.write()
}

fn embedder() -> StaticEmbedder {
    let embedder = StaticEmbedder::from_bytes(table()).unwrap();
    embedder.verify().unwrap();
    embedder
}

#[test]
fn the_most_probable_pieces_are_chosen() {
    let embedder = embedder();
    assert_eq!(embedder.pieces("turn on"), [1, 2]);
    assert_eq!(embedder.pieces("  turn\t\u{3000} on "), [1, 2], "runs of spaces are one");
    assert_eq!(embedder.pieces("turns"), [1, 5], "-3-4 beats -8");
    assert_eq!(embedder.pieces("Ａ"), [1], "the normaliser comes first");
    assert_eq!(embedder.pieces("tu\u{200b}rn"), [1], "what is mapped to nothing goes away");
    assert_eq!(embedder.pieces("é"), [3, 7]);
    assert_eq!(embedder.pieces("世"), [3, 0], "an unknown character is piece 0");
    assert_eq!(embedder.pieces(""), [] as [u32; 0]);
    assert_eq!(embedder.pieces(" \t "), [] as [u32; 0]);
}

#[test]
fn a_vector_is_the_mean_of_its_pieces() {
    let embedder = embedder();
    let [one, both, none, unknown] =
        embedder.embed(&["turn", "on turn", "", "\0"]).unwrap().try_into().unwrap();
    let other = -1.0_f32 / 7.0; // code 3 of eight levels
    let raw: Vec<f32> = (0..8).map(|i| if i == 0 { 1.0 } else { other }).collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    for (x, y) in one.values().iter().zip(&raw) {
        assert!((x - y / length).abs() < 1e-6);
    }
    assert!((both.values()[0] - both.values()[1]).abs() < 1e-6);
    assert!(none.is_zero());
    assert!(!unknown.is_zero(), "the space in front of it is known");
    assert!((both.cosine(&both).unwrap() - 1.0).abs() < 1e-6);
}

#[test]
fn keeping_words_changes_nothing() {
    use crate::tokenizer::sentence_piece::Scratch;
    let embedder = embedder();
    // more words than are kept, repeated, and one that is too long to be kept
    let many = (0..3000).map(|i| format!("turn on s{} é", i % 1700));
    let some = ["turn turns on turn", &"turns".repeat(20), "", " ", "on é on"].map(str::to_owned);
    let mut kept = Scratch::for_long_texts();
    for text in many.chain(some) {
        let plain = embedder.sum(&text, &mut Scratch::default());
        for (x, y) in embedder.sum(&text, &mut kept).iter().zip(&plain) {
            assert!((x - y).abs() <= 1e-5 * y.abs().max(1.0), "{text}: {x} {y}");
        }
    }
    // a table with other vectors does not get those of the first
    let other = Recipe { dims: 8, bits: 3, pieces: &[("\u{2581}", -1.0, vec![7; 8])], map: &[] };
    let other = StaticEmbedder::from_bytes(other.write()).unwrap();
    assert_eq!(other.sum("on", &mut kept), other.sum("on", &mut Scratch::default()));
}

#[test]
fn rows_of_three_bits_are_read_as_any_other() {
    for dims in 1..=17 {
        let codes: Vec<u8> = (0..dims).map(|i| (i * 5 % 8) as u8).collect();
        let pieces = [("\u{2581}", -1.0, codes.clone())];
        let bytes = Recipe { dims, bits: 3, pieces: &pieces, map: &[] }.write();
        let embedder = StaticEmbedder::from_bytes(bytes).unwrap();
        let sum = embedder.sum("x", &mut crate::tokenizer::sentence_piece::Scratch::default());
        let expected: Vec<f32> = codes.iter().map(|c| 2.0 * f32::from(*c) / 7.0 - 1.0).collect();
        for (x, y) in sum.iter().zip(&expected) {
            assert!((x - y).abs() < 1e-6, "{dims}: {sum:?} {expected:?}");
        }
    }
}

#[test]
fn every_width_of_a_code_is_read() {
    for bits in 1..=8 {
        let top = ((1_u32 << bits) - 1) as u8;
        let codes: Vec<u8> = (0..11).map(|i| if i == 10 { top } else { 0 }).collect();
        let pieces = [("\u{2581}", -1.0, codes)];
        let bytes = Recipe { dims: 11, bits, pieces: &pieces, map: &[] }.write();
        let embedder = StaticEmbedder::from_bytes(bytes).unwrap();
        let vector = embedder.embed(&["x"]).unwrap().remove(0);
        let unit = 1.0 / 11.0_f32.sqrt();
        for (i, x) in vector.values().iter().enumerate() {
            assert!((x - if i == 10 { unit } else { -unit }).abs() < 1e-6, "{bits} bits, {i}");
        }
    }
}

#[test]
fn a_damaged_table_is_an_error() {
    let good = table();
    for end in 0..good.len() {
        assert!(StaticEmbedder::from_bytes(good[..end].to_vec()).is_err(), "cut at {end}");
    }
    let mut newer = good.clone();
    newer[8] = 2;
    let error = StaticEmbedder::from_bytes(newer).unwrap_err();
    assert!(matches!(error, EmbedError::Version { found: 2, known: 1 }), "{error}");
    let mut flipped = good;
    *flipped.last_mut().unwrap() ^= 1;
    let error = StaticEmbedder::from_bytes(flipped).unwrap().verify().unwrap_err();
    let message = "the model is damaged: its content does not match its hash; install it again";
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = StaticEmbedder::open("no/such/table".as_ref()).unwrap_err();
    assert!(error.to_string().starts_with("no/such/table: "), "{error}");
}

#[test]
fn a_long_text_is_no_trouble() {
    let embedder = embedder();
    for text in ["turn on ".repeat(130_000), "x".repeat(1_000_000), "\u{2581}".repeat(300_000)] {
        assert_eq!(embedder.embed(&[&text]).unwrap().len(), 1);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text: String) {
        let embedder = embedder();
        let vector = embedder.embed(&[&text]).unwrap().remove(0);
        let length: f32 = vector.values().iter().map(|x| x * x).sum();
        prop_assert!(vector.is_zero() || (length - 1.0).abs() < 1e-4);
    }

    #[test]
    fn no_damage_panics(changes in prop::collection::vec((8_usize..2000, any::<u8>()), 1..20), text: String) {
        let mut bytes = table();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Ok(embedder) = StaticEmbedder::from_bytes(bytes) {
            let vector = embedder.embed(&[&text, "turn on"]).unwrap().remove(1);
            prop_assert!(vector.values().iter().all(|x| x.is_finite()));
        }
    }
}
