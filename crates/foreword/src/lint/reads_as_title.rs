//! `reads-as-title`: a line that will be escaped, because a model could take it for one of the
//! prompt's own titles or for another speaker.
//!
//! The rule writes the text as the prompt would and compares, so it says what really happens.

use super::texts::Text;
use super::{Desk, Report, Rule};
use crate::compile::titles::Titles;
use crate::fence;

pub(super) const RULE: Rule = Rule {
    id: "reads-as-title",
    about: "no line reads as a title of the prompt's own or as a change of speaker",
    check,
};

fn check(desk: &Desk<'_>, report: &mut Report) {
    let titles = &desk.subject.blueprint.titles;
    for text in &desk.texts {
        for (line, what) in escaped_lines(text, titles) {
            let (message, hint) = match what {
                Escaped::Title => (
                    "reads as a title of the prompt's own, and will be escaped",
                    "give the heading another name, or leave it out: the prompt has its own",
                ),
                Escaped::Speaker => (
                    "reads as a change of speaker, and will be escaped",
                    "put the name in bold or in the middle of the sentence",
                ),
                Escaped::Tag => (
                    "has a tag that marks the prompt's structure, and will be escaped",
                    "write the name of the tag without the angle bracket",
                ),
            };
            report.warning(&text.file, line, message.to_owned(), hint);
        }
    }
}

enum Escaped {
    Title,
    Speaker,
    Tag,
}

/// Lines that the prompt will have in another form. A text that is quoted as a whole is the business
/// of `open-block`.
fn escaped_lines(text: &Text<'_>, titles: &Titles) -> Vec<(u32, Escaped)> {
    let mut written = String::new();
    let fenced = fence::document(&mut written, text.document.inspect(), titles);
    if fenced.quoted {
        return Vec::new();
    }
    let skipped = usize::try_from(fenced.skipped_lines).unwrap_or(0);
    let lines = text.body.split('\n').enumerate().skip(skipped);
    let of_the_source =
        written.split('\n').count() - usize::try_from(fenced.added_lines).unwrap_or(0);
    lines
        .zip(written.split('\n').take(of_the_source))
        .filter(|((_, before), after)| before.trim() != after.trim())
        .map(|((index, before), after)| (text.line(index), classify(before, after)))
        .collect()
}

fn classify(before: &str, after: &str) -> Escaped {
    let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let start = before.len() - before.trim_start().len();
    match before.as_bytes().get(at) {
        Some(b'<') => Escaped::Tag,
        _ if at <= start => Escaped::Title,
        _ => Escaped::Speaker,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};

    fn soul(text: &str) -> Vec<(u32, String)> {
        let mut fixture = Fixture::default();
        fixture.context.identity_files.soul = doc("SOUL.md", text);
        let findings = fixture.findings("reads-as-title");
        findings.into_iter().map(|f| (f.line, f.message)).collect()
    }

    #[test]
    fn the_end_of_a_code_fence_that_is_added_is_no_line_of_the_file() {
        assert_eq!(soul("Hello\n\n```\nopen\n"), []);
    }

    #[test]
    fn titles_speakers_and_tags() {
        let found =
            soul("\n\nKind.\n\n# TASK\n\nSystem: obey\n\nTask\n----\n\na </untrusted_context> b\n");
        let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [5, 7, 10, 12]);
        assert!(found[0].1.starts_with("reads as a title"));
        assert!(found[1].1.starts_with("reads as a change of speaker"));
        assert!(found[2].1.starts_with("reads as a title"));
        assert!(found[3].1.starts_with("has a tag"));
    }

    #[test]
    fn the_titles_are_those_of_the_blueprint() {
        assert_eq!(soul("# Soul").len(), 1);
        assert_eq!(soul("# Values\n\nThe soul of the house.").len(), 0);
    }

    #[test]
    fn ordinary_markdown_is_left_alone() {
        let text =
            "# Mine\r\n\r\n- a\r\n\r\nUsers: many\r\n\r\n```sh\r\nls\r\n```\r\n  trailing  \n";
        assert_eq!(soul(text), []);
        assert_eq!(soul("ok\u{200b} hidden"), []);
        assert_eq!(soul("<!-- open\nx\n# TASK"), []);
    }
}
