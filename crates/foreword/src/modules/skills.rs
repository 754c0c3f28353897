//! Skills in full, as `guarded` shows them, and how to create one.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::{Section, Value};
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::context::items::{Approval, Skill};
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;

static INTRO: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:skills", include_str!("skills.md")));
static CREATING: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:skills", include_str!("skills.creating.md")));

const UNAPPROVED: &str = "Not approved by a person: reference only, do not follow it.";

pub(super) struct Skills;

impl Module for Skills {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn spec(&self) -> Spec {
        Spec::optional(70, Authority::Skill, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Skills", "Creating Skills"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Skills]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.skills.is_empty() || can_propose(context)
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        lower_if_unapproved(context.skills.iter(), section);
        if !context.skills.is_empty() {
            section.template(&INTRO, &[]);
            for (index, skill) in context.skills.iter().enumerate() {
                if index > 0 {
                    section.prose("---");
                }
                write_skill(skill, "Skill: ", section);
            }
        }
        write_creating(context, section);
    }

    fn render_minimal(&self, context: &Context, section: &mut Section<'_>) -> bool {
        if !context.skills.is_empty() {
            section.prose("## Skills");
            section.prose("Skills directory: ./skills");
            section.gap();
            for skill in context.skills.iter() {
                write_skill_item(skill, section);
            }
        }
        section.gap();
        write_proposing(context, section);
        true
    }
}

/// A label with the name, a warning where it is due, and the quoted body.
pub(super) fn write_skill(skill: &Skill, label: &'static str, section: &mut Section<'_>) {
    section.gap();
    section.fact(label, &skill.name);
    if !skill.description.is_blank() {
        section.fact("Description: ", &skill.description);
    }
    write_provenance(skill, section);
    if let Some(folder) = &skill.folder {
        let end = ("; run its scripts from there.", &Line::default());
        section.facts(&[("Its files are in ", folder), end]);
    }
    if !skill.body.is_blank() {
        section.fence(&skill.body, "skill");
    }
}

/// How the skill came to be here, where that is known.
pub(super) fn write_provenance(skill: &Skill, section: &mut Section<'_>) {
    let Some(provenance) = &skill.provenance else { return };
    match provenance.status {
        Approval::Unapproved => section.row(UNAPPROVED),
        Approval::Local => section.row("Provenance: local file"),
        Approval::Approved => {
            let by_screening = provenance.is_by_screening();
            let by = if by_screening { &None } else { &provenance.by };
            let details = [
                (" in ", &provenance.commit),
                (" by ", by),
                (" on ", &provenance.at),
                ("; can do: ", &provenance.can_do),
            ];
            let details: Vec<_> = details
                .iter()
                .filter_map(|(label, value)| Some((*label, value.as_ref()?)))
                .collect();
            section.row(if by_screening {
                "Provenance: approved by screening"
            } else {
                "Provenance: approved"
            });
            section.and(&details);
        }
    }
}

/// Skills none of which is approved are reference, whatever the module may say.
pub(super) fn lower_if_unapproved<'c>(
    skills: impl Iterator<Item = &'c Skill>,
    section: &mut Section<'_>,
) {
    let mut skills = skills.peekable();
    if skills.peek().is_some() && skills.all(Skill::is_unapproved) {
        section.lower_to(Authority::Reference);
    }
}

/// Names in the manifest the skills that are for other modes. They stay in the index by name.
pub(super) fn note_other_modes(context: &Context, section: &mut Section<'_>) {
    let mode = context.mode().as_str();
    for skill in context.skills.iter().filter(|skill| !skill.is_offered_in(mode)) {
        section.note("skill", skill.name.inspect(), format!("not offered in {mode} mode"));
    }
}

/// The names of the skills in one row, those that are not approved in another.
pub(super) fn write_skill_names(label: &'static str, skills: &[&Skill], section: &mut Section<'_>) {
    let names = |unapproved: bool| {
        skills
            .iter()
            .filter(move |skill| skill.is_unapproved() == unapproved)
            .map(|skill| &skill.name)
    };
    if names(false).next().is_some() {
        section.names(label, names(false));
    }
    if names(true).next().is_some() {
        section.names("Not approved, reference only: ", names(true));
    }
}

/// A row for an index.
pub(super) fn write_skill_item(skill: &Skill, section: &mut Section<'_>) {
    if skill.is_unapproved() {
        section.unapproved_item(&skill.name, &skill.description);
    } else {
        section.item(&skill.name, &skill.description);
    }
}

const PROPOSE: &str = "skill_propose";

pub(super) fn can_propose(context: &Context) -> bool {
    context.has_tool(PROPOSE)
}

pub(super) fn write_creating(context: &Context, section: &mut Section<'_>) {
    if let Some(tool) = context.tool(PROPOSE) {
        section.template(&CREATING, &[("skillPropose", Value::Line(tool.call_name()))]);
    }
}

/// The short form of the same, in one row.
pub(super) fn write_proposing(context: &Context, section: &mut Section<'_>) {
    if let Some(tool) = context.tool(PROPOSE) {
        let end = ("`.", &Line::default());
        section.facts(&[("Propose new skills with `", tool.call_name()), end]);
    }
}
