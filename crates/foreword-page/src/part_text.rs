//! The texts of the parts, with the source of every stretch on hover, on focus and in a list.

use std::ops::Range;

use crate::composition::{Boundary, Composition, Part, Stretch};
use crate::figures::{grouped, percent, tokens};
use crate::layout::{Id, Kind};
use crate::markup::Markup;
use crate::page::Depth;

/// A longer text is closed until a reader opens it.
const MAX_OPEN_BYTES: usize = 24_000;
/// Places listed above a text.
const MAX_PLACES: usize = 40;

/// All texts, in reading order.
pub(crate) fn texts(number: usize, depth: Depth, what: &Composition<'_>) -> Markup {
    let mut out = Markup::default();
    let whole = what.whole();
    let mut boundaries = what.boundaries.iter().peekable();
    let mut first_stretch = 0;
    for (index, part) in what.parts.iter().enumerate() {
        while let Some(boundary) = boundaries.next_if(|boundary| boundary.above <= index) {
            line(boundary, &mut out);
        }
        let stretches = within(part);
        let id = Id { composition: number, kind: Kind::Part, number: index };
        summary(id, depth, part, whole, &mut out);
        places(id, first_stretch, &stretches, &mut out);
        body(id, first_stretch, part, &stretches, &mut out);
        out.raw("</details>\n");
        first_stretch += stretches.len();
    }
    for boundary in boundaries {
        line(boundary, &mut out);
    }
    out
}

fn line(boundary: &Boundary, out: &mut Markup) {
    out.raw("<p class=\"boundary\">").text(&boundary.label).raw("</p>\n");
}

fn summary(id: Id, depth: Depth, part: &Part<'_>, whole: u64, out: &mut Markup) {
    let (open, close) = depth.below().tags();
    out.raw("<details class=\"part ").raw(part.tone.class()).raw("\"");
    out.raw(if part.text.len() <= MAX_OPEN_BYTES { " open" } else { "" });
    out.raw("><summary>").raw(open).text(&part.name).raw(close).raw(" <span class=\"chip ");
    out.raw(part.tone.class()).raw("\">").text(part.kind).raw("</span>");
    for note in &part.notes {
        out.raw(" <span class=\"dim\">").text(note).raw("</span>");
    }
    out.raw(" <span class=\"tokens\">").text(&tokens(part.tokens)).raw(" · ");
    out.text(&percent(part.tokens, whole)).raw("</span></summary>\n");
    // A link to an element inside opens the details around it.
    out.raw("<div id=\"").id(id).raw("\" class=\"body\">\n");
}

/// A stretch with its bytes, cut to what is in the text and does not overlap the one before.
type Placed<'p, 'a> = (Range<usize>, &'p Stretch<'a>);

fn within<'p, 'a>(part: &'p Part<'a>) -> Vec<Placed<'p, 'a>> {
    let mut sorted: Vec<&Stretch<'_>> = part.stretches.iter().collect();
    sorted.sort_by_key(|stretch| stretch.range);
    let mut end = 0;
    let mut out = Vec::with_capacity(sorted.len());
    for stretch in sorted {
        let from = part.text.floor_char_boundary(stretch.range[0]).max(end);
        let to = part.text.floor_char_boundary(stretch.range[1]);
        if from < to {
            out.push((from..to, stretch));
            end = to;
        }
    }
    out
}

/// Where the text comes from, as links to its stretches.
fn places(id: Id, first: usize, stretches: &[Placed<'_, '_>], out: &mut Markup) {
    if stretches.is_empty() {
        return;
    }
    out.raw("<ul class=\"places\">\n");
    for (index, (_, stretch)) in stretches.iter().take(MAX_PLACES).enumerate() {
        let id = Id { kind: Kind::Stretch, number: first + index, ..id };
        out.raw("<li><a href=\"#").id(id).raw("\">").text(&stretch.place()).raw("</a></li>\n");
    }
    if let Some(more) = stretches.len().checked_sub(MAX_PLACES).filter(|more| *more > 0) {
        out.raw("<li>").text(&format!("and {} more", grouped(more as u64))).raw("</li>\n");
    }
    out.raw("</ul>\n");
}

fn body(id: Id, first: usize, part: &Part<'_>, stretches: &[Placed<'_, '_>], out: &mut Markup) {
    if part.text.is_empty() {
        out.raw("<p class=\"dim\">No text.</p>\n</div>\n");
        return;
    }
    let piece = |range: Range<usize>| part.text.get(range).unwrap_or_default();
    // A line feed right after the tag is not part of the text, so the text may start with one.
    out.raw("<pre>\n");
    let mut at = 0;
    for (index, (range, stretch)) in stretches.iter().enumerate() {
        out.text(piece(at..range.start));
        let own = Id { kind: Kind::Stretch, number: first + index, ..id };
        let tip = Id { kind: Kind::Tip, ..own };
        out.raw("<span class=\"stretch\" tabindex=\"0\" id=\"").id(own);
        out.raw("\" aria-describedby=\"").id(tip).raw("\">").text(piece(range.clone()));
        out.raw("<span class=\"tip\" role=\"tooltip\" id=\"").id(tip).raw("\">");
        out.text(&stretch.place()).raw(" · ").raw(stretch.note);
        out.raw(if stretch.note.is_empty() { "" } else { " · " }).text(part.kind).raw(" · ");
        out.text(&grouped(range.len() as u64)).raw(" bytes</span></span>");
        at = range.end;
    }
    out.text(piece(at..part.text.len())).raw("</pre>\n</div>\n");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The text of a page without its tags and tips.
    fn read(markup: Markup) -> String {
        let html = markup.into_string();
        let (_, html) = html.split_once("<pre>\n").unwrap();
        let mut out = String::new();
        for piece in html.split_once("</pre>").unwrap().0.split("<span class=\"tip\"") {
            let piece = piece.split_once("</span></span>").map_or(piece, |(_, after)| after);
            let mut rest = piece;
            while let Some((before, tag)) = rest.split_once('<') {
                out.push_str(before);
                rest = tag.split_once('>').unwrap().1;
            }
            out.push_str(rest);
        }
        out.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_or_repeated_whatever_the_stretches(
            text in "[a-z<>&'\"é\u{4e00} \n]{1,40}",
            ranges in proptest::collection::vec((0_usize..60, 0_usize..60), 0..8),
        ) {
            let stretch = |(a, b): &(usize, usize)| Stretch { range: [*a, *b], source: "SOUL.md".into(), lines: Some([1, 2]), note: "" };
            let part = Part { text: &text, stretches: ranges.iter().map(stretch).collect(), ..Part::default() };
            let what = Composition { parts: vec![part], ..Composition::default() };
            prop_assert_eq!(read(texts(0, Depth::Section, &what)), text);
        }
    }

    #[test]
    fn long_texts_are_closed_and_every_stretch_names_its_place() {
        let long = "x".repeat(MAX_OPEN_BYTES + 1);
        let stretch =
            Stretch { range: [0, 9], source: "a<b>.md".into(), lines: Some([3, 3]), note: "" };
        let parts = vec![
            Part { text: &long, name: "long".into(), ..Part::default() },
            Part {
                text: "You are <b>.",
                name: "short".into(),
                kind: "operator",
                stretches: vec![stretch],
                ..Part::default()
            },
        ];
        let html = texts(2, Depth::Section, &Composition { parts, ..Composition::default() })
            .into_string();
        assert_eq!((html.matches("<details").count(), html.matches(" open>").count()), (2, 1));
        assert!(
            html.contains(
                "id=\"c2y0\">a&lt;b&gt;.md:3 · operator · 9 bytes</span></span>b&gt;.</pre>"
            ),
            "{html}"
        );
    }
}
