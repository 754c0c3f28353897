//! `open-block`: a code fence, comment or tag that does not end would swallow what follows it in the
//! prompt. It is closed, or the whole text is quoted; either way the prompt is not what was written.

use super::{Desk, Report, Rule};
use crate::fence;

pub(super) const RULE: Rule = Rule {
    id: "open-block",
    about: "every code fence, comment and tag that is opened is closed",
    check,
};

const HINT: &str = "close the code fence, comment or tag";

fn check(desk: &Desk<'_>, report: &mut Report) {
    for text in &desk.texts {
        let mut written = String::new();
        let raw = text.document.inspect();
        let fenced = fence::document(&mut written, raw, &desk.subject.blueprint.titles);
        let lines = |text: &str| text.bytes().filter(|&b| b == b'\n').count();
        if fenced.quoted {
            report.warning(
                &text.file,
                text.first_said_line(),
                "a block in this text is never closed, so the whole text is quoted line by line"
                    .to_owned(),
                HINT,
            );
        } else if lines(&written) > lines(text.body.trim()) {
            report.warning(
                &text.file,
                text.line_at(text.body.trim_end().len()),
                "a code fence is still open at the end of this text; the prompt closes it"
                    .to_owned(),
                HINT,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};

    fn soul(text: &str) -> Vec<String> {
        let mut fixture = Fixture::default();
        fixture.context.identity_files.soul = doc("SOUL.md", text);
        fixture.messages("open-block")
    }

    #[test]
    fn blocks_that_do_not_end() {
        assert_eq!(
            soul("Kind.\n\n```sh\nls\n\n"),
            ["SOUL.md:4 a code fence is still open at the end of this text; the prompt closes it"]
        );
        assert_eq!(
            soul("\nKind.\n\n<!-- note\nx"),
            [
                "SOUL.md:2 a block in this text is never closed, so the whole text is quoted line by line"
            ]
        );
    }

    #[test]
    fn blocks_that_end() {
        for text in
            ["```sh\nls\n```", "<!-- note -->\nx\n", "<div>\nfine\n</div>", "\n\n  plain\n\n"]
        {
            assert_eq!(soul(text), [""; 0], "{text}");
        }
    }
}
