//! The fourth layer of `semantic`: the tools and skills that were selected.

use crate::authority::{Authority, Volatility};
use crate::context::Context;
use crate::field::Field;
use crate::module::{Module, Spec};
use crate::modules::skills::{write_creating, write_skill};
use crate::section::Section;

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
        &[Field::Tools, Field::Skills]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# TOOLS & SKILLS");
        write_tools(context, section);
        for skill in &context.skills {
            write_skill(skill, "Skill: ", section);
            if !skill.description.is_blank() {
                section.fact("Use: ", &skill.description);
            }
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
            section.names("Tools: ", context.tools.iter().map(|tool| &tool.name));
        }
        if !context.skills.is_empty() {
            section.row("Skills:");
            for skill in &context.skills {
                section.item(&skill.name, &skill.description);
            }
        }
        if context.tools.is_empty() && context.skills.is_empty() {
            section.prose("(none)");
        }
        true
    }
}

fn write_tools(context: &Context, section: &mut Section<'_>) {
    if context.tools.is_empty() {
        return;
    }
    section.gap();
    section.row("Tools:");
    for tool in &context.tools {
        section.item(&tool.name, &tool.description);
    }
}
