//! TOML with errors that give the line and, for an unknown key, the key that was meant.

use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use crate::error::WorkspaceError;
use crate::read::{SourceFile, line_of};
use foreword::nearest;

/// Parses a whole file.
pub(crate) fn parse<T: DeserializeOwned>(file: &SourceFile) -> Result<T, WorkspaceError> {
    toml::from_str(&file.text).map_err(|error| explain(file, &error))
}

/// The line of a key given by its path, or of the innermost table on the way that exists.
///
/// Called only once something is wrong, so it may parse the file a second time.
pub(crate) fn line_of_key(text: &str, path: &[&str]) -> usize {
    let Ok(document) = DeTable::parse(text) else { return 1 };
    let mut offset = 0;
    let mut table = Some(document.get_ref());
    for name in path {
        let Some((key, value)) = table.and_then(|table| table.get_key_value(*name)) else { break };
        offset = key.span().start;
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    line_of(text.as_bytes(), offset)
}

fn explain(file: &SourceFile, error: &toml::de::Error) -> WorkspaceError {
    let path = file.path.clone();
    let line = error.span().map_or(1, |span| line_of(file.text.as_bytes(), span.start));
    let message = error.message();
    // serde words this; the tests of this module fail if the wording ever changes.
    if let Some((key, expected)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.split_once("`, "))
    {
        let known: Vec<String> =
            expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        let suggestion = nearest(key, known.iter().map(String::as_str)).map(str::to_owned);
        return WorkspaceError::UnknownKey { path, line, key: key.into(), suggestion, known };
    }
    let message = message.replace('\n', ", ").replace("unknown variant", "unknown value");
    WorkspaceError::Toml { path, line, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Settings {
        blueprint: String,
        limits: Limits,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Limits {
        max_file_chars: usize,
    }

    fn refuse(text: &str) -> WorkspaceError {
        let file = SourceFile { path: "f.toml".into(), text: text.into(), first_line: 1 };
        parse::<Settings>(&file).unwrap_err()
    }

    #[test]
    fn an_unknown_key_has_line_and_suggestion() {
        let error = refuse("blueprint = 'x'\n\n[limits]\nmax_file_char = 3\n");
        assert_eq!(error.to_string(), "f.toml:4: unknown key `max_file_char`");
        assert_eq!(error.hint(), "did you mean `max_file_chars`?");
        let error = refuse("# note\nbanana = 1\n");
        assert_eq!(error.to_string(), "f.toml:2: unknown key `banana`");
        assert_eq!(error.hint(), "remove it; known here: blueprint, limits");
        let error = refuse("[limit]\nmax_file_chars = 1");
        assert_eq!(error.hint(), "did you mean `limits`?");
    }

    #[test]
    fn wrong_types_and_broken_syntax_have_a_line() {
        let error = refuse("blueprint = 'x'\n[limits]\nmax_file_chars = 'many'\n");
        assert_eq!(error.to_string(), "f.toml:3: invalid type: string \"many\", expected usize");
        assert_eq!(refuse("a = 1\nb = \n").line(), Some(2));
        assert_eq!(refuse("blueprint = 'x'\nblueprint = 'y'\n").line(), Some(2));
    }

    #[test]
    fn deep_nesting_is_refused() {
        assert!(matches!(refuse(&"a=[".repeat(10_000)), WorkspaceError::Toml { .. }));
        assert!(matches!(
            refuse(&format!("a={}", "[".repeat(10_000))),
            WorkspaceError::Toml { .. }
        ));
        let dotted = format!("{}b = 1", "a.".repeat(10_000));
        assert!(refuse(&dotted).line().is_some());
    }

    #[test]
    fn a_key_is_found_by_its_path() {
        let text = "a = 1\n[b]\nc = 2\n[b.d]\ne = 3\n";
        assert_eq!(line_of_key(text, &["a"]), 1);
        assert_eq!(line_of_key(text, &["b", "c"]), 3);
        assert_eq!(line_of_key(text, &["b", "d", "e"]), 5);
        assert_eq!(line_of_key(text, &["b", "absent"]), 2);
        assert_eq!(line_of_key("", &["x"]), 1);
    }
}
