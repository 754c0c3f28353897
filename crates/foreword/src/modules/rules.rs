//! The rules of the mode the agent works in.

use std::sync::LazyLock;

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::compile::template::{LazyTemplate, Template};
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Document;
use crate::names::Mode;

static PLAN: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:rules", include_str!("rules.plan.md")));
static ACT: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:rules", include_str!("rules.act.md")));
static REVIEW: LazyTemplate =
    LazyLock::new(|| Template::new("builtin:rules", include_str!("rules.review.md")));

pub(super) struct Rules;

impl Module for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn spec(&self) -> Spec {
        Spec::required(5, Authority::Constitution, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Rules: plan mode", "Rules: act mode", "Rules: review mode"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Rules]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let (title, builtin): (_, &Template) = match context.mode() {
            Mode::Plan => ("## Rules: plan mode", &PLAN),
            Mode::Act => ("## Rules: act mode", &ACT),
            Mode::Review => ("## Rules: review mode", &REVIEW),
        };
        section.prose(title);
        if context.rules.is_blank() {
            section.template(builtin, &[]);
        } else {
            for part in rules_of(&context.rules, context.mode()) {
                section.document(&part, "rules");
            }
        }
    }
}

/// A rules file may have parts headed `plan`, `act` and `review`: what stands before the first of them
/// holds always, and of the parts only that of the mode. A file without such parts holds whole.
fn rules_of(rules: &Document, mode: Mode) -> Vec<Document> {
    let text = rules.inspect();
    let mut parts: Vec<(Option<&str>, usize, usize)> = Vec::new();
    let mut current = (None, 0);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let heading = line.trim_start_matches('#');
        let name = heading.trim().trim_end_matches(" mode");
        let is_mode = heading.len() < line.len()
            && ["plan", "act", "review"].iter().any(|m| m.eq_ignore_ascii_case(name));
        if is_mode {
            parts.push((current.0, current.1, at));
            current = (Some(name), at + line.len());
        }
        at += line.len();
    }
    parts.push((current.0, current.1, at));
    let mut cut = rules.0.cut.clone();
    parts
        .into_iter()
        .filter(|(name, _, _)| name.is_none_or(|name| name.eq_ignore_ascii_case(mode.as_str())))
        .filter_map(|(_, from, to)| {
            let part = Document::new(text.get(from..to)?);
            let lines = memchr::memchr_iter(b'\n', text.get(..from)?.as_bytes()).count();
            let part = match rules.source() {
                Some(source) => part.from_source(crate::fence::text::Source {
                    path: source.path.clone(),
                    first_line: source
                        .first_line
                        .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)),
                }),
                None => part,
            };
            // What the file lost is said once.
            (!part.is_blank()).then(|| part.with_cut(cut.take()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rules_file_gives_its_preamble_and_the_part_of_the_mode() {
        let rules = Document::new(
            "Always.\n\n## plan\n- think\n\n## Act mode\n- do\n\n### detail\nx\n## review\n- judge\n",
        );
        let text = |mode| {
            rules_of(&rules, mode).iter().map(|d| d.inspect().to_owned()).collect::<String>()
        };
        assert_eq!(text(Mode::Plan), "Always.\n\n- think\n\n");
        assert_eq!(text(Mode::Act), "Always.\n\n- do\n\n### detail\nx\n");
        let cut = crate::fence::text::Cut { chars: 1, lines: [9, 9], limit: 80 };
        let parts = rules_of(&rules.clone().with_cut(Some(cut.clone())), Mode::Plan);
        assert_eq!(parts.iter().map(|d| d.0.cut.clone()).collect::<Vec<_>>(), [Some(cut), None]);
        assert_eq!(
            rules_of(&Document::new("Just this."), Mode::Act),
            [Document::new("Just this.")]
        );
    }
}
