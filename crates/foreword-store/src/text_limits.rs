//! Texts from elsewhere, within their limits.

use crate::audit::event::cut;
use crate::error::StoreError;

/// The text in one line without control characters, cut with a mark where it is too long.
///
/// For what is only shown: it must be recorded whatever it is called.
pub(crate) fn line(text: &str, limit: usize) -> String {
    // What lies behind the limit does not have to be looked at.
    let start: String = text.chars().take(limit.saturating_add(1)).collect();
    let line: String = start.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(line.trim(), limit)
}

/// An error where a text is longer than it may be.
pub(crate) fn within(what: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    if text.len() > limit {
        return Err(StoreError::TooLong { what, bytes: text.len(), limit });
    }
    Ok(())
}

/// An error where a text is not one line with something in it, or longer than it may be.
pub(crate) fn one_line(what: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    within(what, text, limit)?;
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        return Err(StoreError::Unfit { what, wanted: "one line of text" });
    }
    Ok(())
}

/// An error where a text has nothing in it, or is longer than it may be.
pub(crate) fn not_empty(what: &'static str, text: &str, limit: usize) -> Result<(), StoreError> {
    within(what, text, limit)?;
    if text.trim().is_empty() {
        return Err(StoreError::Unfit { what, wanted: "a text that is not empty" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_line_within_its_limit() {
        assert_eq!(line(" a\nb\u{1b}[2Jc\t", 100), "a b [2Jc");
        assert_eq!(line(&"ä".repeat(100), 21), format!("{}…", "ä".repeat(9)));
        assert_eq!(line("", 5), "");
    }

    #[test]
    fn a_line_has_something_in_it() {
        one_line("title", "Write it down", 100).unwrap();
        for bad in ["", "  ", "a\nb", "a\u{0}"] {
            let error = one_line("title", bad, 100).unwrap_err();
            assert_eq!(error.to_string(), "the title must be one line of text");
        }
        let error = one_line("title", "abc", 2).unwrap_err();
        assert_eq!(error.to_string(), "the title is 3 bytes long; the limit is 2");
    }
}
