//! The templates: the example workspaces, embedded.

use clap::ValueEnum;
use include_dir::{Dir, DirEntry, include_dir};

use foreword_workspace::PRIVATE_DIR;

use crate::migrate::NewFile;

/// Links to the examples: a package contains only what is below its own directory.
static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

#[derive(Clone, Copy, Debug, Default, ValueEnum, PartialEq, Eq)]
pub(super) enum TemplateName {
    /// General-purpose default
    #[default]
    Standard,
    /// Personal assistant with soul, memory and skills
    Companion,
    /// Security first, for agents that read untrusted mail and pages
    Guarded,
    /// Several agents with roles, capability packs and sub-agents
    Roles,
    /// Five layers with a trust model and selection by task
    Semantic,
}

/// The folder in `templates/`.
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
    if let Some(dir) = TEMPLATES.get_dir(name) {
        collect(dir, name, &mut files);
    }
    if template == TemplateName::Semantic {
        // Its layers are kept from other agents' eyes.
        for file in &mut files {
            if let Some(layer) = file.path.strip_prefix("prompts/layers/") {
                file.path = format!("{PRIVATE_DIR}/layers/{layer}");
            }
        }
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
                // The private state of a run is not part of the template.
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

    #[test]
    fn every_template_is_embedded_with_its_settings() {
        for template in TemplateName::value_variants() {
            let files = files(*template);
            assert!(files.iter().any(|file| file.path == "foreword.toml"), "{template:?}");
            assert!(files.iter().all(|file| !file.path.starts_with('/')), "{template:?}");
        }
    }
}
