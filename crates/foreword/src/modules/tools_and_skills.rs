//! The fourth layer of `semantic`: the tools and skills that were selected.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::context::items::{Skill, Tool};
use crate::context::selection::divide;
use crate::fence::authority::{Authority, Volatility};
use crate::modules::skills::{
    note_other_modes, write_creating, write_skill, write_skill_item, write_skill_names,
};

pub(super) struct ToolsAndSkills;

impl Module for ToolsAndSkills {
    fn name(&self) -> &'static str {
        "tools-and-skills"
    }

    fn spec(&self) -> Spec {
        Spec::optional(30, Authority::Skill, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["TOOLS & SKILLS", "Creating Skills"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Tools, Field::Skills, Field::Selection]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# TOOLS & SKILLS");
        let Shown { tools, other_tools, skills, other_skills } = Shown::of(context);
        write_tools(&tools, context, section);
        if !other_tools.is_empty() {
            section.gap();
            section.names("Other tools: ", other_tools.iter().map(|tool| tool.call_name()));
        }
        for skill in skills {
            write_skill(skill, "Skill: ", section);
        }
        note_other_modes(context, section);
        if context.selection.is_some() && !other_skills.is_empty() {
            let count = other_skills.len();
            let reason = format!("{count} not selected: bodies left out, names stay");
            section.note("selection", "skills", reason);
        }
        if !other_skills.is_empty() {
            section.gap();
            write_skill_names("Other skills: ", &other_skills, section);
        }
        write_creating(context, section);
        if context.tools.is_empty() && context.skills.is_empty() {
            section.prose("(none)");
        }
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        section.prose("# TOOLS & SKILLS");
        if !context.tools.is_empty() {
            section.gap();
            let mode = context.mode().as_str();
            let offered = context.tools.iter().filter(|tool| tool.is_offered_in(mode));
            section.names("Tools: ", offered.map(Tool::call_name));
        }
        if !context.skills.is_empty() {
            section.row("Skills:");
            for skill in context.skills.iter() {
                write_skill_item(skill, section);
            }
        }
        if context.tools.is_empty() && context.skills.is_empty() {
            section.prose("(none)");
        }
        true
    }
}

/// What is shown in full, and what only by name: without a selection, everything of the mode in full.
struct Shown<'c> {
    tools: Vec<&'c Tool>,
    other_tools: Vec<&'c Tool>,
    skills: Vec<&'c Skill>,
    other_skills: Vec<&'c Skill>,
}

impl<'c> Shown<'c> {
    fn of(context: &'c Context) -> Self {
        let mode = context.mode().as_str();
        let Some(selection) = &context.selection else {
            let (skills, other_skills) =
                context.skills.iter().partition(|skill| skill.is_offered_in(mode));
            let tools = context.tools.iter().collect();
            return Self { tools, other_tools: Vec::new(), skills, other_skills };
        };
        let (tools, mut other_tools) = divide(&context.tools, &selection.tools, |tool| &tool.name);
        other_tools.retain(|tool| tool.is_offered_in(mode));
        let (skills, other_skills) =
            divide(&context.skills, &selection.skills, |skill| &skill.name);
        Self { tools, other_tools, skills, other_skills }
    }
}

/// The tools offered in this mode; the others are named in the manifest.
fn write_tools(tools: &[&Tool], context: &Context, section: &mut Section<'_>) {
    let mode = context.mode().as_str();
    for tool in context.tools.iter().filter(|tool| !tool.is_offered_in(mode)) {
        section.note("tool", tool.name.inspect(), format!("not offered in {mode} mode"));
    }
    let mut first = true;
    for tool in tools.iter().filter(|tool| tool.is_offered_in(mode)) {
        if first {
            section.gap();
            section.row("Tools:");
            first = false;
        }
        section.item(tool.call_name(), &tool.description);
    }
}
