//! Who the agent is: AGENT.md or a default, soul, identity, user; or the bootstrap text.

use std::sync::LazyLock;

use crate::compile::cut::cut_document;
use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Document;

static DEFAULT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:identity", include_str!("identity.md")));

/// Characters of SOUL.md in the short form.
const MAX_SHORT_SOUL: usize = 400;

pub(super) struct Identity;

impl Module for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn spec(&self) -> Spec {
        Spec::required(0, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Soul", "Identity", "User"]
    }

    fn survives_bootstrap(&self) -> bool {
        true
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Agent, Field::Persona, Field::Soul, Field::Identity, Field::User]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let files = &context.identity_files;
        if context.is_bootstrap() {
            section.document(&files.bootstrap, "BOOTSTRAP.md");
            let left_out = [Field::Agent, Field::Persona, Field::Identity, Field::User];
            note_bootstrap(&left_out, context, section);
            return;
        }
        write_agent(context, section);
        if !files.soul.is_blank() {
            section.prose("## Soul");
            section.document(&files.soul, "SOUL.md");
        }
        if !files.identity.is_blank() {
            section.prose("## Identity");
            section.document(&files.identity, "IDENTITY.md");
        }
        write_user(context, section);
    }

    /// The agent's own text and the start of SOUL.md: identity and user wait for more room.
    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        if context.is_bootstrap() {
            return false;
        }
        write_agent(context, section);
        let files = &context.identity_files;
        if !files.soul.is_blank() {
            section.prose("## Soul");
            section.document(&cut_document(&files.soul, "SOUL.md", MAX_SHORT_SOUL), "SOUL.md");
        }
        let (user, user_name) = user_file(context);
        for (file, name) in [(&files.identity, "IDENTITY.md"), (user, user_name)] {
            if !file.is_blank() {
                let path = file.0.source.as_ref().map_or(name, |source| &source.path);
                section.note("file", path, "over budget: identity is in its short form".to_owned());
            }
        }
        true
    }
}

/// The agent's own text and its persona, or the default where there is neither.
pub(super) fn write_agent(context: &Context, section: &mut Section<'_>) {
    let agent = context.agent_text();
    if !agent.is_blank() {
        let is_agent = !context.identity_files.agent.is_blank();
        section.document(agent, if is_agent { "AGENT.md" } else { "AGENTS.md" });
    }
    if !context.persona.is_blank() {
        section.document(&context.persona, "persona");
    }
    if agent.is_blank() && context.persona.is_blank() {
        section.template(&DEFAULT, &[]);
    }
}

/// Names what the bootstrap text takes the place of.
pub(super) fn note_bootstrap(fields: &[Field], context: &Context, section: &mut Section<'_>) {
    for field in fields.iter().filter(|field| field.is_given(context)) {
        section.note("context", field.as_str(), "bootstrap mode".to_owned());
    }
}

/// USER.md, or what takes its place until there is one.
pub(super) fn write_user(context: &Context, section: &mut Section<'_>) {
    let (user, name) = user_file(context);
    if !user.is_blank() {
        section.prose("## User");
        section.document(user, name);
    }
}

fn user_file(context: &Context) -> (&Document, &'static str) {
    let files = &context.identity_files;
    if files.user.is_blank() {
        (&files.user_bootstrap, "USER_BOOTSTRAP.md")
    } else {
        (&files.user, "USER.md")
    }
}
