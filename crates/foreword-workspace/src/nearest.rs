//! Suggestions: the known word nearest to one that is not known.

/// Words longer than this get no suggestion: nobody mistypes them, and the cost is quadratic.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if one is near enough to be meant.
///
/// Case, hyphens and underscores do not count, so `allowSkills` finds `allow_skills`. Near enough
/// is a third of the letters, at least one and at most three; ties go to the first candidate.
#[must_use]
pub fn nearest<'a, I>(word: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    let word = letters(word)?;
    let allowed = (word.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&word, &letters(candidate)?), candidate)))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = word
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect();
    (!letters.is_empty() && letters.len() <= LONGEST).then_some(letters)
}

/// Levenshtein distance with one row of memory.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b) {
            let change = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = change.min(*cell + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        let d = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(d("kitten", "sitting"), 3);
        assert_eq!(d("", "abc"), 3);
        assert_eq!(d("abc", ""), 3);
        assert_eq!(d("same", "same"), 0);
    }

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_does_not() {
        let known = ["blueprint", "profile", "allow_skills"];
        assert_eq!(nearest("blueprnt", known), Some("blueprint"));
        assert_eq!(nearest("allowSkills", known), Some("allow_skills"));
        assert_eq!(nearest("banana", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
    }
}
