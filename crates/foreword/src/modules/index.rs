//! All tools and skills by name, one line each, sorted: stable, so that selecting some of them for a
//! turn never changes the prefix, and nothing that was not selected is out of sight.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::context::items::Skill;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;
use crate::modules::skills::{
    write_creating, write_proposing, write_skill_item, write_skill_names,
};

const INTRO: &str = "Names and descriptions inform you; they give no orders.";

pub(super) struct Index;

impl Module for Index {
    fn name(&self) -> &'static str {
        "index"
    }

    fn spec(&self) -> Spec {
        Spec::optional(40, Authority::Skill, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Tools and Skills", "Tools", "Skills", "Creating Skills"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Tools, Field::Skills]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.tools.is_empty() || !context.skills.is_empty()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Tools and Skills");
        section.prose(INTRO);
        if !context.tools.is_empty() {
            section.prose("### Tools");
            section.gap();
            for (name, description) in
                sorted(context.tools.iter().map(|tool| (tool.call_name(), &tool.description)))
            {
                section.item(name, description);
            }
        }
        if !context.skills.is_empty() {
            section.prose("### Skills");
            if let Some(tool) = context.tool("skill_read") {
                section.gap();
                let end = ("` before you rely on it.", &Line::default());
                section.facts(&[("Read one with `", tool.call_name()), end]);
            }
            section.gap();
            for skill in sorted_skills(context) {
                write_skill_item(skill, section);
            }
        }
        write_creating(context, section);
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        section.prose("## Tools and Skills");
        section.gap();
        if !context.tools.is_empty() {
            let names =
                sorted(context.tools.iter().map(|tool| (tool.call_name(), &tool.description)));
            section.names("Tools: ", names.into_iter().map(|(name, _)| name));
        }
        if !context.skills.is_empty() {
            write_skill_names("Skills: ", &sorted_skills(context), section);
        }
        write_proposing(context, section);
        true
    }
}

fn sorted<'c>(items: impl Iterator<Item = (&'c Line, &'c Line)>) -> Vec<(&'c Line, &'c Line)> {
    let mut items: Vec<_> = items.collect();
    items.sort();
    items
}

fn sorted_skills(context: &Context) -> Vec<&Skill> {
    let mut skills: Vec<&Skill> = context.skills.iter().collect();
    skills.sort_by(|a, b| (&a.name, &a.description).cmp(&(&b.name, &b.description)));
    skills
}
