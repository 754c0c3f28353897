//! Words that stand for each other: "when do we ship?" asks for "Deploys happen on Tuesdays".
//!
//! A short list of our own, for words whose vectors lie apart because they also mean something else.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::memory::words::terms;

/// How much a synonym counts, compared with the word itself.
pub(crate) const WEIGHT: f32 = 0.6;

/// The other words that a term may stand for, as terms.
pub(crate) fn of(term: &str) -> impl Iterator<Item = &'static str> {
    type Groups = (Vec<Vec<String>>, HashMap<String, usize>);
    static GROUPS: OnceLock<Groups> = OnceLock::new();
    let (groups, places) = GROUPS.get_or_init(|| {
        let lines = include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#'));
        let groups: Vec<Vec<String>> = lines.map(terms).collect();
        let places = groups
            .iter()
            .enumerate()
            .flat_map(|(place, group)| group.iter().map(move |word| (word.clone(), place)));
        let places = places.collect();
        (groups, places)
    });
    let group = places.get(term).and_then(|place| groups.get(*place));
    let own = term.to_owned();
    group.into_iter().flatten().map(String::as_str).filter(move |word| *word != own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_by_each_of_their_words() {
        let found = |word: &str| -> Vec<&str> {
            terms(word).iter().flat_map(|term| of(term).collect::<Vec<_>>()).collect()
        };
        assert!(found("ship").contains(&"deploy"));
        assert!(found("deploys").contains(&"ship"));
        assert!(!found("ship").contains(&"ship"));
        assert!(found("Tuesday").is_empty());
    }
}
