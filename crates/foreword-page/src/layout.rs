//! The part of the stylesheet that depends on the data: positions and sizes.
//!
//! The policy forbids `style` attributes, so every position is a rule for an element's ID. Rules are
//! made of numbers only.

use std::fmt::Write as _;

use crate::treemap::Tile;

/// An ID that is made of numbers: composition, kind of element, and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id {
    pub(crate) composition: usize,
    pub(crate) kind: Kind,
    pub(crate) number: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text of a part.
    Part,
    /// A stretch of a part's text.
    Stretch,
    /// What is said about a stretch.
    Tip,
    /// A segment of the ribbon.
    Segment,
    /// A tile of the map.
    Tile,
    /// A source inside a tile.
    Source,
    /// The table.
    Table,
    /// A bar in the table.
    Bar,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Part => 'p',
            Kind::Stretch => 'x',
            Kind::Tip => 'y',
            Kind::Segment => 's',
            Kind::Tile => 't',
            Kind::Source => 'f',
            Kind::Table => 'g',
            Kind::Bar => 'b',
        };
        write!(f, "c{}{kind}{}", self.composition, self.number)
    }
}

/// The rules so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout(String);

impl Layout {
    pub(crate) fn tile(&mut self, id: Id, tile: &Tile) {
        let Tile { left, top, width, height, .. } = tile;
        let _ = writeln!(
            self.0,
            "#{id}{{left:{left:.3}%;top:{top:.3}%;width:{width:.3}%;height:{height:.3}%}}"
        );
    }

    pub(crate) fn grow(&mut self, id: Id, share: f64) {
        let _ = writeln!(self.0, "#{id}{{flex-grow:{:.3}}}", share * 1000.0);
    }

    pub(crate) fn width(&mut self, id: Id, share: f64) {
        let _ = writeln!(self.0, "#{id}{{width:{:.2}%}}", share * 100.0);
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
