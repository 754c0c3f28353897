#![allow(clippy::indexing_slicing, clippy::string_slice)] // test data, cut at known boundaries

use proptest::prelude::*;

use super::{Measured, Meter, estimate};

fn in_pieces(pieces: &[&str]) -> u32 {
    let mut meter = Meter::new();
    for piece in pieces {
        meter.feed(piece);
    }
    meter.tokens()
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(Meter::new().tokens(), 0);
    assert_eq!(Meter::default().tokens(), 0);
    assert_eq!(estimate(""), 0);
    assert_eq!(in_pieces(&["", "", ""]), 0);
}

#[test]
fn anything_costs_something() {
    for text in ["a", " ", "\n", "\u{0}", "é", "文", "😀", "\u{10FFFF}"] {
        assert!(estimate(text) >= 1, "{text:?}");
    }
}

/// Exact o200k counts, given by the exact counter. One sentence scatters more
/// than a page: a common greeting is cheaper than its letters.
#[test]
fn close_on_single_sentences() {
    for (text, exact) in [
        ("You are a careful assistant. Answer in one paragraph.", 11),
        ("fn main() {\n    println!(\"{}\", compute(42));\n}\n", 12),
        ("今天天气很好，我们去公园散步吧。", 12),
        ("Добрый день! Чем я могу вам помочь сегодня?", 11),
        ("{\"name\":\"search\",\"limit\":10,\"tags\":[\"a\",\"b\"]}", 16),
    ] {
        let estimated = estimate(text);
        assert!(estimated.abs_diff(exact) * 10 <= exact * 4, "{text}: {estimated} for {exact}");
    }
}

/// Hostile text may be off, but not by orders of magnitude (exact counts in
/// the comments).
#[test]
fn hostile_text_stays_in_proportion() {
    let million = |text: &str| estimate(&text.repeat(1_000_000 / text.len()));
    let within = |estimated: u32, exact: u32| {
        assert!(estimated >= exact / 4 && estimated <= exact * 4, "{estimated} for {exact}");
    };
    within(million(" "), 7_813);
    within(million("a"), 125_000);
    within(million("\n"), 62_500);
    within(million("="), 15_625);
    within(million("1"), 333_334);
    within(million("😀"), 250_000);
    within(million("文"), 333_333);
}

#[test]
fn a_measured_piece_can_be_added_at_a_line_start() {
    let piece = Measured::of("## Rules\n\n- Никогда не лги.\n");
    let mut meter = Meter::new();
    meter.feed("# Title\n");
    meter.absorb(&piece);
    meter.absorb(&piece);
    meter.feed("  done");
    assert_eq!(
        meter.tokens(),
        estimate("# Title\n## Rules\n\n- Никогда не лги.\n## Rules\n\n- Никогда не лги.\n  done")
    );
    assert_eq!(piece.tokens(), estimate("## Rules\n\n- Никогда не лги.\n"));
}

/// Text with all the scripts and transitions the model knows.
fn text() -> impl Strategy<Value = String> {
    let chunk = prop_oneof![
        "[ -~\\n\\t]{0,40}",
        "[a-z ]{0,30}",
        "[A-Za-z0-9+/]{0,30}",
        "[ \\n]{0,12}",
        "[а-яё ]{0,12}",
        "[一-十ぁ-んァ-ン。、]{0,12}",
        "[ء-ي ]{0,12}",
        "[😀-😏❤️👍🏽]{0,4}",
        "\\PC{0,12}",
        any::<String>(),
    ];
    proptest::collection::vec(chunk, 0..8).prop_map(|chunks| chunks.concat())
}

proptest! {
    #[test]
    fn pieces_cost_what_the_whole_costs(text in text(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut at: Vec<usize> = cuts.iter().map(|cut| ends[cut.index(ends.len())]).collect();
        at.sort_unstable();
        ends = at;
        let mut meter = Meter::new();
        let mut from = 0;
        for end in ends {
            meter.feed(&text[from..end]);
            from = end;
        }
        meter.feed(&text[from..]);
        prop_assert_eq!(meter.tokens(), estimate(&text));
    }

    #[test]
    fn characters_one_by_one_cost_what_the_whole_costs(text in text()) {
        let mut meter = Meter::new();
        for c in text.chars() {
            meter.feed(c.encode_utf8(&mut [0; 4]));
        }
        prop_assert_eq!(meter.tokens(), estimate(&text));
    }

    #[test]
    fn absorbing_at_a_line_start_is_feeding(before in text(), piece in text(), after in text(), first in any::<bool>()) {
        let before = if first { String::new() } else { before + "\n" };
        let mut meter = Meter::new();
        meter.feed(&before);
        meter.absorb(&Measured::of(&piece));
        meter.feed(&after);
        prop_assert_eq!(meter.tokens(), estimate(&format!("{before}{piece}{after}")));
    }

    #[test]
    fn more_text_never_costs_less(text in text(), more in text()) {
        prop_assert!(estimate(&[text.as_str(), &more].concat()) >= estimate(&text));
    }
}
