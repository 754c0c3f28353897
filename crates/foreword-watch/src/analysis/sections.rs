//! The Markdown sections of a text.

/// A section: the heading, its level, the line it starts on, and its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkdownSection {
    pub(crate) title: String,
    /// 0 for the text before the first heading.
    pub(crate) level: u8,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) range: [usize; 2],
}

/// The sections of a text, in order and without gaps; none if it has no headings. Lines in fenced code are
/// no headings.
pub(crate) fn sections(text: &str) -> Vec<MarkdownSection> {
    let mut found: Vec<MarkdownSection> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim_start();
        let is_indented = line.len() - trimmed.len() > 3;
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) if !is_indented => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if !is_indented => {
                if let Some((level, title)) = heading(trimmed) {
                    if let Some(last) = found.last_mut() {
                        last.range[1] = start;
                    } else if start > 0 {
                        found.push(MarkdownSection {
                            title: String::new(),
                            level: 0,
                            line: 1,
                            range: [0, start],
                        });
                    }
                    found.push(MarkdownSection {
                        title,
                        level,
                        line: at + 1,
                        range: [start, text.len()],
                    });
                }
            }
            _ => {}
        }
        start += line.len();
    }
    found
}

fn heading(line: &str) -> Option<(u8, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    let title = rest.trim().trim_end_matches('#').trim();
    (is_heading && !title.is_empty()).then(|| (u8::try_from(level).unwrap_or(6), title.to_owned()))
}

/// The heading above a line.
pub(crate) fn heading_above(text: &str, line: usize) -> Option<String> {
    let above = sections(text).into_iter().rfind(|section| section.line <= line)?;
    (above.level > 0).then_some(above.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_cut_a_text_into_sections() {
        let text = "Intro\n# One #\na\n```sh\n# no heading\n```\n## Two\nb\n    # code\n#hash\n";
        let all: Vec<(String, u8, usize, &str)> = sections(text)
            .into_iter()
            .map(|found| {
                (
                    found.title,
                    found.level,
                    found.line,
                    text.get(found.range[0]..found.range[1]).unwrap(),
                )
            })
            .collect();
        assert_eq!(
            all,
            [
                (String::new(), 0, 1, "Intro\n"),
                ("One".to_owned(), 1, 2, "# One #\na\n```sh\n# no heading\n```\n"),
                ("Two".to_owned(), 2, 7, "## Two\nb\n    # code\n#hash\n"),
            ]
        );
        assert_eq!(sections("no headings\nat all"), []);
        assert_eq!(heading_above(text, 1), None);
        assert_eq!(heading_above(text, 3).as_deref(), Some("One"));
        assert_eq!(heading_above(text, 9).as_deref(), Some("Two"));
    }
}
