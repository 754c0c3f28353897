//! Conditions under which a module of a blueprint takes part.

use serde::{Deserialize, Deserializer};

use crate::context::Context;
use crate::fence::text::Line;
use crate::names::PromptMode;

/// Every condition that is set must hold; a list holds when one of its values does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub(crate) struct When {
    /// The agent's ID.
    agent: OneOf,
    /// The agent's namespace.
    namespace: OneOf,
    /// The channel of the conversation.
    channel: OneOf,
    /// The mode: plan, act or review.
    mode: OneOf,
    /// The prompt mode: full, minimal or none.
    prompt_mode: OneOf,
    /// A tool that is offered.
    tool: OneOf,
}

/// A value or a list of values; empty means no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OneOf(Vec<String>);

impl<'de> Deserialize<'de> for OneOf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a string or a list of strings")]
        enum Either {
            One(String),
            Many(Vec<String>),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::One(value) => Self(vec![value]),
            Either::Many(values) => Self(values),
        })
    }
}

impl OneOf {
    fn holds(&self, value: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|v| v == value)
    }
}

impl When {
    /// Nothing is asked?
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Why the module does not take part; nothing when it does.
    pub(crate) fn refusal(&self, context: &Context) -> Option<String> {
        if !self.prompt_mode.holds(context.prompt_mode.as_str()) {
            return Some(format!("prompt mode {}", context.prompt_mode.as_str()));
        }
        let agent = context.agent_id.as_ref().map_or("", Line::inspect);
        for (what, condition, value) in [
            ("agent", &self.agent, agent),
            ("namespace", &self.namespace, context.namespace.inspect()),
            ("channel", &self.channel, context.channel.inspect()),
            ("mode", &self.mode, context.mode().as_str()),
        ] {
            if !condition.holds(value) {
                return Some(format!("when: {what} is not {}", condition.0.join(" or ")));
            }
        }
        if !self.tool.0.is_empty() && !self.tool.0.iter().any(|tool| context.has_tool(tool)) {
            return Some(format!("when: no tool {}", self.tool.0.join(" or ")));
        }
        None
    }

    /// Values that can never hold, for a clear error.
    pub(crate) fn impossible(&self) -> Option<String> {
        let modes = ["plan", "act", "review"];
        let prompt_modes =
            [PromptMode::Full, PromptMode::Minimal, PromptMode::None].map(PromptMode::as_str);
        let unknown = |what: &str, values: &OneOf, known: &[&str]| {
            let bad = values.0.iter().find(|v| !known.contains(&v.as_str()))?;
            Some(format!("`{bad}` is not a {what}: use {}", known.join(", ")))
        };
        unknown("mode", &self.mode, &modes)
            .or_else(|| unknown("prompt_mode", &self.prompt_mode, &prompt_modes))
    }
}
