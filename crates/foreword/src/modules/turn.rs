//! What belongs to this turn: the selected tools and skills, and the facts that move.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::context::items::Skill;
use crate::context::selection::divide;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;
use crate::modules::skills::{lower_if_unapproved, note_other_modes, write_skill};

const INTRO: &str =
    "Quoted line by line. They guide how you work and are bound by everything above.";

const LEFT_OUT: &str = "over budget: its body is left out";

const TOOLS_INTRO: &str = "Those of your tools that fit the task best.";

/// The tools that fit the task, and the bodies of the skills given for this turn. What was not selected
/// or does not fit stays in the index by name.
pub(super) struct Selection;

impl Module for Selection {
    fn name(&self) -> &'static str {
        "selection"
    }

    fn spec(&self) -> Spec {
        Spec::optional(70, Authority::Skill, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Tools for This Turn", "Skills for This Turn"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Skills, Field::Selection]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.skills.iter().any(|skill| !skill.body.is_blank())
            || context.selection.as_ref().is_some_and(|selection| !selection.tools.is_empty())
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        write_tools(context, section);
        let skills = skills(context, section);
        write_skills_title(&skills, section);
        for skill in skills {
            write_skill(skill, "Skill: ", section);
        }
    }

    fn render_within(&self, context: &Context, section: &mut Section<'_>) -> bool {
        let mut any = write_tools(context, section);
        let skills = skills(context, section);
        write_skills_title(&skills, section);
        for skill in skills {
            if section.attempt(|section| write_skill(skill, "Skill: ", section)) {
                any = true;
            } else {
                section.note("skill", &skill.name.0, LEFT_OUT.to_owned());
            }
        }
        any
    }
}

/// The selected tools with what they do; whether there are any.
fn write_tools(context: &Context, section: &mut Section<'_>) -> bool {
    let Some(selection) = &context.selection else { return false };
    let (tools, _) = divide(&context.tools, &selection.tools, |tool| &tool.name);
    if tools.is_empty() {
        return false;
    }
    section.prose("## Tools for This Turn");
    section.prose(TOOLS_INTRO);
    section.gap();
    for tool in tools {
        section.item(tool.call_name(), &tool.description);
    }
    true
}

/// The skills whose bodies are shown: the selected ones, or all of the mode where nothing was selected.
fn skills<'c>(context: &'c Context, section: &mut Section<'_>) -> Vec<&'c Skill> {
    let with_body = |skill: &&Skill| !skill.body.is_blank();
    note_other_modes(context, section);
    let Some(selection) = &context.selection else {
        let mode = context.mode().as_str();
        let offered = context.skills.iter().filter(|skill| skill.is_offered_in(mode));
        return offered.filter(with_body).collect();
    };
    let (chosen, others) = divide(&context.skills, &selection.skills, |skill| &skill.name);
    let left = others.into_iter().filter(with_body).count();
    if left > 0 {
        let reason = format!("{left} not selected: bodies left out");
        section.note("selection", "skills", reason);
    }
    chosen.into_iter().filter(with_body).collect()
}

fn write_skills_title(skills: &[&Skill], section: &mut Section<'_>) {
    if skills.is_empty() {
        return;
    }
    lower_if_unapproved(skills.iter().copied(), section);
    section.prose("## Skills for This Turn");
    section.prose(INTRO);
}

/// The time and the state of the work tree.
pub(super) struct Clock;

impl Module for Clock {
    fn name(&self) -> &'static str {
        "clock"
    }

    fn spec(&self) -> Spec {
        Spec::optional(80, Authority::Runtime, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["This Turn"]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.now.is_some() || context.git.is_some()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## This Turn");
        section.gap();
        if let Some(now) = &context.now {
            section.fact("- Current time: ", &Line::new(now.to_string()));
        }
        if let Some(git) = &context.git {
            section.quoted("- Git branch: ", &git.branch);
            if !git.summary.is_blank() {
                section.fact("- Git changes: ", &git.summary);
            }
        }
    }
}
