//! The fourth layer of `semantic`: the tools and skills that were selected.

use crate::authority::{Authority, Volatility};
use crate::context::Context;
use crate::field::Field;
use crate::module::{Module, Spec};
use crate::modules::skills::{write_creating, write_skill, write_skill_item};
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
            section.names("Tools: ", offered.map(|tool| &tool.name));
        }
        if !context.skills.is_empty() {
            section.row("Skills:");
            for skill in &context.skills {
                write_skill_item(skill, section);
            }
        }
        if context.tools.is_empty() && context.skills.is_empty() {
            section.prose("(none)");
        }
        true
    }
}

/// The tools offered in this mode; the others are named in the manifest.
fn write_tools(context: &Context, section: &mut Section<'_>) {
    let mode = context.mode().as_str();
    let mut first = true;
    for tool in &context.tools {
        if !tool.is_offered_in(mode) {
            section.note("tool", tool.name.inspect(), format!("not offered in {mode} mode"));
            continue;
        }
        if first {
            section.gap();
            section.row("Tools:");
            first = false;
        }
        section.item(&tool.name, &tool.description);
    }
}
