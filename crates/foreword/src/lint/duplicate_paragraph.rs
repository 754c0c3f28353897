//! `duplicate-paragraph`: the same paragraph twice. It is paid for twice, and one day only one of
//! them will be changed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{Desk, Report, Rule};

pub(super) const RULE: Rule =
    Rule { id: "duplicate-paragraph", about: "no paragraph appears twice in the prompt", check };

/// Shorter paragraphs may well be the same by chance.
const MIN_CHARS: usize = 60;

fn check(desk: &Desk<'_>, report: &mut Report) {
    let mut files: HashMap<(&str, u32), usize> = HashMap::new();
    let mut seen: HashMap<String, (usize, usize)> = HashMap::new();
    for (index, text) in desk.texts.iter().enumerate().filter(|(_, text)| text.is_operator()) {
        let sourced = text.document.source().is_some();
        if sourced && files.insert((&text.file, text.line(0)), index).is_some() {
            report.warning(
                &text.file,
                text.first_said_line(),
                "the prompt contains this whole text twice".to_owned(),
                "list the file once",
            );
            continue;
        }
        for (at, paragraph) in paragraphs(&text.body) {
            let folded = fold(paragraph);
            if folded.chars().nth(MIN_CHARS - 1).is_none() {
                continue;
            }
            let (first_text, first_at) = match seen.entry(folded) {
                Entry::Vacant(entry) => {
                    entry.insert((index, at));
                    continue;
                }
                Entry::Occupied(entry) => *entry.get(),
            };
            let Some(first) = desk.texts.get(first_text) else { continue };
            report.warning(
                &text.file,
                text.line_at(at),
                format!("the same paragraph as {}:{}", first.file, first.line_at(first_at)),
                "keep it in one place: what all agents share belongs in the base or in a \
                 capability pack",
            );
        }
    }
}

/// Stretches of lines that are not blank, with their offsets.
fn paragraphs(body: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut lines = body.split_inclusive('\n');
    let mut at = 0;
    std::iter::from_fn(move || {
        let mut start = at;
        for line in lines.by_ref() {
            let (line_start, blank) = (at, line.trim().is_empty());
            at += line.len();
            if !blank {
                continue;
            }
            if line_start > start {
                return Some((start, body.get(start..line_start)?));
            }
            start = at;
        }
        (at > start).then(|| Some((start, body.get(start..at)?))).flatten()
    })
}

/// One space for all white space, and lower case.
fn fold(paragraph: &str) -> String {
    let mut out = String::with_capacity(paragraph.len());
    for word in paragraph.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use super::*;
    use crate::context::items::Capability;
    use crate::fence::text::{Documents, Line};

    const LONG: &str = "Quality is checked, not asserted. Say what was verified and by what means.";

    #[test]
    fn paragraphs_and_their_places() {
        let all = |body| paragraphs(body).collect::<Vec<_>>();
        assert_eq!(all("\n\na\nb\n \t\n\nc"), [(2, "a\nb\n"), (10, "c")]);
        assert_eq!(all("a\n"), [(0, "a\n")]);
        assert_eq!(all(" \n\n"), []);
        assert_eq!(all(""), []);
    }

    #[test]
    fn the_second_is_reported_with_the_place_of_the_first() {
        let mut fixture = Fixture::default();
        fixture.context.base = doc("prompts/base.md", &format!("# Base\n\n{LONG}\n"));
        let again = LONG.to_uppercase().replace(". ", ".\n  ");
        fixture.context.context_content =
            Documents(vec![doc("CONTEXT.md", &format!("One.\n\nTwo.\n\n{again}"))]);
        assert_eq!(
            fixture.messages("duplicate-paragraph"),
            ["CONTEXT.md:5 the same paragraph as prompts/base.md:3"]
        );
    }

    #[test]
    fn short_ones_other_ones_and_the_users_own_do_not_count() {
        let mut fixture = Fixture::default();
        fixture.context.base = doc("prompts/base.md", &format!("Be kind.\n\n{LONG}"));
        fixture.context.constitution = doc("c.md", &format!("Be kind.\n\n{LONG} Always."));
        fixture.context.identity_files.user = doc("USER.md", LONG);
        assert_eq!(fixture.messages("duplicate-paragraph"), [""; 0]);
    }

    #[test]
    fn a_pack_that_is_listed_twice_is_one_finding() {
        let pack = Capability {
            name: Line::new("core"),
            text: doc("prompts/capabilities/core.md", &format!("{LONG}\n\n{LONG} More.")),
        };
        let mut fixture = Fixture::default();
        fixture.context.capabilities = vec![pack.clone(), pack];
        assert_eq!(
            fixture.messages("duplicate-paragraph"),
            ["prompts/capabilities/core.md:1 the prompt contains this whole text twice"]
        );
    }
}
