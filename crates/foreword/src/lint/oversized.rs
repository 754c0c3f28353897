//! `oversized`: text that does not fit, or leaves no room for the rest.

use super::{Desk, Report, Rule};
use crate::compile::manifest::{OmissionCause, SectionEntry};

pub(super) const RULE: Rule = Rule {
    id: "oversized",
    about: "no file is cut, no section takes over half of the room, and the prompt fits",
    check,
};

fn check(desk: &Desk<'_>, report: &mut Report) {
    for text in &desk.texts {
        if let Some(cut) = &text.document.0.cut {
            report.warning(
                &text.file,
                cut.lines[0],
                format!(
                    "cut to {} characters: {} left out, lines {} to {}",
                    cut.limit, cut.chars, cut.lines[0], cut.lines[1]
                ),
                "shorten the file, or move what is not always needed into a skill",
            );
        }
    }

    let subject = desk.subject;
    let available = subject.context.available_tokens();
    let prompt = subject.blueprint.build(subject.context);
    if prompt.is_over_budget() {
        report.error(
            subject.own_file(),
            1,
            format!(
                "the prompt needs {} tokens but only {} are available, even without optional \
                 sections",
                prompt.tokens(),
                available.max(0)
            ),
            "shorten the required texts, or give the prompt more room (contextWindow, \
             outputReserve, maxPromptTokens)",
        );
    }
    for omitted in prompt.omitted().iter().filter(|o| o.cause == OmissionCause::Budget) {
        report.warning(
            subject.own_file(),
            1,
            format!("section `{}` is omitted: {}", omitted.module, omitted.reason),
            "shorten it or other sections, or raise its `keep` in the blueprint",
        );
    }
    for section in &prompt.manifest().sections {
        if i64::from(section.tokens).saturating_mul(2) > available {
            let (file, line) = main_source(section).unwrap_or((subject.own_file(), 1));
            report.warning(
                file,
                line,
                format!(
                    "section `{}` takes {} of {} available tokens, more than half",
                    section.module,
                    section.tokens,
                    available.max(0)
                ),
                "shorten it to leave room for other sections",
            );
        }
    }
}

/// The text that fills most of a section, where it is not prose of ours.
fn main_source<'p>(section: &SectionEntry<'p>) -> Option<(&'p str, u32)> {
    let longest = section.sources.iter().max_by_key(|s| s.range[1].saturating_sub(s.range[0]))?;
    (!longest.path.starts_with("builtin:")).then_some((longest.path, longest.lines[0]))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::fixture::{Fixture, doc};
    use crate::compile::cut::cut_document;
    use crate::fence::text::Documents;

    #[test]
    fn an_ordinary_agent_fits() {
        let mut fixture = Fixture::default();
        fixture.context.identity_files.agent = doc("agents/cosmo/AGENT.md", "You are Cosmo.");
        assert_eq!(fixture.messages("oversized"), [""; 0]);
    }

    #[test]
    fn a_file_that_was_cut() {
        let long = doc("CONTEXT.md", &"a line of words\n".repeat(100));
        let mut fixture = Fixture::default();
        fixture.context.context_content = Documents(vec![cut_document(&long, "CONTEXT.md", 800)]);
        assert_eq!(
            fixture.messages("oversized"),
            ["CONTEXT.md:51 cut to 800 characters: 800 left out, lines 51 to 100"]
        );
    }

    #[test]
    fn a_section_that_takes_more_than_half() {
        let mut fixture = Fixture::default();
        fixture.context.context_content =
            Documents(vec![doc("CONTEXT.md", &"word ".repeat(9_000))]);
        fixture.context.max_prompt_tokens = Some(16_000);
        let findings = fixture.findings("oversized");
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].file.as_str(), findings[0].line), ("CONTEXT.md", 1));
        assert!(findings[0].message.starts_with("section `context` takes "));
        assert_eq!(findings[0].severity, Severity::Warning);
    }

    #[test]
    fn a_section_that_is_left_out() {
        let mut fixture = Fixture::default();
        let soul = doc("SOUL.md", "Kind.");
        fixture.context.identity_files.soul = soul;
        fixture.context.identity_files.heartbeat = doc("HEARTBEAT.md", &"word ".repeat(9_000));
        fixture.context.max_prompt_tokens = Some(4_000);
        let messages = fixture.messages("oversized");
        assert!(
            messages.iter().any(|m| m.contains("section `heartbeat` is omitted: over budget")),
            "{messages:?}"
        );
    }

    #[test]
    fn a_prompt_that_does_not_fit_is_an_error() {
        let mut fixture = Fixture::default();
        fixture.context.max_prompt_tokens = Some(50);
        let errors: Vec<_> = fixture
            .findings("oversized")
            .into_iter()
            .filter(|f| f.severity == Severity::Error)
            .collect();
        assert_eq!(errors.len(), 1);
        assert_eq!(errors[0].file, "agents/cosmo/AGENT.md");
    }
}
