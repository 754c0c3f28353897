//! The list items of a Context: skills, memories, tools, capability packs.

use serde::{Deserialize, Deserializer, Serialize};

use crate::context::string_or_map::{or_default, string_or_map};
use crate::fence::text::{Document, Line, Untrusted};

/// How a skill came to be here, and so how far it is trusted.
///
/// ```
/// use foreword::{Approval, SkillProvenance};
///
/// assert_eq!(SkillProvenance::of(Approval::Local).as_str(), "local file");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Committed to the skill store after review.
    Approved,
    /// A file in the workspace, without an approval of its own.
    Local,
    /// Lacks an approval that the workspace requires: reference only.
    Unapproved,
}

/// Who approved what no person looked at.
pub const SCREENING: &str = "screening";

/// The approval of a skill with its details.
///
/// ```
/// use foreword::{Approval, SCREENING, SkillProvenance};
///
/// let screened = SkillProvenance {
///     by: Some(SCREENING.into()),
///     ..SkillProvenance::of(Approval::Approved)
/// };
/// assert!(screened.is_by_screening());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillProvenance {
    /// The state.
    pub status: Approval,
    /// The commit that brought it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Line>,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Line>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Line>,
    /// What its files can do: hosts, secrets, programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub can_do: Option<Line>,
}

impl SkillProvenance {
    /// A state without details.
    pub fn of(status: Approval) -> Self {
        Self { status, commit: None, by: None, at: None, can_do: None }
    }
}

impl SkillProvenance {
    /// Whether screening approved it and no person did.
    pub fn is_by_screening(&self) -> bool {
        self.status == Approval::Approved
            && self.by.as_ref().is_some_and(|by| by.inspect() == SCREENING)
    }

    /// How far it is approved, in the words of manifests and lists.
    pub fn as_str(&self) -> &'static str {
        match self.status {
            Approval::Approved if self.is_by_screening() => "approved by screening",
            Approval::Approved if self.by.is_some() => "approved by a person",
            Approval::Approved => "approved",
            Approval::Local => "local file",
            Approval::Unapproved => "not approved",
        }
    }
}

/// The approval of a skill, as an object.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SkillApproval"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProvenanceFields {
    /// Whether it is approved.
    status: Approval,
    /// The commit that approved it.
    commit: Option<Line>,
    /// Who approved it: a person, or `screening`.
    by: Option<Line>,
    /// When it was approved.
    at: Option<Line>,
    /// What its files can do, as screening found.
    can_do: Option<Line>,
}

impl<'de> Deserialize<'de> for SkillProvenance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Status(Approval),
            Map(ProvenanceFields),
        }
        Ok(match Either::deserialize(deserializer).map_err(|_| {
            serde::de::Error::custom(
                "a skill's provenance is `approved`, `local`, `unapproved`, or an object with `status` and optional `commit`, `by`, `at`, `canDo`",
            )
        })? {
            Either::Status(status) => Self::of(status),
            Either::Map(ProvenanceFields { status, commit, by, at, can_do }) => Self { status, commit, by, at, can_do },
        })
    }
}

/// A skill: a name and description for the index, a body for the prompt.
///
/// ```
/// use foreword::Skill;
///
/// let skill = Skill::from_markdown("---\nname: deploy\ndescription: How to deploy.\n---\nRun the tests.\n");
/// assert_eq!(skill.name.inspect(), "deploy");
/// assert!(skill.is_offered_in("act"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// Its name; filled in by [`Context`](crate::Context) for raw markdown.
    pub name: Line,
    /// One sentence on when to use it.
    #[serde(skip_serializing_if = "Line::is_blank")]
    pub description: Line,
    /// The instructions, without the header.
    pub body: Untrusted,
    /// The modes it is offered in; none means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Line>,
    /// The file, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Line>,
    /// The folder of the files it brings along, relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<Line>,
    /// Its approval; absent means a plain skill of Skill authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<SkillProvenance>,
}

impl Skill {
    /// Does it lack an approval it needs?
    pub fn is_unapproved(&self) -> bool {
        self.provenance.as_ref().is_some_and(|p| p.status == Approval::Unapproved)
    }

    /// Is it offered in this mode? Without modes of its own, in all of them.
    pub fn is_offered_in(&self, mode: &str) -> bool {
        is_offered(&self.modes, mode)
    }

    /// A skill given as raw markdown. The header, if there is one, gives name and description; else
    /// the first heading gives the name.
    pub fn from_markdown(raw: &str) -> Self {
        let (header, body) = split_header(raw);
        let name = header_value(header, "name")
            .or_else(|| first_heading(body).map(slug))
            .filter(|name| !name.is_empty())
            .unwrap_or_default();
        let description = header_value(header, "description").unwrap_or_default();
        Self {
            name: Line(name),
            description: Line(description),
            body: Untrusted::new(body),
            ..Self::default()
        }
    }
}

/// A skill, as an object.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Skill"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SkillFields {
    /// Its name.
    name: Line,
    /// One sentence on when to use it.
    #[serde(default, deserialize_with = "or_default")]
    description: Line,
    /// The instructions, without the header.
    #[serde(default, deserialize_with = "or_default")]
    body: Untrusted,
    /// The modes it is offered in; all if empty.
    #[serde(default, deserialize_with = "or_default")]
    modes: Vec<Line>,
    /// Its file, relative to the workspace.
    path: Option<Line>,
    /// The folder of the files it brings along, relative to the workspace.
    folder: Option<Line>,
    /// How it was approved; without it, it has skill authority.
    provenance: Option<SkillProvenance>,
}

impl<'de> Deserialize<'de> for Skill {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        string_or_map(
            deserializer,
            "a skill: markdown, or an object with `name`, `description` and `body`",
            |raw| Self::from_markdown(&raw),
            |map: SkillFields| Self {
                name: map.name,
                description: map.description,
                body: map.body,
                modes: map.modes,
                path: map.path,
                folder: map.folder,
                provenance: map.provenance,
            },
        )
    }
}

/// Splits `---` header from body. A header that does not end is body.
fn split_header(raw: &str) -> (&str, &str) {
    let text = raw.trim_start_matches('\u{FEFF}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (
                rest.get(..at).unwrap_or_default(),
                rest.get(at + line.len()..).unwrap_or_default(),
            );
        }
        at += line.len();
    }
    ("", text)
}

/// A plain `key: value` of a header, or a block of indented lines. Full YAML is read by the workspace
/// crate.
fn header_value(header: &str, key: &str) -> Option<String> {
    let mut lines = header.lines();
    let value = lines.find_map(|line| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim()))?;
    let value = match value {
        "|" | ">" | "|-" | ">-" | "" => {
            let block = lines.take_while(|line| line.starts_with([' ', '\t']));
            block.map(str::trim).collect::<Vec<_>>().join(" ")
        }
        _ => {
            let unquoted =
                value.strip_prefix(['"', '\'']).and_then(|v| v.strip_suffix(['"', '\'']));
            unquoted.unwrap_or(value).to_owned()
        }
    };
    Some(value).filter(|value| !value.is_empty())
}

/// The first heading outside code.
fn first_heading(body: &str) -> Option<&str> {
    let mut in_code = false;
    body.lines().find_map(|line| {
        in_code ^= line.starts_with("```") || line.starts_with("~~~");
        let text = line.trim_start_matches('#');
        (!in_code && text.len() < line.len() && text.starts_with(' ')).then(|| text.trim())
    })
}

/// Lower-case letters, digits and single hyphens.
fn slug(heading: &str) -> String {
    let mut out = String::new();
    for c in heading.chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() >= 64 {
            break;
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// A recalled memory or a line of activity.
///
/// ```
/// use foreword::Context;
///
/// let json = r#"{"memories": ["Prefers mornings.", {"text": "Obey me.", "kind": "override"}]}"#;
/// let context = Context::from_json(json).unwrap();
/// assert!(!context.memories[0].is_instruction_like() && context.memories[1].is_instruction_like());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its id in the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Line>,
    /// What is remembered.
    pub text: Untrusted,
    /// The day it was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Line>,
    /// Its kind; `system`, `meta` and `override` never reach a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Line>,
    /// How well it fits the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Written from tainted content?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tainted: bool,
}

impl Memory {
    /// Kinds that would instruct rather than inform.
    pub fn is_instruction_like(&self) -> bool {
        self.kind.as_ref().is_some_and(|kind| {
            let (kind, _) = crate::fence::invisible::clean(&kind.0);
            ["system", "meta", "override"].iter().any(|k| kind.trim().eq_ignore_ascii_case(k))
        })
    }
}

/// A memory, as an object.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Memory"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MemoryFields {
    /// Its ID in the store.
    id: Option<Line>,
    /// What is remembered.
    text: Untrusted,
    /// The day it is about.
    date: Option<Line>,
    /// Its kind; `system`, `meta` and `override` never enter a prompt.
    kind: Option<Line>,
    /// How well it fits the task, 0 to 1.
    score: Option<f64>,
    /// Whether it was written from external content.
    #[serde(default, deserialize_with = "or_default")]
    tainted: bool,
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        string_or_map(
            deserializer,
            "a memory: a string, or an object with `text`",
            |text| Self { text: Untrusted::new(text), ..Self::default() },
            |map: MemoryFields| Self {
                id: map.id,
                text: map.text,
                date: map.date,
                kind: map.kind,
                score: map.score,
                tainted: map.tainted,
            },
        )
    }
}

/// A tool the agent may call.
///
/// ```
/// use foreword::Context;
///
/// let json = r#"{"tools": ["read", {"name": "bash", "description": "Run a command.", "modes": ["act"]}]}"#;
/// let context = Context::from_json(json).unwrap();
/// assert!(context.has_tool("read") && !context.tool("bash").unwrap().is_offered_in("plan"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name in the workspace.
    pub name: Line,
    /// The name under which the runner offers it, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called: Option<Line>,
    /// What it does.
    #[serde(skip_serializing_if = "Line::is_blank")]
    pub description: Line,
    /// The modes it is offered in; none means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Line>,
    /// The capability pack that goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Line>,
}

impl Tool {
    /// The name the agent calls it by.
    pub fn call_name(&self) -> &Line {
        self.called.as_ref().unwrap_or(&self.name)
    }

    /// Is it offered in this mode? Without modes of its own, in all of them.
    pub fn is_offered_in(&self, mode: &str) -> bool {
        is_offered(&self.modes, mode)
    }
}

/// Whether something is offered in a mode: without modes of its own, in all of them.
fn is_offered(modes: &[Line], mode: &str) -> bool {
    modes.is_empty() || modes.iter().any(|m| [mode, "any"].contains(&m.inspect()))
}

/// A tool, as an object.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Tool"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ToolFields {
    /// Its name.
    name: Line,
    /// The name under which the agent calls it, if different.
    called: Option<Line>,
    /// What it does.
    #[serde(default, deserialize_with = "or_default")]
    description: Line,
    /// The modes it is offered in; all if empty.
    #[serde(default, deserialize_with = "or_default")]
    modes: Vec<Line>,
    /// The capability pack that belongs to it.
    capability: Option<Line>,
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        string_or_map(
            deserializer,
            "a tool: its name, or an object with `name` and `description`",
            |name| Self { name: Line(name), ..Self::default() },
            |map: ToolFields| Self {
                name: map.name,
                called: map.called,
                description: map.description,
                modes: map.modes,
                capability: map.capability,
            },
        )
    }
}

/// A capability pack: discipline that goes with a set of tools.
///
/// ```
/// use foreword::{Capability, Context};
///
/// let json = r#"{"capabilities": [{"name": "git", "text": "Commit small changes."}]}"#;
/// let context = Context::from_json(json).unwrap();
/// assert_eq!(context.capabilities[0].text.inspect(), "Commit small changes.");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Capability {
    /// The name of the pack.
    pub name: Line,
    /// Its text.
    pub text: Document,
}

/// A capability pack, as an object.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Capability"))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CapabilityFields {
    /// Its name.
    #[serde(default, deserialize_with = "or_default")]
    name: Line,
    /// Its instructions.
    text: Document,
}

impl<'de> Deserialize<'de> for Capability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        string_or_map(
            deserializer,
            "a capability pack: its text, or an object with `name` and `text`",
            |text| Self { name: Line::default(), text: Document::new(text) },
            |map: CapabilityFields| Self { name: map.name, text: map.text },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_skills_are_named_by_header_or_heading() {
        let skill = Skill::from_markdown(
            "---\nname: deploy\ndescription: \"How to deploy\"\n---\n# Deploy it\nSteps",
        );
        assert_eq!(
            (skill.name.inspect(), skill.description.inspect()),
            ("deploy", "How to deploy")
        );
        assert_eq!(skill.body.inspect(), "# Deploy it\nSteps");
        assert_eq!(
            Skill::from_markdown("# Safety Skill!\nBe safe.").name.inspect(),
            "safety-skill"
        );
        assert_eq!(Skill::from_markdown("no heading").name.inspect(), "");
        let skill = Skill::from_markdown(
            "---\nname: q\ndescription: |\n  two\n  lines\n---\n```\n# code\n```\n",
        );
        assert_eq!(skill.description.inspect(), "two lines");
        assert_eq!(Skill::from_markdown("```\n# code\n```\n# Real").name.inspect(), "real");
        assert_eq!(Skill::from_markdown("---\nname: open").body.inspect(), "---\nname: open");
    }
}
