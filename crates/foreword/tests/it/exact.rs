//! The exact counters: known counts, hostile text, any text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)] // an integration test: a failure is a panic, and the timings are for people

use std::time::{Duration, Instant};

use foreword::{TOKENIZERS, exact_counter};
use proptest::prelude::*;

/// Text, o200k tokens, cl100k tokens; from two independent implementations
/// that agree (the crates `tiktoken` and `bpe-openai`).
const KNOWN: &[(&str, u32, u32)] = &[
    ("", 0, 0),
    ("Hello, world!", 4, 4),
    ("You are a careful assistant. Answer in one paragraph.", 11, 11),
    ("fn main() {\n    println!(\"{}\", compute(42));\n}\n", 12, 12),
    ("    if x == 10:\r\n\t\treturn None\r\n", 11, 11),
    ("{\"name\":\"search\",\"limit\":10,\"tags\":[\"a\",\"b\"]}", 16, 15),
    ("HTTPServer_v2.parseURL('it''s')  I'll  WE'RE", 17, 17),
    ("今天天气很好，我们去公园散步吧。", 12, 20),
    ("駅前の小さな喫茶店は、朝七時に開く。", 19, 24),
    ("역 앞의 작은 찻집은 아침 일곱 시에 문을 연다.", 20, 25),
    ("Добрый день! Чем я могу вам помочь сегодня?", 11, 24),
    ("Καλημέρα σας, πώς μπορώ να βοηθήσω;", 15, 33),
    ("مرحبا، كيف يمكنني مساعدتك اليوم؟", 10, 28),
    ("سلام، چطور می\u{200c}توانم کمک کنم؟", 10, 24),
    ("שלום, איך אפשר לעזור?", 7, 20),
    (
        "नमस\u{94d}त\u{947}, म\u{948}\u{902} आपकी क\u{948}स\u{947} मदद कर सकता ह\u{942}\u{901}?",
        13,
        38,
    ),
    ("নমস\u{9cd}ক\u{9be}র, আমি কীভ\u{9be}বে স\u{9be}হ\u{9be}য\u{9cd}য করতে প\u{9be}রি?", 14, 44),
    ("வணக\u{bcd}கம\u{bcd}, ந\u{bbe}ன\u{bcd} எப\u{bcd}படி உதவ முடியும\u{bcd}?", 11, 46),
    (
        "สว\u{e31}สด\u{e35}คร\u{e31}บ ว\u{e31}นน\u{e35}\u{e49}ให\u{e49}ช\u{e48}วยอะไรด\u{e35}",
        10,
        28,
    ),
    ("Xin chào, tôi có thể giúp gì cho bạn?", 12, 20),
    ("Größere Änderungen überprüfen wir später.", 9, 13),
    ("Où êtes-vous allés cet été ?", 9, 9),
    ("İstanbul'da hava çok güzel.", 8, 10),
    ("Zażółć gęślą jaźń", 11, 12),
    ("👨\u{200d}👩\u{200d}👧 👍🏽 🇧🇷 ❤\u{fe0f} 😂😂😂", 19, 32),
    ("├── src\n│   └── main.rs\n", 12, 13),
    ("e\u{301}\u{200b}\u{feff}\u{10ffff}", 8, 8),
    ("<|endoftext|>", 7, 7),
];

#[test]
fn known_counts() {
    let (o200k, cl100k) = (exact_counter("o200k").unwrap(), exact_counter("cl100k").unwrap());
    for &(text, o, cl) in KNOWN {
        assert_eq!((o200k.count(text), cl100k.count(text)), (o, cl), "{text:?}");
    }
}

#[test]
fn special_tokens_are_plain_text() {
    assert!(exact_counter("o200k").unwrap().count("<|endoftext|>") > 1);
}

/// A megabyte or more of hostile text stays around a second even in an
/// unoptimised build on a slow machine; a quadratic tokenizer takes minutes.
#[test]
fn hostile_text_takes_bounded_time() {
    let mut seed = 12_345_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let base64: String =
        (0..1_000_000).map(|_| char::from(alphabet[(next() % 64) as usize])).collect();
    let lower: String = (0..1_000_000).map(|_| char::from(b'a' + (next() % 26) as u8)).collect();
    let cases = [
        ("1M spaces", " ".repeat(1_000_000), 7_813),
        ("1M a", "a".repeat(1_000_000), 125_000),
        ("1M emoji", "😀".repeat(1_000_000), 1_000_000),
        ("1M newlines", "\n".repeat(1_000_000), 62_500),
        ("1M =", "=".repeat(1_000_000), 15_625),
        ("1M combining marks", "\u{301}".repeat(1_000_000), 1_000_000),
        ("base64 line", base64, 682_434),
        ("random letters", lower, 518_643),
    ];
    let exact = exact_counter("o200k").unwrap();
    exact.count("load");
    for (name, text, tokens) in cases {
        let start = Instant::now();
        let count = exact.count(&text);
        let took = start.elapsed();
        println!("{name}: {count} tokens in {took:?}, estimate {}", foreword::estimate(&text));
        assert_eq!(count, tokens, "{name}");
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_counted(text in any::<String>()) {
        for name in TOKENIZERS {
            let tokens = exact_counter(name).unwrap().count(&text);
            prop_assert!(tokens as usize <= text.len());
            prop_assert_eq!(tokens == 0, text.is_empty());
        }
    }

    #[test]
    fn any_bytes_as_text_can_be_counted(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        for name in TOKENIZERS {
            prop_assert!(exact_counter(name).unwrap().count(&text) as usize <= text.len());
        }
    }
}
