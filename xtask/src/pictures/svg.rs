//! The SVG that all pictures are made of.

use std::fmt::Write as _;

/// Colours by name, in light and dark. Both have a contrast of at least 4.5 to the ground, for text.
const TONES: [(&str, &str, &str); 7] = [
    ("magenta", "#8a2a86", "#e3a0e0"),
    ("blue", "#1f4fa3", "#9dbdf5"),
    ("green", "#1c6b3c", "#8fd6ab"),
    ("cyan", "#0b6273", "#86d3e2"),
    ("yellow", "#7a5200", "#e8c06a"),
    ("red", "#a32222", "#f2a3a0"),
    ("grey", "#555b66", "#a9b0bd"),
];

/// A drawing in pixels, growing as things are drawn.
pub(super) struct Drawing {
    width: f64,
    height: f64,
    body: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// A box with an outline of a tone. `fill` gives it a ground of the same tone.
    pub(super) fn rect(&mut self, at: (f64, f64), size: (f64, f64), tone: &str, fill: bool) {
        let class = if fill { "fill" } else { "line" };
        let ((x, y), (width, height)) = (at, size);
        self.write(&format!(
            "<rect class=\"{class} {tone}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>"
        ));
    }

    /// An area without an outline, behind other things.
    pub(super) fn area(&mut self, at: (f64, f64), size: (f64, f64)) {
        let ((x, y), (width, height)) = (at, size);
        self.write(&format!(
            "<rect class=\"area\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>"
        ));
    }

    /// A line of text. `class` is any of `title`, `small`, `middle`, `end` and a tone.
    pub(super) fn text(&mut self, at: (f64, f64), class: &str, text: &str) {
        let ((x, y), text) = (at, escape(text));
        self.write(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"));
    }

    /// A line through points. `class` is any of `arrow`, `dashed`, `thick` and a tone.
    pub(super) fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let mut path = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{x} {y}");
        }
        let end = if class.contains("arrow") { " marker-end=\"url(#tip)\"" } else { "" };
        self.write(&format!("<path class=\"path {class}\" d=\"{path}\"{end}/>"));
    }

    fn write(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let (width, height) = (self.width, self.height);
        let (mut light, mut dark) = (String::new(), String::new());
        for (name, in_light, in_dark) in TONES {
            let _ = write!(light, ".{name}{{--tone:{in_light}}}");
            let _ = write!(dark, ".{name}{{--tone:{in_dark}}}");
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" aria-labelledby=\"title description\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"description\">{}</desc>\n<style>\n{STYLE}{light}\n\
             @media (prefers-color-scheme:dark){{svg{{--ground:#1b1e24;--ink:#e6e8ec;--area:#262b34}}{dark}}}\n\
             </style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
             <rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"12\"/>\n{}</svg>\n",
            escape(title),
            escape(description),
            self.body
        )
    }
}

const STYLE: &str = "\
svg{--ground:#fff;--ink:#1c1f24;--area:#f1f3f6;--tone:var(--ink);font:13px system-ui,sans-serif}
.ground{fill:var(--ground)}.area{fill:var(--area)}
text{fill:var(--ink)}.title{font-weight:600}.small{font-size:11.5px}.middle{text-anchor:middle}.end{text-anchor:end}
text.magenta,text.blue,text.green,text.cyan,text.yellow,text.red,text.grey{fill:var(--tone)}
.line{fill:var(--ground);stroke:var(--tone);stroke-width:1.5}.fill{fill:var(--tone);fill-opacity:.16;stroke:var(--tone);stroke-width:1.5}
.path{fill:none;stroke:var(--tone);stroke-width:1.5}.dashed{stroke-dasharray:5 4}.thick{stroke-width:2.5}.tip{fill:var(--ink)}
";

/// Text as text. `>` needs no escape outside of tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
