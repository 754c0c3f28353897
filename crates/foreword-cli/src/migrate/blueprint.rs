//! The blueprint of a migrated workspace. `roles` has no section for a project's own instructions and
//! skills, so a workspace that has some gets a blueprint that adds one.

use super::import::Import;

/// The file of the added blueprint.
const FILE: &str = "blueprints/project.toml";

/// Which built-in blueprint fits a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Standard,
    Companion,
    Roles,
}

impl Base {
    fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Companion => "companion",
            Self::Roles => "roles",
        }
    }
}

/// Gives the blueprint for `foreword.toml`, and writes its file if it needs one.
pub(super) fn place(import: &mut Import, base: Base) -> String {
    let has_context = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"].iter().any(|path| import.has(path));
    let mut modules: Vec<(&str, u8)> = Vec::new();
    match base {
        Base::Standard => {}
        // It has no section for these, and `standard` has one for everything.
        Base::Companion if import.has("CONTEXT.md") || import.has("HEARTBEAT.md") => {
            return Base::Standard.name().to_owned();
        }
        Base::Companion => {}
        Base::Roles => {
            if has_context {
                modules.push(("context", 65));
            }
            if import.has_below("skills/") {
                modules.push(("index", 68));
            }
        }
    }
    if modules.is_empty() {
        return base.name().to_owned();
    }
    let mut text = format!(
        "# `{}` with sections for what was migrated.\nname = \"project\"\nextends = \"{}\"\n",
        base.name(),
        base.name()
    );
    for (name, priority) in modules {
        text.push_str(&format!("\n[[module]]\nname = \"{name}\"\npriority = {priority}\n"));
    }
    if import.add_text(FILE, FILE, text) { FILE.to_owned() } else { base.name().to_owned() }
}
