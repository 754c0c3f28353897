//! Injections and harmless texts that look like them, written by hand for this project.

use std::sync::LazyLock;

use serde::Deserialize;

/// One example.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Example {
    /// The text.
    pub text: String,
    /// Its language, such as `pt` or `hi-Latn`.
    pub lang: String,
    /// Whether it is an injection, or only looks like one.
    pub injection: bool,
}

static EXAMPLES: LazyLock<Vec<Example>> = LazyLock::new(|| {
    let lines = include_str!("examples.jsonl").lines();
    lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
});

/// The committed list: injections first, then what looks like them and is harmless.
#[must_use]
pub fn injection_examples() -> &'static [Example] {
    &EXAMPLES
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_is_whole() {
        let all = injection_examples();
        assert_eq!(all.len(), include_str!("examples.jsonl").lines().count());
        let texts: BTreeSet<_> = all.iter().map(|e| &e.text).collect();
        assert_eq!(texts.len(), all.len(), "no text is there twice");
        let count = |injection| {
            let some: Vec<_> = all.iter().filter(|e| e.injection == injection).collect();
            let languages: BTreeSet<_> = some.iter().map(|e| &e.lang).collect();
            (some.len(), languages.len())
        };
        let ((injections, languages), (harmless, _)) = (count(true), count(false));
        assert!(injections >= 60 && languages >= 8 && harmless >= injections);
    }
}
