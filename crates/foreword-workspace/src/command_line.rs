//! A command on one line, as a person would type it.

/// Characters that mean the same to a shell with and without quotes.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || "_-./:=@%+,{}".contains(c)
}

/// The words of a command on one line. Words that a shell would split or change are quoted, so that
/// what is shown is what runs.
#[must_use]
pub fn command_line<S: AsRef<str>>(words: &[S]) -> String {
    let quoted = |word: &S| {
        let word = word.as_ref();
        if !word.is_empty() && word.chars().all(is_plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        assert_eq!(command_line(&["git", "log", "-n", "{count}"]), "git log -n {count}");
        assert_eq!(command_line(&["sh", "-c", "a; b"]), "sh -c 'a; b'");
        assert_eq!(command_line(&["echo", "", "it's", "${HOME}"]), r"echo '' 'it'\''s' '${HOME}'");
    }
}
