//! Steps from high to low.

use serde::Deserialize;

use super::svg::Drawing;

#[derive(Deserialize)]
pub(super) struct Ladder {
    step: Vec<Step>,
    /// A line across, and what it says; it stands above the step of this number, from 0.
    line: Option<Line>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: String,
    text: String,
    tone: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    above: usize,
    text: String,
}

const WIDTH: f64 = 760.0;
const STEP: f64 = 52.0;
const INDENT: f64 = 34.0;

impl Ladder {
    pub(super) fn draw(&self) -> Drawing {
        let gap = if self.line.is_some() { 34.0 } else { 0.0 };
        let height = 40.0 + STEP * count(self.step.len()) + gap;
        let mut drawing = Drawing::new(WIDTH, height);
        let mut y = 20.0;
        for (at, step) in self.step.iter().enumerate() {
            if let Some(line) = self.line.as_ref().filter(|line| line.above == at) {
                drawing.path(&[(20.0, y + 14.0), (WIDTH - 20.0, y + 14.0)], "dashed grey");
                drawing.text((WIDTH - 20.0, y + 8.0), "small end grey", &line.text);
                y += gap;
            }
            let x = 60.0 + INDENT * count(at);
            let size = (WIDTH - 20.0 - x, STEP - 10.0);
            drawing.rect((x, y), size, &step.tone, true);
            drawing.text((x + 14.0, y + 26.0), &format!("title {}", step.tone), &step.name);
            drawing.text((x + 124.0, y + 26.0), "", &step.text);
            y += STEP;
        }
        drawing.path(&[(34.0, 24.0), (34.0, height - 24.0)], "arrow grey");
        drawing.text((44.0, height - 24.0), "small grey", "overrules what is below");
        drawing
    }
}

/// A number of things as a length.
#[expect(clippy::cast_precision_loss, reason = "a picture has few things")]
pub(super) fn count(things: usize) -> f64 {
    things as f64
}
