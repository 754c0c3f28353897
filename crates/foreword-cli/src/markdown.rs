//! Markdown on a terminal, rendered while it streams.
//!
//! A character is held back only until it is clear what it is: the mark at the start of a line, or a mark
//! inside one. Styles end with their line, so a mark that is never closed changes no more than that.

/// Renders Markdown piece by piece.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// What was read of a line before its kind is known.
    lead: String,
    /// Whether the kind of the line is known.
    in_line: bool,
    /// The fence that ends the code block, such as three backticks.
    fence: Option<String>,
    /// Marks inside a line that may be followed by more.
    marks: String,
    bold: bool,
    italic: bool,
    code: bool,
    /// The style of the whole line.
    line_style: &'static str,
}

const BOLD: &str = "1";
const ITALIC: &str = "3";
const CODE: &str = "36";
const DIM: &str = "2";
const HEADING: &str = "1;4";

/// What a line is, as far as its beginning tells.
enum Lead {
    /// More has to be read.
    Unknown,
    /// The line starts with this, in this style; the rest of what was read is its text.
    Known { prefix: String, style: &'static str, text: String },
}

impl Markdown {
    /// Takes more text; gives what can be shown of it.
    pub(crate) fn push(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                c if self.in_line => self.inline(c, &mut out),
                c => {
                    self.lead.push(c);
                    self.start_line(&mut out);
                }
            }
        }
        out
    }

    /// Gives what is held back, and ends all styles.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.in_line && !self.lead.is_empty() {
            self.begin(&mut out, "", "");
            let lead = std::mem::take(&mut self.lead);
            lead.chars().for_each(|c| self.inline(c, &mut out));
        }
        self.close_line(&mut out);
        self.fence = None;
        out
    }

    fn start_line(&mut self, out: &mut String) {
        let lead = if self.fence.is_some() { self.code_lead() } else { self.text_lead() };
        if let Lead::Known { prefix, style, text } = lead {
            self.lead.clear();
            self.begin(out, &prefix, style);
            text.chars().for_each(|c| self.inline(c, out));
        }
    }

    fn begin(&mut self, out: &mut String, prefix: &str, style: &'static str) {
        self.in_line = true;
        self.line_style = style;
        out.push_str(prefix);
        if !style.is_empty() {
            out.push_str(&format!("\x1b[{style}m"));
        }
    }

    /// A line of a code block; its closing fence is held until it ends.
    fn code_lead(&self) -> Lead {
        let fence = self.fence.as_deref().unwrap_or_default();
        let trimmed = self.lead.trim_start();
        if fence.starts_with(trimmed) || trimmed.trim_end() == fence {
            return Lead::Unknown;
        }
        Lead::Known { prefix: "  ".to_owned(), style: CODE, text: self.lead.clone() }
    }

    fn text_lead(&self) -> Lead {
        let trimmed = self.lead.trim_start_matches(' ');
        let indent = " ".repeat(self.lead.len() - trimmed.len());
        let known = |prefix: String, style: &'static str, text: &str| Lead::Known {
            prefix,
            style,
            text: text.to_owned(),
        };
        let Some(first) = trimmed.chars().next() else { return Lead::Unknown };
        let rest = trimmed.trim_start_matches(first);
        let run = trimmed.len() - rest.len();
        match (first, rest.chars().next()) {
            ('#', None) if run <= 6 => Lead::Unknown,
            ('#', Some(' ')) if run <= 6 => match rest.trim_start() {
                "" => Lead::Unknown,
                text => known(String::new(), HEADING, text),
            },
            ('`' | '~', None) => Lead::Unknown,
            // The whole line belongs to the fence.
            ('`' | '~', Some(_)) if run >= 3 => Lead::Unknown,
            ('-' | '*' | '+' | '_', None) => Lead::Unknown,
            ('-' | '*' | '+', Some(' ')) if run == 1 => {
                known(format!("{indent}• "), "", rest.trim_start())
            }
            ('>', None) => Lead::Unknown,
            ('>', Some(_)) if run == 1 => known(format!("{indent}│ "), DIM, rest.trim_start()),
            _ => known(indent, "", trimmed),
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if !self.in_line {
            self.end_lead(out);
        }
        self.close_line(out);
        out.push('\n');
    }

    /// Decides about a line that ended before its kind was known.
    fn end_lead(&mut self, out: &mut String) {
        let lead = std::mem::take(&mut self.lead);
        let trimmed = lead.trim();
        let mark: String = trimmed.chars().take_while(|c| matches!(c, '`' | '~')).collect();
        if self.fence.is_some() {
            if self.fence.as_deref() == Some(trimmed) {
                self.fence = None;
                return;
            }
            self.begin(out, "  ", CODE);
            lead.chars().for_each(|c| self.inline(c, out));
        } else if mark.len() >= 3 {
            let language = trimmed.get(mark.len()..).unwrap_or_default().trim();
            if !language.is_empty() {
                out.push_str(&format!("\x1b[{DIM}m{language}\x1b[0m"));
            }
            self.fence = Some(mark);
        } else if trimmed.len() >= 3
            && ["-", "*", "_"].iter().any(|m| trimmed.replace(m, "").is_empty())
        {
            out.push_str(&"─".repeat(24));
        } else {
            self.begin(out, "", "");
            lead.chars().for_each(|c| self.inline(c, out));
        }
    }

    /// A character inside a line.
    fn inline(&mut self, c: char, out: &mut String) {
        if self.fence.is_some() {
            out.push(c);
            return;
        }
        if self.marks == "\\" {
            self.marks.clear();
            if !c.is_ascii_punctuation() {
                out.push('\\');
            }
            out.push(c);
            return;
        }
        if !self.marks.is_empty() && !self.marks.starts_with(c) {
            self.apply_marks(Some(c), out);
        }
        match c {
            '`' => self.marks.push(c),
            '*' | '\\' if !self.code => self.marks.push(c),
            c => out.push(c),
        }
    }

    /// Applies the marks that were held back, now that the character behind them is known.
    fn apply_marks(&mut self, next: Option<char>, out: &mut String) {
        let marks = std::mem::take(&mut self.marks);
        let opens = next.is_some_and(|c| !c.is_whitespace());
        let is_open = |on: bool| on || opens;
        match marks.as_str() {
            "`" if self.code || next.is_some() => self.code = !self.code,
            "*" if is_open(self.italic) => self.italic = !self.italic,
            "**" if is_open(self.bold) => self.bold = !self.bold,
            "***" if is_open(self.bold) => {
                self.bold = !self.bold;
                self.italic = !self.italic;
            }
            other => {
                out.push_str(other);
                return;
            }
        }
        self.restyle(out);
    }

    fn restyle(&self, out: &mut String) {
        out.push_str("\x1b[0m");
        let styles = [
            (!self.line_style.is_empty(), self.line_style),
            (self.bold, BOLD),
            (self.italic, ITALIC),
            (self.code, CODE),
        ];
        for (_, style) in styles.into_iter().filter(|(on, _)| *on) {
            out.push_str(&format!("\x1b[{style}m"));
        }
    }

    fn close_line(&mut self, out: &mut String) {
        if !self.marks.is_empty() {
            self.apply_marks(None, out);
        }
        if self.bold || self.italic || self.code || !self.line_style.is_empty() {
            out.push_str("\x1b[0m");
        }
        (self.bold, self.italic, self.code) = (false, false, false);
        self.line_style = "";
        self.in_line = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rendered in one piece, with escapes written as `<…>`.
    fn rendered(text: &str) -> String {
        rendered_raw(text).replace("\x1b[0m", "<>").replace("\x1b[", "<")
    }

    fn shown(text: &str) -> String {
        let mut plain = String::new();
        let mut escape = false;
        for c in rendered_raw(text).chars() {
            match c {
                '\x1b' => escape = true,
                'm' if escape => escape = false,
                _ if escape => {}
                c => plain.push(c),
            }
        }
        plain
    }

    fn rendered_raw(text: &str) -> String {
        let mut markdown = Markdown::default();
        markdown.push(text) + &markdown.finish()
    }

    #[test]
    fn blocks_and_marks_become_styles() {
        assert_eq!(rendered("## Plan\n"), "<1;4mPlan<>\n");
        assert_eq!(rendered("a **b** `c` *d*"), "a <><1mb<> <><36mc<> <><3md<>");
        assert_eq!(shown("- one\n* two\n  - three\n"), "• one\n• two\n  • three\n");
        assert_eq!(shown("> said\n---\n"), "│ said\n────────────────────────\n");
        assert_eq!(
            shown("```rust\nlet x = 1 * 2;\n# no heading\n```\nafter"),
            "rust\n  let x = 1 * 2;\n  # no heading\n\nafter"
        );
    }

    #[test]
    fn what_only_looks_like_a_mark_stays() {
        for text in [
            "2 * 3 = 6, 2 ** 3 = 8\n",
            "snake_case and a - b\n",
            "#hashtag\n",
            "1. first\n",
            "-5 degrees\n",
            "a | b\n",
            "\n\n",
            "it's 100% \\ fine\n",
        ] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("\\*not bold\\*"), "*not bold*");
        assert_eq!(rendered("**never closed\nnext"), "<><1mnever closed<>\nnext");
    }

    #[test]
    fn pieces_give_the_same_as_the_whole() {
        let text = "# T\n\nSome **bold** and `code`, 2 * 3.\n\n- a\n- *b*\n\n```sh\nls -l\n```\n> q\n--\n***\nend `";
        let whole = rendered_raw(text);
        for size in 1..7 {
            let mut markdown = Markdown::default();
            let letters: Vec<char> = text.chars().collect();
            let mut out = String::new();
            for piece in letters.chunks(size) {
                out.push_str(&markdown.push(&piece.iter().collect::<String>()));
            }
            out.push_str(&markdown.finish());
            assert_eq!(out, whole, "{size}");
        }
    }

    #[test]
    fn prose_is_not_held_back() {
        let mut markdown = Markdown::default();
        assert_eq!(markdown.push("Hel"), "Hel");
        assert_eq!(markdown.push("lo there"), "lo there");
    }
}
