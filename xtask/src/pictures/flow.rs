//! Boxes on a grid, and arrows between them.

use serde::Deserialize;

use super::ladder::count;
use super::svg::Drawing;

#[derive(Deserialize)]
pub(super) struct Flow {
    /// The size of the grid, in columns and rows.
    columns: usize,
    rows: f64,
    #[serde(default)]
    area: Vec<Area>,
    #[serde(rename = "box")]
    boxes: Vec<Box>,
    arrow: Vec<Arrow>,
}

/// A ground behind columns, with a name on top.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Area {
    column: usize,
    columns: usize,
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Box {
    id: String,
    column: usize,
    row: f64,
    title: String,
    #[serde(default)]
    text: Vec<String>,
    tone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arrow {
    from: String,
    to: String,
    label: Option<String>,
    /// How far from the middle of its boxes, in pixels, so that two arrows can pass each other.
    #[serde(default)]
    shift: f64,
}

const COLUMN: f64 = 190.0;
const ROW: f64 = 84.0;
const BOX: (f64, f64) = (142.0, 60.0);
const TOP: f64 = 52.0;

impl Box {
    fn height(&self) -> f64 {
        if self.text.is_empty() { 36.0 } else { 34.0 + 16.0 * count(self.text.len()) }
    }

    fn corner(&self) -> (f64, f64) {
        let middle = TOP + ROW * (self.row + 0.5);
        (24.0 + COLUMN * count(self.column), middle - self.height() / 2.0)
    }

    fn middle(&self) -> (f64, f64) {
        let (x, y) = self.corner();
        (x + BOX.0 / 2.0, y + self.height() / 2.0)
    }
}

impl Flow {
    pub(super) fn draw(&self) -> Drawing {
        let width = 48.0 + COLUMN * count(self.columns) - (COLUMN - BOX.0);
        let mut drawing = Drawing::new(width, TOP + ROW * self.rows + 20.0);
        for area in &self.area {
            let x = 10.0 + COLUMN * count(area.column);
            let wide = COLUMN * count(area.columns) - (COLUMN - BOX.0) + 28.0;
            drawing.area((x, 12.0), (wide, TOP + ROW * self.rows - 4.0));
            drawing.text((x + wide / 2.0, 33.0), "small middle grey", &area.name);
        }
        for arrow in &self.arrow {
            let find = |id: &str| self.boxes.iter().find(|known| known.id == id);
            let (Some(from), Some(to)) = (find(&arrow.from), find(&arrow.to)) else { continue };
            arrow.draw(from, to, &mut drawing);
        }
        for known in &self.boxes {
            let (x, y) = known.corner();
            drawing.rect((x, y), (BOX.0, known.height()), &known.tone, false);
            drawing.rect((x, y), (BOX.0, known.height()), &known.tone, true);
            let class = format!("title middle {}", known.tone);
            drawing.text((x + BOX.0 / 2.0, y + 23.0), &class, &known.title);
            for (at, line) in known.text.iter().enumerate() {
                let y = y + 41.0 + 16.0 * count(at);
                drawing.text((x + BOX.0 / 2.0, y), "small middle", line);
            }
        }
        drawing
    }
}

impl Arrow {
    fn draw(&self, from: &Box, to: &Box, drawing: &mut Drawing) {
        let ((x1, y1), (x2, y2)) = (from.middle(), to.middle());
        let half = BOX.0 / 2.0;
        let (start, end) = if from.column == to.column {
            let down = if y2 > y1 { 1.0 } else { -1.0 };
            let x = x1 + self.shift;
            ((x, y1 + down * from.height() / 2.0), (x, y2 - down * (to.height() / 2.0 + 2.0)))
        } else {
            let right = if x2 > x1 { 1.0 } else { -1.0 };
            let start = (x1 + right * half, y1 + self.shift);
            (start, (x2 - right * (half + 2.0), y2 + self.shift))
        };
        drawing.path(&[start, end], "arrow grey");
        if let Some(label) = &self.label {
            let ((ax, ay), (bx, by)) = (start, end);
            let at = ((ax + bx) / 2.0, f64::midpoint(ay, by) - 6.0);
            if from.column == to.column {
                drawing.text((ax + 8.0, f64::midpoint(ay, by) + 4.0), "small grey", label);
            } else {
                drawing.text(at, "small middle grey", label);
            }
        }
    }
}
