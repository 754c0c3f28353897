//! Figures in `docs/security-testing.md`: the text between two markers is what a task measured.

use std::fs;

use crate::error::TaskError;
use crate::steps::root;

const PAGE: &str = "docs/security-testing.md";

/// Replaces the figures of a name.
pub(crate) fn replace_figures(name: &str, figures: &str) -> Result<(), TaskError> {
    let page = root().join(PAGE);
    let text = fs::read_to_string(&page).map_err(TaskError::io(format!("cannot read {PAGE}")))?;
    let Some(replaced) = between(&text, name, figures) else {
        return Err(TaskError::usage(format!("{PAGE} has no place for the figures `{name}`")));
    };
    fs::write(&page, replaced).map_err(TaskError::io(format!("cannot write {PAGE}")))?;
    println!("{figures}\nwritten to {PAGE}");
    Ok(())
}

fn between(text: &str, name: &str, figures: &str) -> Option<String> {
    let (start, end) = (format!("<!-- figures: {name} -->\n"), "<!-- end of figures -->");
    let (before, rest) = text.split_once(&start)?;
    let (_, after) = rest.split_once(end)?;
    Some(format!("{before}{start}\n{}\n\n{end}{after}", figures.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_named_figures_change() {
        let page = "a\n<!-- figures: x -->\nold\n<!-- end of figures -->\nb\n";
        let new = between(page, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- figures: x -->\n\nnew\n\n<!-- end of figures -->\nb\n");
        assert_eq!(between(&new, "x", "new\n"), Some(new.clone()));
        assert_eq!(between(page, "y", "new\n"), None);
    }
}
