//! A value over time, in steps, with a threshold.

use serde::Deserialize;

use super::ladder::count;
use super::svg::Drawing;

#[derive(Deserialize)]
pub(super) struct Chart {
    /// The value from which on something happens, 0 to 1, and what.
    threshold: f64,
    above: String,
    below: String,
    event: Vec<Event>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    /// What happened, on at most three lines.
    name: Vec<String>,
    /// The value from then on.
    value: f64,
    tone: String,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 24.0;
const PLOT: (f64, f64) = (680.0, 220.0);

impl Chart {
    pub(super) fn draw(&self) -> Drawing {
        let mut drawing = Drawing::new(WIDTH, HEIGHT);
        let y = |value: f64| TOP + PLOT.1 * (1.0 - value);
        let right = LEFT + PLOT.0;
        drawing.area((LEFT, TOP), (PLOT.0, y(self.threshold) - TOP));
        drawing.text((right - 10.0, TOP + 20.0), "small end red", &self.above);
        drawing.text((right - 10.0, y(0.0) - 8.0), "small end green", &self.below);
        for (value, name) in [(0.0, "0%"), (0.5, "50%"), (1.0, "100%")] {
            drawing.text((LEFT - 8.0, y(value) + 4.0), "small end grey", name);
        }
        let percent = format!("{:.0}%", self.threshold * 100.0);
        drawing.text((LEFT - 8.0, y(self.threshold) + 4.0), "small end red", &percent);
        drawing.path(&[(LEFT, y(self.threshold)), (right, y(self.threshold))], "dashed red");
        drawing.path(&[(LEFT, TOP), (LEFT, y(0.0)), (right, y(0.0))], "grey");
        let wide = PLOT.0 / count(self.event.len());
        let mut points = Vec::new();
        for (at, event) in self.event.iter().enumerate() {
            let x = LEFT + wide * count(at);
            points.extend([(x, y(event.value)), (x + wide, y(event.value))]);
            for (line, name) in event.name.iter().enumerate() {
                let at = (x + wide / 2.0, y(0.0) + 22.0 + 16.0 * count(line));
                drawing.text(at, &format!("small middle {}", event.tone), name);
            }
            let shown = format!("{:.0}%", event.value * 100.0);
            // Below the line where the threshold would cross the number.
            let under = event.value < self.threshold && event.value > self.threshold - 0.12;
            let at = (x + wide / 2.0, y(event.value) + if under { 18.0 } else { -8.0 });
            drawing.text(at, "small title middle", &shown);
        }
        drawing.path(&points, "thick blue");
        drawing
    }
}
