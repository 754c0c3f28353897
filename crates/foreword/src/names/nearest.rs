//! "Did you mean …?"

/// Longer words get no suggestion: the cost is quadratic.
const MAX_LETTERS: usize = 64;

/// The known word closest to `word`, if it is close enough to be a typo.
///
/// Case, hyphens and underscores do not count, so `allowSkills` finds `allow_skills`. Close enough is
/// a third of the letters, at least one and at most three; ties go to the first.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word)?;
    let limit = (word.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter_map(|known| Some((strsim::osa_distance(&word, &letters(known)?), known)))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

fn letters(word: &str) -> Option<String> {
    let letters = word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase);
    let letters: String = letters.take(MAX_LETTERS + 1).collect();
    (!letters.is_empty() && letters.chars().count() <= MAX_LETTERS).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_found_and_other_words_are_not() {
        let known = ["priority", "heading", "max_chars", "blueprint", "allow_skills"];
        assert_eq!(nearest("priorty", known), Some("priority"));
        assert_eq!(nearest("maxchars", known), Some("max_chars"));
        assert_eq!(nearest("haeding", known), Some("heading"));
        assert_eq!(nearest("blueprnt", known), Some("blueprint"));
        assert_eq!(nearest("allowSkills", known), Some("allow_skills"));
        for stranger in ["colour", "banana", "", &"x".repeat(1_000_000)] {
            assert_eq!(nearest(stranger, known), None);
        }
    }
}
