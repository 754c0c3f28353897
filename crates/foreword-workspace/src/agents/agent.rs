//! Agents: `agents/<id>/AGENT.md`, a YAML header and a markdown body.

use foreword::{ModeChoice, PromptMode, PromptRef};
use serde::Deserialize;
use serde_saphyr::Spanned;
use std::collections::BTreeMap;

use crate::agents::header::{self, line_in_file};
use crate::agents::names::Names;
use crate::error::{AskedBy, WorkspaceError};
use crate::read::SourceFile;
use crate::rel_path::check_component;

/// One agent as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The id: the name of the folder.
    pub id: String,
    /// The namespace; the workspace's own (`coding` by default) where the header names none.
    pub namespace: String,
    /// What the agent is for, in a line.
    pub description: Option<String>,
    /// Tool surfaces (`coding`, `readonly`, `tasks`, `spawning`, `todo`) or names of tools.
    pub tools: Vec<String>,
    /// More of the same vocabulary, added to `tools`.
    pub extensions: Vec<String>,
    /// Tools that the agent does not get, whatever gives them: names, surfaces, or `mcp__SERVER` for all
    /// tools of a server.
    pub disallowed_tools: Vec<String>,
    /// Capability packs by name, to be put in order for the agent; `None` where it names none.
    pub capabilities: Option<Vec<String>>,
    /// The explicit list of prompt parts; `None` where there is none. Never with `capabilities`.
    pub prompts: Option<Vec<PromptRef>>,
    /// The blueprint, as a name or a file of the workspace.
    pub blueprint: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Whether the agent is shown skills at all.
    pub allow_skills: bool,
    /// The only skills it is shown; `None` for all of them.
    pub skills: Option<Vec<String>>,
    /// The channel on which it speaks.
    pub channel: Option<String>,
    /// How it goes about a task.
    pub mode: Option<ModeChoice>,
    /// How much of a prompt it gets.
    pub prompt_mode: Option<PromptMode>,
    /// The body, after the header.
    pub body: SourceFile,
    /// The file it was read from: `agents/<id>/AGENT.md` or `agents/<id>.md`.
    pub file: String,
    /// The folder of its own files, `agents/<id>`, whether it exists or not.
    pub dir: String,
    lines: BTreeMap<&'static str, usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Header {
    id: Option<Spanned<String>>,
    namespace: Option<Spanned<String>>,
    description: Option<String>,
    tools: Option<Spanned<Names>>,
    extensions: Option<Spanned<Names>>,
    disallowed_tools: Option<Spanned<Names>>,
    capabilities: Option<Spanned<Names>>,
    prompts: Option<Spanned<Vec<Spanned<String>>>>,
    blueprint: Option<Spanned<String>>,
    model: Option<Spanned<String>>,
    allow_skills: Option<bool>,
    skills: Option<Spanned<Names>>,
    channel: Option<String>,
    mode: Option<ModeChoice>,
    prompt_mode: Option<PromptMode>,
}

impl Agent {
    /// Reads an agent from its file.
    ///
    /// `id` is the name of its folder; `namespace` is what it gets if it names none.
    pub(crate) fn parse(
        file: SourceFile,
        id: &str,
        namespace: &str,
    ) -> Result<Self, WorkspaceError> {
        let parts = header::split(file)?;
        let header: Header = parts.parse()?;
        let path = parts.body.path.clone();
        check_id(&path, id, header.id.as_ref())?;
        if let (Some(prompts), Some(capabilities)) = (&header.prompts, &header.capabilities) {
            return Err(WorkspaceError::PromptsAndCapabilities {
                path,
                line: line_of(prompts).max(line_of(capabilities)),
            });
        }
        let namespace_line = header.namespace.as_ref().map(line_of);
        let namespace = header.namespace.map_or_else(|| namespace.to_owned(), |n| n.value);
        check_component(&namespace).map_err(|reason| WorkspaceError::BadPath {
            given: namespace.clone(),
            reason,
            asked_by: Some(AskedBy { file: path.clone(), line: namespace_line }),
        })?;

        let mut lines = BTreeMap::new();
        lines.extend(namespace_line.map(|line| ("namespace", line)));
        let mut names = |key, names: Option<Spanned<Names>>| {
            lines.extend(names.as_ref().map(|names| (key, line_of(names))));
            names.map(|names| names.value.0)
        };
        let tools = names("tools", header.tools);
        let extensions = names("extensions", header.extensions);
        let disallowed_tools = names("disallowed_tools", header.disallowed_tools);
        let capabilities = names("capabilities", header.capabilities);
        let skills = names("skills", header.skills);
        let mut word = |key, word: Option<Spanned<String>>| {
            lines.extend(word.as_ref().map(|word| (key, line_of(word))));
            word.map(|word| word.value)
        };
        let blueprint = word("blueprint", header.blueprint);
        let model = word("model", header.model);
        lines.extend(header.prompts.as_ref().map(|prompts| ("prompts", line_of(prompts))));
        let prompts = header.prompts.map(|prompts| {
            let refs = prompts.value.into_iter();
            refs.map(|name| PromptRef {
                line: u32::try_from(line_of(&name)).unwrap_or(u32::MAX),
                name: name.value,
                file: path.clone(),
            })
            .collect()
        });
        Ok(Self {
            id: id.to_owned(),
            namespace,
            description: header.description,
            tools: tools.unwrap_or_default(),
            extensions: extensions.unwrap_or_default(),
            disallowed_tools: disallowed_tools.unwrap_or_default(),
            capabilities,
            prompts,
            blueprint,
            model,
            allow_skills: header.allow_skills.unwrap_or(true),
            skills,
            channel: header.channel,
            mode: header.mode,
            prompt_mode: header.prompt_mode,
            file: path,
            dir: format!("agents/{id}"),
            body: parts.body,
            lines,
        })
    }

    /// The place of a value in the agent's header, to name as who asked for something: of
    /// `capabilities`, `prompts`, `blueprint`, `tools`, `extensions`, `disallowed_tools`, `skills`,
    /// `namespace` or `model`.
    #[must_use]
    pub fn asked_by(&self, key: &str) -> AskedBy {
        AskedBy { file: self.file.clone(), line: self.lines.get(key).copied() }
    }
}

fn check_id(path: &str, folder: &str, id: Option<&Spanned<String>>) -> Result<(), WorkspaceError> {
    match id {
        Some(id) if id.value != folder => Err(WorkspaceError::IdMismatch {
            path: path.to_owned(),
            line: line_of(id),
            id: id.value.clone(),
            folder: folder.to_owned(),
        }),
        _ => Ok(()),
    }
}

fn line_of<T>(value: &Spanned<T>) -> usize {
    line_in_file(&value.referenced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword::{Choice, Mode};
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Agent, WorkspaceError> {
        let file =
            SourceFile { path: "agents/cosmo/AGENT.md".into(), text: text.into(), first_line: 1 };
        Agent::parse(file, "cosmo", "coding")
    }

    #[test]
    fn a_full_header_is_read() {
        let agent = parse(
            "---\nid: cosmo\nnamespace: space\ndescription: The lead\ntools: coding\n\
             extensions: [tasks, todo]\ndisallowed_tools: bash\nprompts:\n  - cosmonauts\n  - capabilities/core\n\n  # persona\n  \
             - agents/coding/cosmo\nblueprint: roles\nmodel: m-1\nallow_skills: false\n\
             skills: [a, b]\nchannel: telegram\nmode: plan\nprompt_mode: minimal\n---\n\nYou lead.\n",
        )
        .unwrap();
        assert_eq!(agent.namespace, "space");
        assert_eq!(agent.tools, ["coding"]);
        assert_eq!(agent.extensions, ["tasks", "todo"]);
        assert_eq!(agent.disallowed_tools, ["bash"]);
        let prompts = agent.prompts.as_deref().unwrap();
        let prompts: Vec<_> = prompts.iter().map(|p| (p.name.as_str(), p.line)).collect();
        assert_eq!(
            prompts,
            [("cosmonauts", 9), ("capabilities/core", 10), ("agents/coding/cosmo", 13)]
        );
        assert_eq!(agent.blueprint.as_deref(), Some("roles"));
        assert_eq!(agent.asked_by("blueprint").to_string(), "agents/cosmo/AGENT.md:14");
        assert_eq!(agent.asked_by("capabilities").to_string(), "agents/cosmo/AGENT.md");
        assert!(!agent.allow_skills);
        assert_eq!(agent.skills.as_deref().unwrap(), ["a", "b"]);
        assert_eq!(agent.mode, Some(Choice::Fixed(Mode::Plan)));
        assert_eq!(agent.prompt_mode.map(PromptMode::as_str), Some("minimal"));
        assert_eq!((agent.body.text.as_str(), agent.body.first_line), ("You lead.\n", 23));
        assert_eq!(agent.dir, "agents/cosmo");
    }

    #[test]
    fn an_agent_without_a_header_has_the_defaults() {
        let agent = parse("You are Cosmo.\n").unwrap();
        assert_eq!((agent.id.as_str(), agent.namespace.as_str()), ("cosmo", "coding"));
        assert!(agent.allow_skills);
        assert_eq!((agent.capabilities, agent.prompts, agent.skills), (None, None, None));
        assert_eq!((agent.body.text.as_str(), agent.body.first_line), ("You are Cosmo.\n", 1));
    }

    #[test]
    fn an_empty_list_is_not_the_same_as_none() {
        let agent = parse("---\ncapabilities: []\nskills: []\ntools:\n---\n").unwrap();
        assert_eq!(agent.capabilities, Some(Vec::new()));
        assert_eq!(agent.skills, Some(Vec::new()));
        assert!(agent.tools.is_empty());
    }

    #[test]
    fn another_id_than_the_folder_is_an_error() {
        let error = parse("---\nnamespace: x\nid: cosmos\n---\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "agents/cosmo/AGENT.md:3: the header has `id: cosmos`, but the folder is called `cosmo`"
        );
    }

    #[test]
    fn prompts_and_capabilities_exclude_each_other() {
        let error = parse("---\nprompts: [a]\ncapabilities: [b]\n---\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "agents/cosmo/AGENT.md:3: the header has both `prompts` and `capabilities`"
        );
    }

    #[test]
    fn unknown_keys_values_and_bad_namespaces_are_errors() {
        let error = parse("---\nallowSkills: true\n---\n").unwrap_err();
        assert_eq!(error.to_string(), "agents/cosmo/AGENT.md:2: unknown key `allowSkills`");
        assert_eq!(error.hint(), "did you mean `allow_skills`?");
        assert_eq!(
            parse("---\nid: cosmo\nmode: fast\n---\n").unwrap_err().to_string(),
            "agents/cosmo/AGENT.md:3: in the header: unknown value `fast`, expected auto, plan, act, review"
        );
        let error = parse("---\nnamespace: ../x\n---\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "agents/cosmo/AGENT.md:2: `../x` cannot be used as a path here: it contains a path separator"
        );
    }

    proptest! {
        #[test]
        fn no_header_makes_the_agent_parser_panic(
            header in "((id|tools|prompts|capabilities|mode|skills)(: |:\n|: \\[)|- |\\PC|[\n\\]]){0,40}"
        ) {
            let _ = parse(&format!("---\n{header}\n---\n"));
        }
    }
}
