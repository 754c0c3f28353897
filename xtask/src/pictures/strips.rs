//! Rows made of parts, such as requests made of sections.

use serde::Deserialize;

use super::svg::Drawing;

#[derive(Deserialize)]
pub(super) struct Strips {
    row: Vec<Row>,
    #[serde(default)]
    legend: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// A heading above the row.
    heading: Option<String>,
    name: String,
    part: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    /// Its share of the row, out of 100.
    size: f64,
    tone: String,
    /// Draw a mark behind it.
    #[serde(default)]
    mark: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    tone: String,
}

const WIDTH: f64 = 760.0;
const LEFT: f64 = 104.0;
const ROW: f64 = 46.0;

impl Strips {
    pub(super) fn draw(&self) -> Drawing {
        let headings = self.row.iter().filter(|row| row.heading.is_some()).count();
        let height = 34.0
            + self.row.iter().map(|_| ROW).sum::<f64>()
            + 30.0 * super::ladder::count(headings)
            + if self.legend.is_empty() { 0.0 } else { 30.0 };
        let mut drawing = Drawing::new(WIDTH, height);
        let mut y = 16.0;
        for row in &self.row {
            if let Some(heading) = &row.heading {
                drawing.text((20.0, y + 16.0), "title", heading);
                y += 30.0;
            }
            drawing.text((20.0, y + 21.0), "small", &row.name);
            let mut x = LEFT;
            for part in &row.part {
                let wide = (WIDTH - LEFT - 20.0) * part.size / 100.0;
                drawing.rect((x + 1.0, y), (wide - 2.0, 32.0), &part.tone, true);
                let at = (x + wide / 2.0, y + 21.0);
                drawing.text(at, &format!("small middle {}", part.tone), &part.name);
                x += wide;
                if part.mark {
                    drawing.path(&[(x, y - 6.0), (x, y + 38.0)], "thick dashed");
                }
            }
            y += ROW;
        }
        let mut x = LEFT;
        for entry in &self.legend {
            drawing.rect((x, y + 2.0), (14.0, 14.0), &entry.tone, true);
            drawing.text((x + 20.0, y + 14.0), "small", &entry.name);
            x += 40.0 + 6.6 * super::ladder::count(entry.name.chars().count());
        }
        drawing
    }
}
