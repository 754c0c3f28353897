//! `placeholder`: text of a template that nobody replaced reaches the model as if it were meant.

use super::{Desk, Report, Rule};

pub(super) const RULE: Rule =
    Rule { id: "placeholder", about: "no text of a template is left to be replaced", check };

/// What templates say about themselves, in lower case.
const PHRASES: [&str; 7] = [
    "replace these lines",
    "replace this line",
    "replace this text",
    "replace this paragraph",
    "your text here",
    "your name here",
    "lorem ipsum",
];

fn check(desk: &Desk<'_>, report: &mut Report) {
    for text in &desk.texts {
        // Only ASCII changes, so the offsets stay.
        let body = text.body.to_ascii_lowercase();
        for phrase in PHRASES {
            for at in memchr::memmem::find_iter(body.as_bytes(), phrase) {
                if !text.is_quoted(at) {
                    let message = format!("\"{phrase}\" is still here from a template");
                    let hint = "write your own text, or delete the file";
                    report.warning(&text.file, text.line_at(at), message, hint);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::super::fixture::{Fixture, doc};

    fn persona(text: &str) -> Vec<(u32, Severity)> {
        let mut fixture = Fixture::default();
        fixture.context.persona = doc("p.md", text);
        fixture.findings("placeholder").iter().map(|f| (f.line, f.severity)).collect()
    }

    #[test]
    fn what_a_template_left_is_found_with_its_line() {
        assert_eq!(persona("One.\n\nReplace these lines with your own."), [(3, Severity::Warning)]);
        assert_eq!(persona("Ärger: LOREM IPSUM dolor"), [(1, Severity::Warning)]);
    }

    #[test]
    fn code_and_other_words_are_left_alone() {
        for text in
            ["Replace the lines that fail.", "Run `replace this line`.", "```\nyour text here\n```"]
        {
            assert_eq!(persona(text), [], "{text}");
        }
    }
}
