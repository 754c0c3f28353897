//! `prompts/`: base, capability packs, personas, the sub-agent overlay, and the layers.

use std::collections::BTreeMap;

use crate::error::{AskedBy, WorkspaceError};
use crate::private::PRIVATE_DIR;
use crate::read::{EntryKind, SourceFile};
use crate::rel_path::{RelPath, check_component};
use crate::workspace::{MAX_DIRECTORY_ENTRIES, Workspace, check};

const PACKS_DIR: &str = "prompts/capabilities";

/// A layer of the constitution that a workspace can write itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// `constitution.md`.
    Constitution,
    /// `rules.md`.
    Rules,
}

impl Layer {
    /// The name of its file without the extension.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constitution => "constitution",
            Self::Rules => "rules",
        }
    }
}

/// Where a layer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerPlace {
    /// `.foreword/layers/`, kept from the eyes of other agents.
    Private,
    /// `prompts/layers/`.
    Prompts,
}

impl Workspace {
    /// The file a prompt reference leads to: `capabilities/core` is `prompts/capabilities/core.md`.
    pub fn prompt_ref(
        &self,
        reference: &str,
        asked_by: &AskedBy,
    ) -> Result<SourceFile, WorkspaceError> {
        let path = check(reference.strip_suffix(".md").unwrap_or(reference), Some(asked_by))
            .map_err(|error| match error {
                WorkspaceError::BadPath { reason, asked_by, .. } => {
                    WorkspaceError::BadPath { given: reference.to_owned(), reason, asked_by }
                }
                other => other,
            })?;
        self.required_file(&format!("prompts/{}.md", path.as_str()), asked_by)
    }

    /// The capability packs, `prompts/capabilities/*.md`, by name.
    pub fn capability_packs(&self) -> Result<BTreeMap<String, SourceFile>, WorkspaceError> {
        let mut packs = BTreeMap::new();
        for entry in self.files.list(PACKS_DIR, MAX_DIRECTORY_ENTRIES)?.unwrap_or_default() {
            let Some(name) = entry.name.strip_suffix(".md") else { continue };
            if entry.kind == EntryKind::BadName || entry.name.eq_ignore_ascii_case("README.md") {
                continue;
            }
            if let Some(file) = self.read(&RelPath::listed(PACKS_DIR, &entry.name))? {
                packs.insert(name.to_owned(), file);
            }
        }
        Ok(packs)
    }

    /// The persona of an agent, `prompts/agents/<namespace>/<id>.md`.
    pub fn persona(&self, namespace: &str, id: &str) -> Result<Option<SourceFile>, WorkspaceError> {
        for name in [namespace, id] {
            check_component(name).map_err(|reason| WorkspaceError::BadPath {
                given: name.to_owned(),
                reason,
                asked_by: None,
            })?;
        }
        self.file(&format!("prompts/agents/{namespace}/{id}.md"))
    }

    /// The workspace's own platform base, `prompts/base.md`.
    pub fn base(&self) -> Result<Option<SourceFile>, WorkspaceError> {
        self.file("prompts/base.md")
    }

    /// The workspace's own sub-agent overlay, `prompts/runtime/sub-agent.md`.
    pub fn sub_agent_overlay(&self) -> Result<Option<SourceFile>, WorkspaceError> {
        self.file("prompts/runtime/sub-agent.md")
    }

    /// A layer of the workspace and where it was found: the private one wins.
    ///
    /// A blank file is passed over as if it were absent: a layer that was begun and never written
    /// must not remove the one below it.
    pub fn layer(&self, layer: Layer) -> Result<Option<(SourceFile, LayerPlace)>, WorkspaceError> {
        for (dir, place) in [(PRIVATE_DIR, LayerPlace::Private), ("prompts", LayerPlace::Prompts)] {
            let path = RelPath::listed(dir, &format!("layers/{}.md", layer.as_str()));
            if let Some(file) = self.read(&path)?.filter(|file| !file.text.trim().is_empty()) {
                return Ok(Some((file, place)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use proptest::prelude::*;

    fn asked_by() -> AskedBy {
        AskedBy::new("agents/cosmo/AGENT.md", 5)
    }

    #[test]
    fn a_reference_leads_below_prompts() {
        let scratch = Scratch::new(&[
            ("prompts/cosmonauts.md", "base"),
            ("prompts/capabilities/core.md", "core"),
            ("secret.md", "secret"),
        ]);
        let workspace = scratch.open();
        let text = |reference| workspace.prompt_ref(reference, &asked_by()).unwrap().text;
        assert_eq!(text("cosmonauts"), "base");
        assert_eq!(text("cosmonauts.md"), "base");
        assert_eq!(text("capabilities/core"), "core");
        for reference in [
            "../secret",
            "capabilities/../../secret",
            "/etc/passwd",
            "a\0",
            "",
            "C:/x",
            "..\\secret",
        ] {
            let error = workspace.prompt_ref(reference, &asked_by()).unwrap_err();
            assert!(matches!(error, WorkspaceError::BadPath { .. }), "{reference:?}: {error}");
            assert!(error.to_string().starts_with("agents/cosmo/AGENT.md:5: "), "{error}");
        }
    }

    #[test]
    fn a_missing_reference_names_file_and_asker() {
        let scratch = Scratch::new(&[("prompts/capabilities/tasks.md", "")]);
        let error = scratch.open().prompt_ref("capabilities/task", &asked_by()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "prompts/capabilities/task.md: file not found; agents/cosmo/AGENT.md:5 refers to it"
        );
        assert!(error.hint().starts_with("did you mean prompts/capabilities/tasks.md?"));
    }

    #[test]
    fn packs_are_the_markdown_files_by_name() {
        let scratch = Scratch::new(&[
            ("prompts/capabilities/todo.md", "t"),
            ("prompts/capabilities/core.md", "c"),
            ("prompts/capabilities/README.md", "about"),
            ("prompts/capabilities/notes.txt", "n"),
            ("prompts/capabilities/.core.md.swp", "s"),
        ]);
        let packs = scratch.open().capability_packs().unwrap();
        assert_eq!(packs.keys().collect::<Vec<_>>(), ["core", "todo"]);
        assert_eq!(packs["core"].path, "prompts/capabilities/core.md");
    }

    #[test]
    fn a_directory_in_place_of_a_pack_is_an_error() {
        let scratch = Scratch::new(&[("prompts/capabilities/core.md/x", "")]);
        assert_eq!(
            scratch.open().capability_packs().unwrap_err().to_string(),
            "prompts/capabilities/core.md: is a directory; a file is expected here"
        );
    }

    #[test]
    fn a_persona_lies_in_its_namespace() {
        let scratch = Scratch::new(&[("prompts/agents/coding/cosmo.md", "You are Cosmo.")]);
        let workspace = scratch.open();
        assert!(workspace.persona("coding", "cosmo").unwrap().is_some());
        assert!(workspace.persona("ops", "cosmo").unwrap().is_none());
        assert!(workspace.persona("..", "cosmo").is_err());
        assert!(workspace.persona("coding", "x/../cosmo").is_err());
    }

    #[test]
    fn the_private_layer_wins_unless_it_is_blank() {
        let scratch = Scratch::new(&[]);
        let workspace = scratch.open();
        let place = || workspace.layer(Layer::Constitution).unwrap().map(|(_, place)| place);
        assert_eq!(place(), None);
        scratch.write("prompts/layers/constitution.md", "open");
        assert_eq!(place(), Some(LayerPlace::Prompts));
        scratch.write(".foreword/layers/constitution.md", " \n");
        assert_eq!(place(), Some(LayerPlace::Prompts));
        scratch.write(".foreword/layers/constitution.md", "closed");
        assert_eq!(place(), Some(LayerPlace::Private));
        assert_eq!(workspace.layer(Layer::Rules).unwrap(), None);
    }

    #[test]
    fn base_and_overlay_have_fixed_names() {
        let scratch =
            Scratch::new(&[("prompts/base.md", "b"), ("prompts/runtime/sub-agent.md", "o")]);
        let workspace = scratch.open();
        assert_eq!(workspace.base().unwrap().unwrap().text, "b");
        assert_eq!(workspace.sub_agent_overlay().unwrap().unwrap().text, "o");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn no_reference_leads_outside(reference in "(\\.\\.|\\.|/|\\\\|secret|prompts|in|link|\\PC|\0|\n){0,8}") {
            // Everything outside `prompts` says so; a reference that reads it has got out.
            let scratch = Scratch::new(&[("ws/secret.md", "OUT"), ("secret.md", "OUT"), ("ws/prompts/in.md", "in")]);
            let workspace = Workspace::open(&scratch.path().join("ws")).unwrap();
            if let Ok(file) = workspace.prompt_ref(&reference, &asked_by()) {
                prop_assert_eq!(file.text, "in");
                prop_assert!(file.path.starts_with("prompts/"));
            }
        }
    }
}
