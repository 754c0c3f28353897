//! A change as a person reads it before deciding.

use std::fmt::Write as _;
use std::time::Duration;

use foreword::{visible, visible_line};
use similar::{Algorithm, TextDiff};

/// How long to look for a short diff before settling for any.
const PATIENCE: Duration = Duration::from_millis(500);

/// The unified diff of one file; what is not text is only said to differ. A few bytes that are no
/// text do not hide the rest.
///
/// Control and invisible characters are made visible: what is reviewed is what is there.
#[must_use]
pub fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> String {
    let path = visible_line(path);
    let named = |side: Option<&[u8]>| side.map_or("/dev/null", |_| path.as_str());
    let (before, after) = (named(old), named(new));
    let text = |bytes: Option<&[u8]>| {
        let bytes = bytes.unwrap_or_default();
        // A CRLF is a line break like any other.
        (!bytes.contains(&0))
            .then(|| visible(&String::from_utf8_lossy(bytes).replace("\r\n", "\n")))
    };
    let mut out = format!("--- {before}\n+++ {after}\n");
    match (text(old), text(new)) {
        (Some(old), Some(new)) => {
            let diff = TextDiff::configure()
                .algorithm(Algorithm::Myers)
                .timeout(PATIENCE)
                .diff_lines(&old, &new);
            let _ = write!(out, "{}", diff.unified_diff().context_radius(3));
        }
        _ => {
            let size = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
            let _ = writeln!(out, "binary: {} bytes become {}", size(old), size(new));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SkillName, validate};
    use foreword::Invisible;
    use proptest::prelude::*;

    #[test]
    fn a_change_reads_as_a_diff() {
        let diff = unified("a/SKILL.md", Some(b"one\ntwo\n"), Some(b"one\n2\xe2\x80\x8b\n"));
        assert_eq!(
            diff,
            "--- a/SKILL.md\n+++ a/SKILL.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\\u{200b}\n"
        );
        let diff = unified("x", None, Some(b"one\x1b[2J\n"));
        assert_eq!(diff, "--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+one\\u{1b}[2J\n");
        let diff = unified("x", None, Some(b"caf\xe9\n"));
        assert_eq!(diff, "--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+caf\u{fffd}\n");
        let diff = unified("x", Some(&[0xff, 0]), None);
        assert_eq!(diff, "--- x\n+++ /dev/null\nbinary: 2 bytes become 0\n");
    }

    fn texts() -> impl Strategy<Value = String> {
        let hidden: Vec<char> = (0..=0xe_0fff)
            .filter_map(char::from_u32)
            .filter(|c| Invisible::of(*c).is_some() || *c == '\u{2800}')
            .collect();
        let character =
            prop_oneof![any::<char>(), prop::sample::select(hidden), Just('\n'), Just('a')];
        prop::collection::vec(character, 0..40).prop_map(|all| all.into_iter().collect())
    }

    /// Whether a person sees every character. The selector of an emoji's own form is part of it.
    fn is_visible(text: &str) -> bool {
        let hidden = |c| Invisible::of(c).is_some() || c == '\u{2800}';
        !text.chars().any(|c| hidden(c) && !matches!(c, '\u{fe0e}' | '\u{fe0f}'))
    }

    proptest! {
        #[test]
        fn nothing_hidden_survives_in_what_is_shown_for_a_decision(
            path in texts(), old in texts(), new in texts(),
        ) {
            prop_assert!(is_visible(&unified(&path, Some(old.as_bytes()), Some(new.as_bytes()))));
            prop_assert!(is_visible(&unified(&path, None, Some(new.as_bytes()))));
            if let Err(error) = SkillName::new(&path) {
                prop_assert!(is_visible(&error.to_string()), "{error:?}");
            }
            let skill = format!("---\nname: {path}\n{new}: x\n{old}\n---\n");
            for fault in validate(&skill, Some(&path)) {
                prop_assert!(is_visible(&fault.to_string()), "{fault:?}");
            }
        }
    }

    #[test]
    fn fillers_blanks_tags_and_bidi_controls_are_written_out() {
        for c in [
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{2800}',
            '\u{ffa0}',
            '\u{e0041}',
            '\u{202e}',
            '\u{fe00}',
            '\u{7f}',
        ] {
            let diff = unified("x", None, Some(format!("a{c}b\n").as_bytes()));
            assert!(diff.contains(&format!("+a\\u{{{:x}}}b", u32::from(c))), "{diff}");
        }
    }
}
