//! Facts of the run, in the form of `guarded` and in that of `standard`.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};

/// Agent type, sandbox, profile and workspace.
pub(super) struct Runtime;

impl Module for Runtime {
    fn name(&self) -> &'static str {
        "runtime"
    }

    fn spec(&self) -> Spec {
        Spec::optional(90, Authority::Runtime, Volatility::Session)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Runtime"]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Runtime");
        section.gap();
        section.fact("**Agent Type**: ", &context.agent_type);
        section.fact("**Sandbox**: ", &context.sandbox_type);
        section.word("**Security Profile**: ", context.profile().as_str());
        if let Some(workspace) = &context.workspace {
            section.fact("**Workspace**: ", workspace);
        }
    }
}

/// All that is known for the length of a session.
pub(super) struct Session;

impl Module for Session {
    fn name(&self) -> &'static str {
        "session"
    }

    fn spec(&self) -> Spec {
        Spec::optional(90, Authority::Runtime, Volatility::Session)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Runtime"]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Runtime");
        section.gap();
        if let Some(id) = &context.agent_id {
            section.fact("- Agent ID: ", id);
        }
        if context.agent_type.is_stated() {
            section.fact("- Agent type: ", &context.agent_type);
        }
        if let Some(user) = &context.user_id {
            section.fact("- User ID: ", user);
        }
        if let Some(model) = &context.model {
            section.fact("- Model: ", model);
        }
        section.fact("- Channel: ", &context.channel);
        if context.sandbox_type.is_stated() {
            section.fact("- Sandbox: ", &context.sandbox_type);
        }
        section.word("- Security profile: ", context.profile().as_str());
        if let Some(workspace) = &context.workspace {
            section.fact("- Workspace: ", workspace);
        }
        if let Some(env) = &context.env {
            section.fact("- Working directory: ", &env.cwd);
            section.fact("- OS: ", &env.os);
        }
    }
}
