//! `cargo xtask pictures`: draws `docs/pictures/*.toml` as SVG, beside the descriptions.
//!
//! A picture is text: what it shows is reviewed and changed like prose. The same description gives the same
//! bytes, and a test compares the committed pictures with it. Colours follow the reader's light or dark
//! setting, and every picture has its own ground, so that it is readable on any page.

mod chart;
mod flow;
mod ladder;
mod strips;
mod svg;

use std::path::PathBuf;

use serde::Deserialize;

use crate::error::TaskError;
use crate::steps::root;

/// A description of a picture.
#[derive(Deserialize)]
struct Picture {
    /// The name that a screen reader says.
    title: String,
    /// What somebody who does not see it has to know.
    description: String,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Ladder(ladder::Ladder),
    Flow(flow::Flow),
    Strips(strips::Strips),
    Chart(chart::Chart),
}

/// Draws them all.
pub(crate) fn run() -> Result<(), TaskError> {
    for (path, svg) in draw_all()? {
        std::fs::write(&path, svg).map_err(TaskError::io(path.display().to_string()))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Every picture with the file it belongs into, in order.
fn draw_all() -> Result<Vec<(PathBuf, String)>, TaskError> {
    let folder = root().join("docs/pictures");
    let read = |path: &PathBuf| std::fs::read_to_string(path);
    let entries = std::fs::read_dir(&folder).map_err(TaskError::io("docs/pictures"))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let draw = |path: PathBuf| {
        let text = read(&path).map_err(TaskError::io(path.display().to_string()))?;
        let svg = draw(&text)
            .map_err(|error| TaskError::usage(format!("{}: {error}", path.display())))?;
        Ok((path.with_extension("svg"), svg))
    };
    paths.into_iter().map(draw).collect()
}

fn draw(description: &str) -> Result<String, toml::de::Error> {
    let picture: Picture = toml::from_str(description)?;
    let drawing = match &picture.kind {
        Kind::Ladder(ladder) => ladder.draw(),
        Kind::Flow(flow) => flow.draw(),
        Kind::Strips(strips) => strips.draw(),
        Kind::Chart(chart) => chart.draw(),
    };
    Ok(drawing.finish(&picture.title, &picture.description))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_pictures_are_those_of_their_descriptions() {
        let pictures = draw_all().unwrap();
        assert!(pictures.len() >= 5);
        for (path, svg) in pictures {
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(committed == svg, "{}: run `cargo xtask pictures`", path.display());
        }
    }

    #[test]
    fn text_cannot_become_markup() {
        let svg = draw(
            "kind = 'ladder'\ntitle = 'a <b> & c'\ndescription = 'd'\n\
             [[step]]\nname = '<script>'\ntext = 'x'\ntone = 'blue'\n",
        )
        .unwrap();
        assert!(svg.contains("&lt;script>") && svg.contains("a &lt;b> &amp; c"), "{svg}");
    }
}
