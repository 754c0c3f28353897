//! Showing a long text on a terminal page by page, so that none of it scrolls away unread.

use std::io::{self, BufRead as _, Write as _};

use crate::error::CliError;
use crate::terminal::{Terminal, can_ask, is_terminal_output};

/// Used where the terminal does not tell its size.
const USUAL_SIZE: (usize, usize) = (80, 24);

impl Terminal {
    /// Shows what is about to be decided, page by page on a terminal. Gives whether it was shown to its
    /// end: who stops before has not seen what to decide.
    pub(crate) fn page(&self, text: &str) -> Result<bool, CliError> {
        if self.json || !can_ask() || !is_terminal_output() {
            self.show(text)?;
            return Ok(true);
        }
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        let size = size.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
        let (columns, rows) = size.filter(|size| size.0 > 0 && size.1 > 2).unwrap_or(USUAL_SIZE);
        let pages = pages(text, columns, rows - 1);
        for (number, page) in pages.iter().enumerate() {
            self.print(page)?;
            if number + 1 < pages.len() {
                let _ = write!(
                    io::stderr(),
                    "-- page {} of {}: Enter for the next, q to stop -- ",
                    number + 1,
                    pages.len()
                );
                let mut answer = String::new();
                let read = io::stdin().lock().read_line(&mut answer);
                let read = read
                    .map_err(|error| CliError::usage(format!("cannot read the answer: {error}")))?;
                if read == 0 || answer.trim().eq_ignore_ascii_case("q") {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Splits a text into pieces that fill at most so many rows. Long lines wrap.
fn pages(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let mut pages = vec![String::new()];
    let mut used = 0;
    for line in text.split_inclusive('\n') {
        let mut letters = line.trim_end_matches('\n').chars().peekable();
        loop {
            let row: String = letters.by_ref().take(columns).collect();
            let ends = letters.peek().is_none();
            if used == rows {
                pages.push(String::new());
                used = 0;
            }
            if let Some(page) = pages.last_mut() {
                page.push_str(&row);
                if ends && line.ends_with('\n') || used + 1 == rows {
                    page.push('\n');
                }
            }
            used += 1;
            if ends {
                break;
            }
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_count_as_the_rows_they_fill() {
        assert_eq!(pages("a\nb\n", 10, 5), ["a\nb\n"]);
        assert_eq!(pages("a\nb\nc\n", 10, 2), ["a\nb\n", "c\n"]);
        assert_eq!(pages("abcdefgh\nx\n", 3, 2), ["abcdef\n", "gh\nx\n"]);
        assert_eq!(pages("", 10, 2), [""]);
        let text = "x".repeat(1000);
        assert_eq!(pages(&text, 10, 9).concat().replace('\n', ""), text);
    }
}
