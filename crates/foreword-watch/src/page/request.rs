//! What a request is made of, for the map and the text.

use std::borrow::Cow;

use foreword_page::{Boundary, Composition, Tone};

use crate::report::{CallReport, Origin, Part, Region};

/// The parts of a request, with cache marks and the first difference as boundaries.
pub(super) fn composition(call: &CallReport) -> Composition<'_> {
    let mut parts = Vec::new();
    let mut boundaries = Vec::new();
    let broken = call.cache.as_ref().and_then(|cache| cache.broken.as_ref());
    for part in &call.parts {
        if let Some(lost) = broken.filter(|lost| lost.place == part.place) {
            boundaries.push(Boundary {
                above: parts.len(),
                label: format!(
                    "Differs from the call before in {}: {}",
                    part.place,
                    lost.cause.name()
                ),
            });
        }
        pieces(part, &mut parts);
        if part.cache_mark {
            let label = format!("Cache mark after {}", part.place);
            boundaries.push(Boundary { above: parts.len(), label });
        }
    }
    Composition {
        parts,
        tokens: call.tokens.total,
        boundaries,
        tone_means: "What it is",
        part_means: "Part",
    }
}

/// A part of a request, or one piece for each of its Markdown sections.
fn pieces<'r>(part: &'r Part, out: &mut Vec<foreword_page::Part<'r>>) {
    let text = part.text.as_deref().unwrap_or_default();
    if part.sections.is_empty() {
        out.push(piece(part, part.label.as_str().into(), [0, text.len()], part.tokens));
        return;
    }
    for section in &part.sections {
        let name = match section.title.as_str() {
            "" => Cow::from(part.label.as_str()),
            title => Cow::from(format!("{} › {title}", part.label)),
        };
        out.push(piece(part, name, section.range, section.tokens));
    }
}

fn piece<'r>(
    part: &'r Part,
    name: Cow<'r, str>,
    range: [usize; 2],
    tokens: u64,
) -> foreword_page::Part<'r> {
    let text = part.text.as_deref().unwrap_or_default();
    let [start, end] = range.map(|at| text.floor_char_boundary(at));
    let inside = part
        .stretches
        .iter()
        .filter(|stretch| text.is_empty() || stretch.range[0] < end && start < stretch.range[1]);
    let origin = inside.clone().max_by_key(|stretch| stretch.tokens).map(|stretch| &stretch.origin);
    let (tone, kind) = tone(part, origin);
    foreword_page::Part {
        name,
        tone,
        kind,
        notes: vec![part.place.as_str()],
        tokens,
        text: text.get(start..end).unwrap_or_default(),
        stretches: inside
            .map(|stretch| foreword_page::Stretch {
                range: stretch.range.map(|at| at.clamp(start, end.max(start)) - start),
                ..source(&stretch.origin)
            })
            .collect(),
    }
}

fn source(origin: &Origin) -> foreword_page::Stretch<'_> {
    let (source, lines, note) = match origin {
        Origin::File { path, lines, exact } => {
            (path.as_str().into(), Some(*lines), if *exact { "" } else { "near match" })
        }
        other => (other.name().into(), None, ""),
    };
    foreword_page::Stretch { range: [0, 0], source, lines, note }
}

/// What a part is, as a colour and in words. What a tool returned stays a tool's result, even if a file of
/// the project holds the same text.
fn tone(part: &Part, origin: Option<&Origin>) -> (Tone, &'static str) {
    match (part.region, origin) {
        (Region::Tools, Some(Origin::Mcp { .. })) => (Tone::Amber, "MCP tool"),
        (Region::Tools, _) => (Tone::Amber, "tool"),
        (Region::System, Some(Origin::Vendor)) => (Tone::Violet, "vendor's prompt"),
        (Region::System, Some(Origin::File { .. })) => (Tone::Blue, "project's prompt"),
        (Region::System, _) => (Tone::Grey, "prompt"),
        (Region::Messages, Some(Origin::Model)) => (Tone::Teal, "model"),
        (Region::Messages, Some(Origin::Tool { .. })) => (Tone::Rose, "tool result"),
        (Region::Messages, _) if part.label.starts_with("result of ") => {
            (Tone::Rose, "tool result")
        }
        (Region::Messages, _) => (Tone::Green, "user"),
    }
}
