//! `[model]` and `[host]` in `foreword.toml`: which model answers, and how agents are run.

use std::fmt;

use foreword::{RunnerKind, SandboxChoice};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::sandbox_limits::SandboxLimits;

/// `[model]`: which model, and where it is. `model = "name"` is short for the name alone.
///
/// The credential itself is never here: it comes from the person's environment or a file of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ModelSettings {
    /// The model the prompt is for, unless the agent names one. Default: none.
    pub name: Option<String>,
    /// How requests are written. Default: as the environment tells, else `anthropic`.
    pub provider: Option<ProviderName>,
    /// The server, without `/v1`. Default: the environment's, else the provider's own.
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Default: the provider's.
    pub key_env: Option<String>,
    /// A file that holds the key and only its owner can read. Default: none.
    pub key_file: Option<String>,
    /// Tokens of one answer. Default 4096.
    pub max_output_tokens: Option<u32>,
    /// Seconds the server may be silent. Default 120.
    pub timeout_seconds: Option<u64>,
    /// How often a call that failed for a moment is made again. Default 4.
    pub retries: Option<u32>,
}

/// How requests to a model are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderName {
    /// Anthropic Messages.
    Anthropic,
    /// Chat Completions.
    #[serde(rename = "openai")]
    OpenAi,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Table {
    name: Option<String>,
    provider: Option<ProviderName>,
    base_url: Option<String>,
    key_env: Option<String>,
    key_file: Option<String>,
    max_output_tokens: Option<u32>,
    timeout_seconds: Option<u64>,
    retries: Option<u32>,
}

impl<'de> Deserialize<'de> for ModelSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTable;

        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ModelSettings;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a model, or a table [model]")
            }

            fn visit_str<E>(self, name: &str) -> Result<ModelSettings, E> {
                Ok(ModelSettings { name: Some(name.to_owned()), ..ModelSettings::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ModelSettings, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ModelSettings {
                    name: table.name,
                    provider: table.provider,
                    base_url: table.base_url,
                    key_env: table.key_env,
                    key_file: table.key_file,
                    max_output_tokens: table.max_output_tokens,
                    timeout_seconds: table.timeout_seconds,
                    retries: table.retries,
                })
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

/// `[host]`: how agents are run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// Which loop runs an agent. Default `native`.
    pub runner: RunnerKind,
    /// Which sandbox; `auto` is the best there is. Default `auto`.
    pub sandbox: SandboxChoice,
    /// Hosts that `web_fetch` may fetch from, by name. Default: none, which switches it off.
    pub web_hosts: Vec<String>,
    /// Tools whose results count as content from outside. Default: none beside `web_fetch`.
    pub external_tools: Vec<String>,
    /// How deep agents may start agents. Default 3.
    pub max_depth: u32,
    /// How many agents one message may start in all. Default 16.
    pub max_agents: u32,
    /// Seconds a turn may take. Default 1800.
    pub turn_seconds: u64,
    /// Seconds an agent may be silent. Default 300.
    pub silent_seconds: u64,
    /// Calls of the model in one turn. Default 50.
    pub max_steps: u32,
    /// Seconds a command of the agent may take. Default 120.
    pub command_seconds: u64,
    /// Actions a second that an agent may ask for. Default 200.
    pub calls_per_second: u32,
    /// Percent of the room for history at which old turns are shortened and summarised; 100 switches it off.
    /// Default 80.
    pub compact_at: u32,
    /// What an agent may use of the machine.
    pub limits: SandboxLimits,
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            runner: RunnerKind::default(),
            sandbox: SandboxChoice::default(),
            web_hosts: Vec::new(),
            external_tools: Vec::new(),
            max_depth: 3,
            max_agents: 16,
            turn_seconds: 1800,
            silent_seconds: 300,
            max_steps: 50,
            command_seconds: 120,
            calls_per_second: 200,
            compact_at: 80,
            limits: SandboxLimits::default(),
        }
    }
}
