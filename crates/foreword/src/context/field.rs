//! The parts of a Context that a section shows, so that a blueprint without a place for one can say so.

use crate::context::Context;

/// A part of a Context that some module shows.
///
/// ```
/// use foreword::{Blueprint, Field};
///
/// assert!(Blueprint::builtin("companion").unwrap().shows(Field::Soul));
/// assert_eq!(Field::Memories.as_str(), "memories");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// `task`
    Task,
    /// `skills`
    Skills,
    /// `tools`
    Tools,
    /// `memories`
    Memories,
    /// `activity`
    Activity,
    /// `capabilities`
    Capabilities,
    /// `contextContent`
    ContextContent,
    /// `identityFiles.agent` or `identityFiles.agents`
    Agent,
    /// `persona`
    Persona,
    /// `base`
    Base,
    /// `constitution`
    Constitution,
    /// `rules`
    Rules,
    /// `identityFiles.soul`
    Soul,
    /// `identityFiles.identity`
    Identity,
    /// `identityFiles.user`
    User,
    /// `identityFiles.tools`
    ToolGuidelines,
    /// `identityFiles.heartbeat`
    Heartbeat,
    /// `runtimeContext` of a sub-agent
    SubAgent,
    /// `selection`
    Selection,
}

impl Field {
    /// All of them.
    pub(crate) const ALL: [Self; 19] = [
        Self::Task,
        Self::Skills,
        Self::Tools,
        Self::Memories,
        Self::Activity,
        Self::Capabilities,
        Self::ContextContent,
        Self::Agent,
        Self::Persona,
        Self::Base,
        Self::Constitution,
        Self::Rules,
        Self::Soul,
        Self::Identity,
        Self::User,
        Self::ToolGuidelines,
        Self::Heartbeat,
        Self::SubAgent,
        Self::Selection,
    ];

    /// Its name in the JSON of a Context.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Skills => "skills",
            Self::Tools => "tools",
            Self::Memories => "memories",
            Self::Activity => "activity",
            Self::Capabilities => "capabilities",
            Self::ContextContent => "contextContent",
            Self::Agent => "identityFiles.agent",
            Self::Persona => "persona",
            Self::Base => "base",
            Self::Constitution => "constitution",
            Self::Rules => "rules",
            Self::Soul => "identityFiles.soul",
            Self::Identity => "identityFiles.identity",
            Self::User => "identityFiles.user",
            Self::ToolGuidelines => "identityFiles.tools",
            Self::Heartbeat => "identityFiles.heartbeat",
            Self::SubAgent => "runtimeContext",
            Self::Selection => "selection",
        }
    }

    /// Is there anything in it?
    pub(crate) fn is_given(self, context: &Context) -> bool {
        let files = &context.identity_files;
        match self {
            Self::Task => !context.task.is_blank(),
            Self::Skills => !context.skills.is_empty(),
            Self::Tools => !context.tools.is_empty(),
            Self::Memories => !context.memories.is_empty(),
            Self::Activity => !context.activity.is_empty(),
            Self::Capabilities => !context.capabilities.is_empty(),
            Self::ContextContent => !context.context_content.is_blank(),
            Self::Agent => !context.agent_text().is_blank(),
            Self::Persona => !context.persona.is_blank(),
            Self::Base => !context.base.is_blank(),
            Self::Constitution => !context.constitution.is_blank(),
            Self::Rules => !context.rules.is_blank(),
            Self::Soul => !files.soul.is_blank(),
            Self::Identity => !files.identity.is_blank(),
            Self::User => !files.user.is_blank(),
            Self::ToolGuidelines => !files.tools.is_blank(),
            Self::Heartbeat => !files.heartbeat.is_blank(),
            Self::SubAgent => context.is_sub_agent(),
            Self::Selection => context
                .selection
                .as_ref()
                .is_some_and(|it| !(it.tools.is_empty() && it.skills.is_empty())),
        }
    }
}
