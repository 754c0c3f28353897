//! `template-variable`: a `{{name}}` that nothing fills in reaches the model as it stands.
//!
//! The overlay knows three names, and any other is an error. No other text has places at all; there
//! it is a warning, and code is left alone: it may well be about templates.

use super::texts::{Kind, Text};
use super::{Desk, Report, Rule};
use crate::modules::OVERLAY_VALUES;
use crate::names::nearest;

pub(super) const RULE: Rule =
    Rule { id: "template-variable", about: "every {{name}} is one that is filled in", check };

/// The longest name that is looked for. Bounds the search for the closing braces.
const MAX_NAME: usize = 64;

fn check(desk: &Desk<'_>, report: &mut Report) {
    for text in desk.texts.iter().filter(|text| text.is_operator()) {
        for (at, name) in variables(text) {
            let line = text.line_at(at);
            let message = format!("`{{{{{name}}}}}` is never filled in");
            if text.kind != Kind::Overlay {
                let hint = "write the value itself; only the sub-agent overlay has variables";
                report.warning(&text.file, line, message, hint);
                continue;
            }
            let known = || OVERLAY_VALUES.iter().map(|(name, _)| *name);
            if known().any(|known| known == name) {
                continue;
            }
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
                None => format!("an overlay can use {}", known().collect::<Vec<_>>().join(", ")),
            };
            report.error(&text.file, line, message, hint);
        }
    }
}

/// What stands in double braces and reads as a name. `${{ … }}` is the syntax of another tool.
fn variables<'t>(text: &'t Text<'_>) -> impl Iterator<Item = (usize, &'t str)> {
    let body: &str = &text.body;
    memchr::memmem::find_iter(body.as_bytes(), "{{").filter_map(move |at| {
        if text.kind != Kind::Overlay && text.is_quoted(at) {
            return None;
        }
        let before = at.checked_sub(1).and_then(|before| body.as_bytes().get(before));
        if before == Some(&b'$') {
            return None;
        }
        let inner = body.get(at + 2..)?;
        let near = inner.as_bytes().get(..MAX_NAME + 2).unwrap_or(inner.as_bytes());
        let close = memchr::memmem::find(near, b"}}")?;
        let name = inner.get(..close)?.trim();
        let reads_as_name = name.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        reads_as_name.then_some((at, name))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::fixture::{Fixture, doc};

    fn overlay(text: &str) -> Vec<String> {
        let mut fixture = Fixture::default();
        fixture.context.overlay = doc("prompts/runtime/sub-agent.md", text);
        let findings = fixture.findings("template-variable");
        assert!(findings.iter().all(|f| f.severity == Severity::Error));
        findings.iter().map(|f| format!("{} {}; {}", f.line, f.message, f.hint)).collect()
    }

    fn persona(text: &str) -> Vec<(u32, Severity)> {
        let mut fixture = Fixture::default();
        fixture.context.persona = doc("p.md", text);
        fixture.findings("template-variable").iter().map(|f| (f.line, f.severity)).collect()
    }

    #[test]
    fn the_overlay_has_three_names() {
        assert!(overlay("{{parentRole}} {{ objective }}\n`{{taskId}}`").is_empty());
        assert_eq!(
            overlay("Task\n{{task_id}} `{{color}}`"),
            [
                "2 `{{color}}` is never filled in; an overlay can use parentRole, objective, taskId",
                "2 `{{task_id}}` is never filled in; did you mean `{{taskId}}`?",
            ]
        );
        assert_eq!(overlay("{{task-id}}").len(), 1);
    }

    #[test]
    fn elsewhere_nothing_is_filled_in() {
        assert_eq!(persona("a\n\n{{objective}} x"), [(3, Severity::Warning)]);
        assert_eq!(persona("x {{user.name}}"), [(1, Severity::Warning)]);
    }

    #[test]
    fn what_is_no_variable() {
        for text in [
            "{{ not a name }}",
            "{{}} {{",
            "${{ secrets.TOKEN }}",
            "Use `{{name}}` in Jinja.",
            "```\n{{name}}\n```",
            "fn main() {{ }}",
        ] {
            assert_eq!(persona(text), [], "{text}");
        }
    }
}
