//! What belongs to this turn: the selected skills in full, and the facts that move.

use crate::authority::{Authority, Volatility};
use crate::context::Context;
use crate::field::Field;
use crate::module::{Module, Spec};
use crate::modules::skills::{lower_if_unapproved, write_skill};
use crate::section::Section;
use crate::text::Line;

const INTRO: &str =
    "Quoted line by line. They guide how you work and are bound by everything above.";

const LEFT_OUT: &str = "over budget: its body is left out, it stays in the index";

/// The bodies of the skills given for this turn. What does not fit stays in the index by name.
pub(super) struct Selection;

impl Module for Selection {
    fn name(&self) -> &'static str {
        "selection"
    }

    fn spec(&self) -> Spec {
        Spec::optional(70, Authority::Skill, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Skills for This Turn"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Skills]
    }

    fn should_include(&self, context: &Context) -> bool {
        context.skills.iter().any(|skill| !skill.body.is_blank())
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        lower_if_unapproved(context, section);
        section.prose("## Skills for This Turn");
        section.prose(INTRO);
        for skill in context.skills.iter().filter(|skill| !skill.body.is_blank()) {
            write_skill(skill, "Skill: ", section);
        }
    }

    fn render_within(&self, context: &Context, section: &mut Section<'_>) -> bool {
        lower_if_unapproved(context, section);
        section.prose("## Skills for This Turn");
        section.prose(INTRO);
        let mut any = false;
        for skill in context.skills.iter().filter(|skill| !skill.body.is_blank()) {
            if section.attempt(|section| write_skill(skill, "Skill: ", section)) {
                any = true;
            } else {
                section.note("skill", &skill.name.0, LEFT_OUT.to_owned());
            }
        }
        any
    }
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
            section.fact("- Git branch: ", &git.branch);
            if !git.summary.is_blank() {
                section.fact("- Git changes: ", &git.summary);
            }
        }
    }
}
