//! Parts of pages below `docs/` that are generated from the code, between `<!-- generated: NAME -->` and
//! `<!-- end -->`. `UPDATE_DOCS=1` writes them anew.

use std::path::Path;

/// Compares the generated parts of a page with what the code says.
pub(crate) fn check(page: &str, parts: &[(&str, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let old = std::fs::read_to_string(&path).unwrap();
    let mut new = old.clone();
    for (name, text) in parts {
        let (start, end) = (format!("<!-- generated: {name} -->\n"), "<!-- end -->");
        let from = new.find(&start).unwrap_or_else(|| panic!("no place for {name}")) + start.len();
        let to = from + new[from..].find(end).unwrap();
        new.replace_range(from..to, text);
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &new).unwrap();
    }
    assert!(old == new, "docs/{page} is out of date: run with UPDATE_DOCS=1 and read the diff");
}
