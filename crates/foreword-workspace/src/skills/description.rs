//! A description for a text that brings none: its first paragraph.

/// The longest description of a skill, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 1024;

/// The first paragraph of a markdown text in one line, with its inline markup as it is.
///
/// Headings, rules, code blocks and comments are not paragraphs. A text without one is described by
/// its first heading, and one without that by `name`, so the answer is empty only if `name` is.
#[must_use]
pub fn first_paragraph(body: &str, name: &str) -> String {
    let mut heading = None;
    let mut paragraph: Vec<&str> = Vec::new();
    let mut until: Option<&str> = None;
    let mut length = 0;
    for line in body.lines().map(str::trim) {
        if let Some(end) = until {
            // A comment ends anywhere in a line, a code block on a line of its own.
            let ends = if end == "-->" { line.contains(end) } else { line.starts_with(end) };
            until = if ends { None } else { Some(end) };
            continue;
        }
        let starts = ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence));
        if paragraph.is_empty() && starts.is_some() {
            until = starts;
        } else if paragraph.is_empty() && line.starts_with("<!--") {
            until = Some("-->").filter(|end| !line.contains(end));
        } else if !paragraph.is_empty() && is_underline(line) {
            heading.get_or_insert_with(|| paragraph.join(" "));
            paragraph.clear();
        } else if let Some(title) = atx_heading(line) {
            if !paragraph.is_empty() {
                break;
            }
            heading.get_or_insert_with(|| title.to_owned());
        } else if line.is_empty() || starts.is_some() {
            if !paragraph.is_empty() {
                break;
            }
        } else if !paragraph.is_empty() || !is_rule(line) {
            paragraph.push(line);
            length += line.len();
            // Enough for any description; a file may be one endless paragraph.
            if length > 8 * MAX_DESCRIPTION_CHARS {
                break;
            }
        }
    }
    [paragraph.join(" "), heading.unwrap_or_default(), name.to_owned()]
        .iter()
        .map(|text| shortened(text))
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

fn shortened(text: &str) -> String {
    let text: String = text.trim().chars().take(MAX_DESCRIPTION_CHARS).collect();
    text.trim_end().to_owned()
}

/// The title in `## Title`.
fn atx_heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let marks = line.len() - title.len();
    let heads = (1..=6).contains(&marks) && (title.is_empty() || title.starts_with([' ', '\t']));
    heads.then(|| title.trim().trim_end_matches('#').trim_end())
}

/// The line below a title in the other style of headings.
fn is_underline(line: &str) -> bool {
    !line.is_empty() && (line.chars().all(|c| c == '=') || line.chars().all(|c| c == '-'))
}

fn is_rule(line: &str) -> bool {
    let marks: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    let rule = |mark: char| marks.chars().all(|c| c == mark);
    marks.len() >= 3 && (rule('-') || rule('*') || rule('_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_paragraph_is_found_behind_what_is_none() {
        for (body, expected) in [
            ("# Tea\n\nBrew *good*\n tea.\n\nMore.\n", "Brew *good* tea."),
            ("Brew tea.\n## Then\n", "Brew tea."),
            ("Tea\n===\n\nBrew it.\n", "Brew it."),
            ("Tea\n---\nBrew it.\n", "Brew it."),
            ("<!-- by\nme -->\n***\n```sh\nmake tea\n```\nBrew it.\n", "Brew it."),
            ("#tag\n", "#tag"),
            ("Brew it:\n```sh\nmake tea\n```\n", "Brew it:"),
        ] {
            assert_eq!(first_paragraph(body, "tea"), expected, "{body:?}");
        }
    }

    #[test]
    fn a_text_without_one_is_described_by_its_heading_or_name() {
        assert_eq!(first_paragraph("## Tea time ##\n```\nx\n```\n", "tea"), "Tea time");
        for nothing in ["", "\n \n", "---\n", "```\nx\n", "<!-- x", "#\n"] {
            assert_eq!(first_paragraph(nothing, "tea"), "tea", "{nothing:?}");
        }
    }

    proptest! {
        #[test]
        fn a_description_is_one_short_line(body in "(\\PC|\n|# |---|```|<!--|-->|=){0,80}") {
            let text = first_paragraph(&body, "tea");
            prop_assert!(!text.trim().is_empty());
            prop_assert!(!text.contains('\n'));
            prop_assert!(text.chars().count() <= MAX_DESCRIPTION_CHARS);
        }
    }

    #[test]
    fn a_long_paragraph_is_cut() {
        let text = first_paragraph(&"tea ".repeat(1 << 20), "tea");
        assert_eq!(text.chars().count(), MAX_DESCRIPTION_CHARS - 1);
    }
}
