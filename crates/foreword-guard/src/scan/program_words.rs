//! A program as words, so that it can be weighed as a text is: `sendBeacon` and `send_beacon` are two words.

use super::document::{Part, PartKind};

/// The text of a program with its names taken apart, and the way back to where each piece stands.
pub(crate) fn words(program: &str) -> Part {
    let mut part = Part::empty(PartKind::Visible);
    let mut start = 0;
    let mut before = ' ';
    for (at, c) in program.char_indices() {
        let next = program.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        if begins_word(before, c, next) {
            part.push(program.get(start..at).unwrap_or_default(), start, at - start);
            part.push(" ", at, 0);
            start = at;
        } else if c == '_' && before.is_alphanumeric() {
            part.push(program.get(start..at).unwrap_or_default(), start, at - start);
            part.push(" ", at, 1);
            start = at + 1;
        }
        before = c;
    }
    part.push(program.get(start..).unwrap_or_default(), start, program.len() - start);
    part
}

/// Whether a word begins with `c`: `B` in `sendBeacon`, `S` in `HTTPServer`.
fn begins_word(before: char, c: char, next: Option<char>) -> bool {
    c.is_uppercase()
        && (before.is_lowercase()
            || before.is_uppercase() && next.is_some_and(|next| next.is_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        for (program, expected) in [
            ("navigator.sendBeacon(url)", "navigator.send Beacon(url)"),
            ("HTTPServer(read_all, __init__)", "HTTP Server(read all, __init _)"),
            ("TOKEN=1", "TOKEN=1"),
            ("", ""),
        ] {
            assert_eq!(words(program).text, expected);
        }
    }

    #[test]
    fn a_piece_is_found_again() {
        let program = "x = fetchAll(my_url)\nsendBeacon(x)\n";
        let part = words(program);
        let at = part.text.find("Beacon").unwrap();
        assert_eq!(program.get(part.original_offset(at)..), Some("Beacon(x)\n"));
    }
}
