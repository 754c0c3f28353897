//! Context: everything a prompt depends on, as plain data.

pub(crate) mod clock;
pub(crate) mod date;
pub(crate) mod field;
pub(crate) mod items;
pub(crate) mod run_fact;
pub(crate) mod selection;
pub(crate) mod string_or_map;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::compile::manifest::Filtered;
use crate::context::clock::Timestamp;
use crate::context::items::{Capability, Memory, Skill, Tool};
use crate::context::run_fact::RunFact;
use crate::context::selection::Selection;
use crate::context::string_or_map::{map_or_default, only_map, optional_map, or_default};
use crate::fence::text::{Document, Documents, Line};
use crate::names::{Hints, Mode, ModeChoice, Profile, PromptMode, SpawnMode};

/// Everything a prompt depends on. The same Context gives the same bytes.
///
/// ```
/// use foreword::Context;
///
/// let context = Context::from_json(r#"{"profile": "balanced", "taintRatio": 0.4}"#).unwrap();
/// assert!(context.is_tainted(), "balanced allows 0.3");
/// assert_eq!(context.context_window, 200_000);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::schema::null_means_absent))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Context {
    /// The loop that runs the agent.
    #[serde(skip_serializing_if = "RunFact::is_assumed")]
    pub agent_type: RunFact,
    /// The agent's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Line>,
    /// The agent's namespace.
    pub namespace: Line,
    /// The person the agent works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Line>,
    /// The model that will read the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Line>,
    /// Where the conversation takes place.
    pub channel: Line,
    /// The working directory of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<Line>,
    /// The security profile; `balanced` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// The sandbox in use.
    #[serde(skip_serializing_if = "RunFact::is_assumed")]
    pub sandbox_type: RunFact,
    /// External tokens over all tokens of the session, 0 to 1.
    #[serde(deserialize_with = "or_default")]
    pub taint_ratio: f64,
    /// The ratio above which sensitive actions are refused; the profile's if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taint_threshold: Option<f64>,
    /// The files that say who the agent is.
    #[serde(deserialize_with = "map_or_default")]
    pub identity_files: IdentityFiles,
    /// CONTEXT.md and the like: a text, or several in order.
    #[serde(skip_serializing_if = "Documents::is_blank", deserialize_with = "or_default")]
    pub context_content: Documents,
    /// The model's window in tokens.
    pub context_window: u64,
    /// Tokens of the conversation so far.
    #[serde(deserialize_with = "or_default")]
    pub history_tokens: u64,
    /// What was left out of the conversation for lack of space; copied to the manifest.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_map")]
    pub history_omitted: Option<HistoryOmitted>,
    /// Tokens kept for tool schemas and the current message.
    #[serde(deserialize_with = "or_default")]
    pub reserved_tokens: u64,
    /// Tokens kept for the answer.
    pub output_reserve: u64,
    /// A limit on the prompt itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_prompt_tokens: Option<u64>,
    /// What the agent should do; `auto` infers it from the task.
    #[serde(deserialize_with = "or_default")]
    pub mode: ModeChoice,
    /// What the caller knows that helps to infer the mode.
    #[serde(deserialize_with = "map_or_default")]
    pub hints: Hints,
    /// How much of the prompt is wanted.
    #[serde(deserialize_with = "or_default")]
    pub prompt_mode: PromptMode,
    /// What the person asked for.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub task: Document,
    /// The time, given by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Timestamp>,
    /// A token that must never appear in output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<Line>,
    /// Skills, best first.
    #[serde(skip_serializing_if = "is_empty", deserialize_with = "or_default")]
    pub skills: Arc<Vec<Skill>>,
    /// Tools.
    #[serde(skip_serializing_if = "is_empty", deserialize_with = "or_default")]
    pub tools: Arc<Vec<Tool>>,
    /// What was left out while gathering the Context, and why; copied to the manifest.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub left_out: Vec<Filtered>,
    /// Capability packs, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub capabilities: Vec<Capability>,
    /// The persona of the `roles` blueprint.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub persona: Document,
    /// The platform base; built in if absent.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub base: Document,
    /// The constitution; built in if absent.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub constitution: Document,
    /// The rules of the modes; built in if absent.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub rules: Document,
    /// The template of the sub-agent overlay; built in if absent.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub overlay: Document,
    /// How the agent was started.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_map")]
    pub runtime_context: Option<RuntimeContext>,
    /// Recalled memories, best first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub memories: Vec<Memory>,
    /// Recent activity, best first.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub activity: Vec<Memory>,
    /// What was selected for the task; if absent, everything is shown.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_map")]
    pub selection: Option<Selection>,
    /// Facts of the repository.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_map")]
    pub git: Option<Git>,
    /// Facts of the machine.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "optional_map")]
    pub env: Option<Env>,
    /// May the agent stay silent when it is not addressed?
    #[serde(deserialize_with = "or_default")]
    pub reply_gate: bool,
    /// Texts of file-backed modules, by file name; read when the Context was gathered.
    #[serde(
        skip_serializing_if = "std::collections::BTreeMap::is_empty",
        deserialize_with = "or_default"
    )]
    pub files: std::collections::BTreeMap<String, Document>,
}

fn is_empty<T>(items: &Arc<Vec<T>>) -> bool {
    items.is_empty()
}

impl Default for Context {
    fn default() -> Self {
        Self {
            agent_type: RunFact::assumed("pi-agent-core"),
            agent_id: None,
            namespace: Line::new("coding"),
            user_id: None,
            model: None,
            channel: Line::new("terminal"),
            workspace: None,
            profile: None,
            sandbox_type: RunFact::assumed("subprocess"),
            taint_ratio: 0.0,
            taint_threshold: None,
            identity_files: IdentityFiles::default(),
            context_content: Documents::default(),
            context_window: 200_000,
            history_tokens: 0,
            history_omitted: None,
            reserved_tokens: 0,
            output_reserve: 4096,
            max_prompt_tokens: None,
            mode: ModeChoice::default(),
            hints: Hints::default(),
            prompt_mode: PromptMode::default(),
            task: Document::default(),
            now: None,
            canary: None,
            skills: Arc::default(),
            tools: Arc::default(),
            left_out: Vec::new(),
            capabilities: Vec::new(),
            persona: Document::default(),
            base: Document::default(),
            constitution: Document::default(),
            rules: Document::default(),
            overlay: Document::default(),
            runtime_context: None,
            memories: Vec::new(),
            activity: Vec::new(),
            selection: None,
            git: None,
            env: None,
            reply_gate: false,
            files: std::collections::BTreeMap::new(),
        }
    }
}

/// The files that say who the agent is.
///
/// ```
/// use foreword::Context;
///
/// let context = Context::from_json(r#"{"identityFiles": {"soul": "Dry humour."}}"#).unwrap();
/// assert_eq!(context.identity_files.soul.inspect(), "Dry humour.");
/// assert!(!context.is_bootstrap());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = crate::schema::null_means_absent))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IdentityFiles {
    /// AGENT.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub agent: Document,
    /// AGENTS.md, another name for `agent`.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub agents: Document,
    /// SOUL.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub soul: Document,
    /// IDENTITY.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub identity: Document,
    /// USER.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub user: Document,
    /// BOOTSTRAP.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub bootstrap: Document,
    /// USER_BOOTSTRAP.md, shown if USER.md is absent.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub user_bootstrap: Document,
    /// HEARTBEAT.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub heartbeat: Document,
    /// TOOLS.md.
    #[serde(skip_serializing_if = "Document::is_blank", deserialize_with = "or_default")]
    pub tools: Document,
}

/// How the agent was started.
///
/// ```
/// use foreword::Context;
///
/// let json = r#"{"runtimeContext": {"mode": "sub-agent", "parentRole": "planner"}}"#;
/// assert!(Context::from_json(json).unwrap().is_sub_agent());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RuntimeContext {
    /// By a person or by another agent.
    pub mode: SpawnMode,
    /// The role of the agent that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_role: Option<Line>,
    /// What it has to achieve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<Line>,
    /// The task it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<Line>,
}

/// Turns of a conversation that no longer fit the window.
///
/// ```
/// use foreword::Context;
///
/// let context = Context::from_json(r#"{"historyOmitted": {"turns": 3, "tokens": 900}}"#).unwrap();
/// assert_eq!(context.history_omitted.unwrap().turns, 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HistoryOmitted {
    /// Number of the oldest turns that were left out.
    pub turns: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// Facts of the repository.
///
/// ```
/// use foreword::Context;
///
/// let context = Context::from_json(r#"{"git": {"branch": "main", "summary": "clean"}}"#).unwrap();
/// assert_eq!(context.git.unwrap().branch.inspect(), "main");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Git {
    /// The branch.
    pub branch: Line,
    /// What changed.
    pub summary: Line,
}

/// Facts of the machine.
///
/// ```
/// use foreword::Context;
///
/// let context = Context::from_json(r#"{"env": {"cwd": "/srv/shop", "os": "linux"}}"#).unwrap();
/// assert_eq!(context.env.unwrap().os.inspect(), "linux");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Env {
    /// The directory.
    pub cwd: Line,
    /// The operating system.
    pub os: Line,
}

/// Why a Context was refused.
///
/// ```
/// use foreword::Context;
///
/// let error = Context::from_json(r#"{"taintRatio": 2}"#).unwrap_err();
/// assert!(error.to_string().starts_with("`taintRatio` is 2: "), "{error}");
/// ```
#[derive(Debug, Error)]
pub enum ContextError {
    /// Not the JSON of a Context.
    #[error("not a valid context: {0}")]
    Json(#[from] serde_json::Error),
    /// A number out of range.
    #[error("`{field}` is {value}: {rule}")]
    OutOfRange {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// Two names for one thing.
    #[error("`identityFiles.agent` and `identityFiles.agents` are both set; keep one")]
    TwoAgentFiles,
}

impl Context {
    /// Did nobody state what runs the agent? A loop of one's own has neither sandbox nor audit log.
    pub(crate) fn is_for_own_loop(&self) -> bool {
        self.agent_type.is_assumed() && self.sandbox_type.is_assumed()
    }

    /// Reads and checks a Context.
    pub fn from_json(json: &str) -> Result<Self, ContextError> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let context = only_map(&mut deserializer)?;
        deserializer.end()?;
        Self::checked(context)
    }

    /// The same for JSON that is already parsed.
    pub fn from_value(json: serde_json::Value) -> Result<Self, ContextError> {
        Self::checked(only_map(json)?)
    }

    fn checked(mut context: Self) -> Result<Self, ContextError> {
        context.name_skills();
        context.validate()?;
        Ok(context)
    }

    /// Checks what types cannot: ranges, and one name for one thing.
    pub fn validate(&self) -> Result<(), ContextError> {
        let ratio = |field, value: f64| {
            if (0.0..=1.0).contains(&value) {
                return Ok(());
            }
            Err(ContextError::OutOfRange {
                field,
                value: value.to_string(),
                rule: "it must be a ratio from 0 to 1",
            })
        };
        ratio("taintRatio", self.taint_ratio)?;
        if let Some(threshold) = self.taint_threshold {
            ratio("taintThreshold", threshold)?;
        }
        let positive = |field, value: u64| {
            if value > 0 {
                return Ok(());
            }
            Err(ContextError::OutOfRange {
                field,
                value: value.to_string(),
                rule: "it must be at least 1 token",
            })
        };
        positive("contextWindow", self.context_window)?;
        if let Some(limit) = self.max_prompt_tokens {
            positive("maxPromptTokens", limit)?;
        }
        if !self.identity_files.agent.is_blank() && !self.identity_files.agents.is_blank() {
            return Err(ContextError::TwoAgentFiles);
        }
        Ok(())
    }

    /// Gives raw skills without a name the name `skill-N`, N being their place in the list.
    pub fn name_skills(&mut self) {
        if !self.skills.iter().any(|skill| skill.name.is_blank()) {
            return;
        }
        for (index, skill) in Arc::make_mut(&mut self.skills).iter_mut().enumerate() {
            if skill.name.is_blank() {
                skill.name = Line(format!("skill-{}", index + 1));
            }
        }
    }

    /// The profile, `balanced` where none is given.
    pub fn profile(&self) -> Profile {
        self.profile.unwrap_or(Profile::Balanced)
    }

    /// The taint threshold: the one given, else the profile's, else 1.
    pub fn taint_threshold(&self) -> f64 {
        self.taint_threshold.or(self.profile.map(Profile::threshold)).unwrap_or(1.0)
    }

    /// Is the session's taint above the threshold?
    pub fn is_tainted(&self) -> bool {
        self.taint_ratio > self.taint_threshold()
    }

    /// SOUL.md absent or blank, and BOOTSTRAP.md present.
    pub fn is_bootstrap(&self) -> bool {
        self.identity_files.soul.is_blank() && !self.identity_files.bootstrap.is_blank()
    }

    /// The agent's own text, under either name.
    pub fn agent_text(&self) -> &Document {
        if self.identity_files.agent.is_blank() {
            &self.identity_files.agents
        } else {
            &self.identity_files.agent
        }
    }

    /// Was the agent started by another one?
    pub fn is_sub_agent(&self) -> bool {
        self.runtime_context.as_ref().is_some_and(|r| r.mode == SpawnMode::SubAgent)
    }

    /// The mode to work in: given, or inferred from hints and task.
    pub fn mode(&self) -> Mode {
        Mode::infer(self.mode, self.hints, self.task.inspect())
    }

    /// Is a tool of this name offered?
    pub fn has_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// The tool of this name, if it is offered.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name.inspect() == name)
    }

    /// The tokens a prompt may use; negative when history and reserves alone exceed the window.
    pub fn available_tokens(&self) -> i64 {
        let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX / 8);
        let window = signed(self.context_window)
            - signed(self.history_tokens)
            - signed(self.reserved_tokens)
            - signed(self.output_reserve);
        self.max_prompt_tokens.map_or(window, |limit| window.min(signed(limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_no_object() {
        for json in [
            "[]",
            r#"{"runtimeContext": ["sub-agent"]}"#,
            r#"{"git": ["main", ""]}"#,
            r#"{"hints": [true]}"#,
        ] {
            assert!(Context::from_json(json).is_err(), "{json}");
        }
        let nulls = r#"{"git": null, "env": null, "task": null, "skills": null, "hints": null,
            "identityFiles": {"soul": null}, "taintRatio": null, "profile": null, "model": null}"#;
        assert_eq!(Context::from_json(nulls).unwrap(), Context::default());
        assert!(Context::from_json("{} {}").is_err());
    }
}
