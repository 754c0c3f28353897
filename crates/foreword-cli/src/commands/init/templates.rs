//! The templates: the example workspaces, embedded, so that there is one text of each.

use include_dir::{Dir, DirEntry, include_dir};

use super::write::NewFile;
use crate::args::TemplateName;

static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../examples");

/// The folder below `examples/`.
pub(super) fn name(template: TemplateName) -> &'static str {
    match template {
        TemplateName::Standard => "standard",
        TemplateName::Companion => "companion",
        TemplateName::Guarded => "guarded",
        TemplateName::Roles => "roles",
        TemplateName::Semantic => "semantic",
    }
}

/// The files of a template, sorted by path.
pub(super) fn files(template: TemplateName) -> Vec<NewFile> {
    let name = name(template);
    let mut files = Vec::new();
    if let Some(dir) = EXAMPLES.get_dir(name) {
        collect(dir, name, &mut files);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn collect(dir: &Dir<'_>, name: &str, files: &mut Vec<NewFile>) {
    for entry in dir.entries() {
        match entry {
            DirEntry::Dir(dir) => collect(dir, name, files),
            DirEntry::File(file) => {
                let path = file.path().to_string_lossy().replace('\\', "/");
                let path = path.strip_prefix(name).unwrap_or(&path).trim_start_matches('/');
                // State that someone's run left in an example is no part of the template.
                if path.starts_with('.') {
                    continue;
                }
                if let Some(text) = file.contents_utf8() {
                    files.push(NewFile::text(path, text));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn every_template_is_embedded_with_its_settings() {
        for template in TemplateName::value_variants() {
            let files = files(*template);
            assert!(files.iter().any(|file| file.path == "foreword.toml"), "{template:?}");
            assert!(files.iter().all(|file| !file.path.starts_with('/')), "{template:?}");
        }
    }
}
