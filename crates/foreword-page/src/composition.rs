//! What a text is made of: a ribbon in reading order, a map by size, and a table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::figures::{grouped, percent, share, tokens};
use crate::layout::{Id, Kind, Layout};
use crate::markup::Markup;
use crate::tone::Tone;
use crate::treemap::{Tile, tiles};

/// The map is this many times as wide as it is high.
const ASPECT: f64 = 2.4;
/// A part below this share of the tokens has no tile of its own: it could not be seen or clicked.
const MIN_TILE: f64 = 0.004;
/// Tiles of the map; the smallest parts share the last one.
const MAX_TILES: usize = 150;
/// Sources shown inside a tile.
const MAX_TILE_SOURCES: usize = 16;
/// Kinds in the legend. They come from a short list.
const MAX_KINDS: usize = 12;
/// Sources named in a row of the table.
const MAX_ROW_SOURCES: usize = 4;

/// A text and its parts, in reading order.
#[derive(Clone, Debug, Default)]
pub struct Composition<'a> {
    /// The parts.
    pub parts: Vec<Part<'a>>,
    /// Tokens of the whole, which may be more than the sum of the parts.
    pub tokens: u64,
    /// Places between parts that a reader must know of, in order.
    pub boundaries: Vec<Boundary>,
    /// What the colour of a part means, such as `Authority`.
    pub tone_means: &'static str,
    /// What a part is called, such as `Section`.
    pub part_means: &'static str,
}

/// A part of a text.
#[derive(Clone, Debug, Default)]
pub struct Part<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its colour.
    pub tone: Tone,
    /// The colour in words, such as `operator`.
    pub kind: &'a str,
    /// More about it, such as `stable`.
    pub notes: Vec<&'a str>,
    /// What it costs.
    pub tokens: u64,
    /// What it says.
    pub text: &'a str,
    /// Where stretches of the text come from, in order.
    pub stretches: Vec<Stretch<'a>>,
}

/// A stretch of a part's text that has a source.
#[derive(Clone, Debug)]
pub struct Stretch<'a> {
    /// Its bytes in the text of the part.
    pub range: [usize; 2],
    /// Where it comes from, such as a file.
    pub source: Cow<'a, str>,
    /// The first and last line there.
    pub lines: Option<[usize; 2]>,
    /// What to know about it, such as `near match`; empty for most.
    pub note: &'static str,
}

/// A place in front of a part.
#[derive(Clone, Debug)]
pub struct Boundary {
    /// How many parts stand above it.
    pub above: usize,
    /// What it is.
    pub label: String,
}

impl Stretch<'_> {
    /// The source with its lines: `SOUL.md:1-9`.
    pub(crate) fn place(&self) -> String {
        match self.lines {
            Some([first, last]) if first < last => format!("{}:{first}-{last}", self.source),
            Some([first, _]) => format!("{}:{first}", self.source),
            None => self.source.clone().into_owned(),
        }
    }
}

impl Part<'_> {
    /// Bytes by source, each source once, in order of appearance.
    fn sources(&self) -> Vec<(&str, usize)> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut out: Vec<(&str, usize)> = Vec::new();
        for stretch in &self.stretches {
            let bytes = stretch.range[1].saturating_sub(stretch.range[0]);
            let at = *places.entry(&*stretch.source).or_insert(out.len());
            match out.get_mut(at) {
                Some(known) => known.1 += bytes,
                None => out.push((&*stretch.source, bytes)),
            }
        }
        out
    }

    /// A line about it.
    fn summary(&self, total: u64) -> String {
        format!(
            "{}: {}, {}, {}",
            self.name,
            tokens(self.tokens),
            percent(self.tokens, total),
            self.kind
        )
    }
}

impl Composition<'_> {
    /// What shares are of.
    pub(crate) fn whole(&self) -> u64 {
        let sum = self.parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.tokens));
        self.tokens.max(sum).max(1)
    }

    /// Which parts get a tile of their own, largest first; the others share one.
    fn tiled(&self) -> (Vec<usize>, Vec<usize>) {
        let whole = self.whole();
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|index| {
            std::cmp::Reverse(self.parts.get(*index).map_or(0, |part| part.tokens))
        });
        let large = |index: &&usize| {
            self.parts.get(**index).is_some_and(|part| share(part.tokens, whole) >= MIN_TILE)
        };
        let count = order.iter().take_while(large).count().min(MAX_TILES);
        let small = order.split_off(count);
        (order, small)
    }
}

/// The whole text as one bar in reading order, with the boundaries in it, and a legend.
pub(crate) fn ribbon(number: usize, what: &Composition<'_>, layout: &mut Layout) -> Markup {
    let mut out = Markup::default();
    out.raw("<div class=\"ribbon\" role=\"img\" aria-label=\"");
    for part in &what.parts {
        out.attribute(&part.summary(what.whole())).raw("; ");
    }
    out.raw("\">\n");
    let mut boundaries = what.boundaries.iter().peekable();
    for (index, part) in what.parts.iter().enumerate() {
        while boundaries.next_if(|boundary| boundary.above <= index).is_some() {
            out.raw("<span class=\"cut\"></span>\n");
        }
        let id = Id { composition: number, kind: Kind::Segment, number: index };
        layout.grow(id, share(part.tokens, what.whole()));
        out.raw("<span class=\"segment ").raw(part.tone.class()).raw("\" id=\"").id(id);
        out.raw("\"></span>\n");
    }
    for _ in boundaries {
        out.raw("<span class=\"cut\"></span>\n");
    }
    out.raw("</div>\n");
    legend(what, &mut out);
    out
}

/// What the colours mean, with the tokens of each, and what the marks are.
fn legend(what: &Composition<'_>, out: &mut Markup) {
    let mut kinds: Vec<(Tone, &str, u64)> = Vec::new();
    for part in &what.parts {
        let has_room = kinds.len() < MAX_KINDS;
        match kinds.iter_mut().find(|kind| kind.0 == part.tone && kind.1 == part.kind) {
            Some(kind) => kind.2 = kind.2.saturating_add(part.tokens),
            None if has_room => kinds.push((part.tone, part.kind, part.tokens)),
            None => {}
        }
    }
    kinds.sort_by_key(|kind| kind.0);
    out.raw("<ul class=\"legend\">\n");
    for (tone, kind, tokens) in kinds {
        out.raw("<li><span class=\"swatch ").raw(tone.class()).raw("\"></span>").text(kind);
        out.raw(" <span class=\"dim\">").text(&percent(tokens, what.whole())).raw("</span></li>\n");
    }
    for boundary in &what.boundaries {
        out.raw("<li><span class=\"swatch mark\"></span>").text(&boundary.label).raw("</li>\n");
    }
    out.raw("</ul>\n");
}

/// The parts as areas, each a link to its text.
pub(crate) fn map(number: usize, what: &Composition<'_>, layout: &mut Layout) -> Markup {
    let (mut large, mut small) = what.tiled();
    if small.len() == 1 {
        large.append(&mut small);
    }
    // Large enough to be seen and clicked.
    let least = what.whole() / 100;
    let tokens = |index: &usize| what.parts.get(*index).map_or(0, |part| part.tokens);
    let rest = small.iter().map(tokens).fold(0, u64::saturating_add);
    let mut weights: Vec<u64> = large.iter().map(tokens).collect();
    if let (Some(last), Some(smallest)) = (weights.last_mut(), large.last().map(tokens)) {
        *last = if smallest == 0 { 0 } else { smallest.max(least) };
    }
    if rest > 0 {
        weights.push(rest.max(least));
    }
    let mut out = Markup::default();
    out.raw("<div class=\"map\">\n");
    for tile in tiles(&weights, ASPECT) {
        let id = Id { composition: number, kind: Kind::Tile, number: tile.index };
        layout.tile(id, &tile);
        match large.get(tile.index).and_then(|index| Some((*index, what.parts.get(*index)?))) {
            Some((index, part)) => {
                let sources = Sources { composition: number, tile: &tile, part };
                part_tile(id, index, what, &sources, layout, &mut out);
            }
            None => rest_tile(id, small.len(), rest, what, &mut out),
        }
    }
    out.raw("</div>\n");
    out
}

struct Sources<'a> {
    composition: usize,
    tile: &'a Tile,
    part: &'a Part<'a>,
}

fn part_tile(
    id: Id,
    index: usize,
    what: &Composition<'_>,
    sources: &Sources<'_>,
    layout: &mut Layout,
    out: &mut Markup,
) {
    let part = sources.part;
    let target = Id { kind: Kind::Part, number: index, ..id };
    let summary = part.summary(what.whole());
    tile_link(id, part.tone, target, &part.name, part.tokens, &summary, out);
    sources.write(layout, out);
    tile_end(&summary, out);
}

/// A tile up to its name. The link covers all of it; what follows is for the eye.
fn tile_link(
    id: Id,
    tone: Tone,
    target: Id,
    name: &str,
    tokens: u64,
    summary: &str,
    out: &mut Markup,
) {
    out.raw("<div class=\"tile ").raw(tone.class()).raw("\" id=\"").id(id);
    out.raw("\"><div class=\"box\"><a href=\"#").id(target).raw("\" aria-label=\"");
    out.attribute(summary).raw("\"><span class=\"name\">").text(name);
    out.raw("</span> <span class=\"count\">").text(&grouped(tokens)).raw("</span></a>");
}

fn tile_end(summary: &str, out: &mut Markup) {
    out.raw("</div><div class=\"tip\" aria-hidden=\"true\">").text(summary).raw("</div></div>\n");
}

impl Sources<'_> {
    /// The sources of a part as areas of its tile, by bytes.
    fn write(&self, layout: &mut Layout, out: &mut Markup) {
        let sources = self.part.sources();
        if let [(only, _)] = sources.as_slice() {
            out.raw("<span class=\"only\" aria-hidden=\"true\">").text(only).raw("</span>");
        }
        if sources.len() < 2 {
            return;
        }
        let mut largest = sources;
        largest.sort_by_key(|source| std::cmp::Reverse(source.1));
        let others: usize = largest.iter().skip(MAX_TILE_SOURCES).map(|source| source.1).sum();
        largest.truncate(MAX_TILE_SOURCES);
        let mut weights: Vec<u64> = largest.iter().map(|source| source.1 as u64).collect();
        weights.push(others as u64);
        out.raw("<span class=\"inside\" aria-hidden=\"true\">");
        let aspect = self.tile.width * ASPECT / self.tile.height.max(f64::MIN_POSITIVE);
        for tile in tiles(&weights, aspect) {
            let id = Id {
                composition: self.composition,
                kind: Kind::Source,
                number: self.tile.index * (MAX_TILE_SOURCES + 1) + tile.index,
            };
            layout.tile(id, &tile);
            let name = largest.get(tile.index).map_or("other sources", |source| source.0);
            out.raw("<span class=\"source\" id=\"").id(id).raw("\">").text(name).raw("</span>");
        }
        out.raw("</span>");
    }
}

/// One tile for the parts that are too small for their own.
fn rest_tile(id: Id, count: usize, tokens: u64, what: &Composition<'_>, out: &mut Markup) {
    let noun = if count == 1 { "smaller part" } else { "smaller parts" };
    let summary =
        format!("{count} {noun}: {} tokens, {}", grouped(tokens), percent(tokens, what.whole()));
    let name = format!("{count} {noun}");
    tile_link(id, Tone::Grey, table_id(id.composition), &name, tokens, &summary, out);
    tile_end(&summary, out);
}

fn table_id(composition: usize) -> Id {
    Id { composition, kind: Kind::Table, number: 0 }
}

/// The figures of every part.
pub(crate) fn table(number: usize, what: &Composition<'_>, layout: &mut Layout) -> Markup {
    let mut out = Markup::default();
    out.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table\">\n");
    out.raw("<table id=\"").id(table_id(number)).raw("\">\n<thead><tr><th scope=\"col\">");
    out.raw(what.part_means)
        .raw("</th><th scope=\"col\">")
        .raw(what.tone_means)
        .raw("</th><th scope=\"col\" class=\"figure\">Tokens</th>");
    out.raw("<th scope=\"col\" class=\"figure\">Share</th><th scope=\"col\"><span class=\"unseen\">Bar</span></th>");
    out.raw("<th scope=\"col\">Sources</th></tr></thead>\n<tbody>\n");
    let largest = what.parts.iter().map(|part| part.tokens).max().unwrap_or(0);
    let mut boundaries = what.boundaries.iter().peekable();
    for (index, part) in what.parts.iter().enumerate() {
        while let Some(boundary) = boundaries.next_if(|boundary| boundary.above <= index) {
            boundary_row(boundary, &mut out);
        }
        let bar = Id { composition: number, kind: Kind::Bar, number: index };
        layout.width(bar, share(part.tokens, largest));
        let text = Id { kind: Kind::Part, ..bar };
        out.raw("<tr><th scope=\"row\"><a href=\"#").id(text).raw("\">").text(&part.name);
        out.raw("</a></th><td class=\"noted\"><span class=\"chip ")
            .raw(part.tone.class())
            .raw("\">");
        out.text(part.kind).raw("</span>");
        for note in &part.notes {
            out.raw(" <span class=\"dim\">").text(note).raw("</span>");
        }
        out.raw("</td><td class=\"figure\">").text(&grouped(part.tokens));
        out.raw("</td><td class=\"figure\">").text(&percent(part.tokens, what.whole()));
        out.raw("</td><td class=\"bars\"><span class=\"bar ").raw(part.tone.class());
        out.raw("\" id=\"").id(bar).raw("\"></span></td><td class=\"sources\">");
        row_sources(part, &mut out);
        out.raw("</td></tr>\n");
    }
    for boundary in boundaries {
        boundary_row(boundary, &mut out);
    }
    out.raw("</tbody>\n</table>\n</div>\n");
    out
}

fn boundary_row(boundary: &Boundary, out: &mut Markup) {
    out.raw("<tr class=\"boundary\"><td colspan=\"6\">").text(&boundary.label).raw("</td></tr>\n");
}

fn row_sources(part: &Part<'_>, out: &mut Markup) {
    let sources = part.sources();
    for (index, (source, _)) in sources.iter().take(MAX_ROW_SOURCES).enumerate() {
        out.raw(if index > 0 { ", " } else { "" }).raw("<code>").text(source).raw("</code>");
    }
    if let Some(more) = sources.len().checked_sub(MAX_ROW_SOURCES).filter(|more| *more > 0) {
        out.text(&format!(" and {more} more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(tokens: &[u64]) -> Composition<'static> {
        let part = |tokens: &u64| Part {
            name: "part".into(),
            kind: "operator",
            tokens: *tokens,
            ..Part::default()
        };
        Composition { parts: tokens.iter().map(part).collect(), ..Composition::default() }
    }

    #[test]
    fn parts_too_small_to_see_share_a_tile() {
        let mut layout = Layout::default();
        let html = map(0, &parts(&[1000, 500, 1, 2, 0]), &mut layout).into_string();
        assert_eq!(html.matches("class=\"tile ").count(), 3);
        assert!(html.contains("aria-label=\"3 smaller parts: 3 tokens, 0.2%\""), "{html}");
        assert_eq!(layout.as_str().lines().count(), 3);
        let html = map(0, &parts(&[1000, 500, 1]), &mut layout).into_string();
        assert!(html.contains("aria-label=\"part: 1 token, 0.1%, operator\""), "{html}");
    }

    #[test]
    fn the_map_of_many_parts_is_bounded() {
        let mut layout = Layout::default();
        let html = map(0, &parts(&vec![5; 20_000]), &mut layout).into_string();
        assert_eq!(html.matches("class=\"tile ").count(), 1, "each is below a two-hundredth");
        let html = map(0, &parts(&[5; 200]), &mut layout).into_string();
        assert_eq!(html.matches("class=\"tile ").count(), MAX_TILES + 1);
        assert!(map(0, &parts(&[]), &mut layout).into_string().contains("class=\"map\""));
    }

    #[test]
    fn sources_of_a_tile_are_grouped_and_bounded() {
        let names: Vec<String> = (0..40).map(|n| format!("f{n}.md")).collect();
        let stretch = |n: usize| Stretch {
            range: [n * 10, n * 10 + 10],
            source: names[n / 2].as_str().into(),
            lines: None,
            note: "",
        };
        let part = Part { tokens: 9, stretches: (0..80).map(stretch).collect(), ..Part::default() };
        assert_eq!(part.sources().len(), 40);
        let what = Composition { parts: vec![part], ..Composition::default() };
        let html = map(0, &what, &mut Layout::default()).into_string();
        assert_eq!(html.matches("class=\"source\"").count(), MAX_TILE_SOURCES + 1);
        assert!(html.contains(">other sources<"));
        let html = table(0, &what, &mut Layout::default()).into_string();
        assert!(html.contains("<code>f3.md</code> and 36 more"), "{html}");
    }

    #[test]
    fn boundaries_stand_between_their_parts() {
        let boundary = |above, label: &str| Boundary { above, label: label.to_owned() };
        let what = Composition {
            boundaries: vec![boundary(1, "one"), boundary(2, "end")],
            ..parts(&[1, 1])
        };
        let html = table(0, &what, &mut Layout::default()).into_string();
        let at = |text: &str| html.find(text).unwrap();
        assert!(at("c0b0") < at(">one<") && at(">one<") < at("c0b1") && at("c0b1") < at(">end<"));
        let html = ribbon(0, &what, &mut Layout::default()).into_string();
        assert_eq!(html.matches("class=\"cut\"").count(), 2);
    }
}
