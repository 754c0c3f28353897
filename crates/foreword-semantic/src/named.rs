//! Items that a task names.

use std::collections::HashMap;

/// Names longer than this many words are not looked for.
const LONGEST: usize = 8;

/// The names of items, to be found in a text whatever their case.
#[derive(Debug, Default)]
pub(crate) struct Names {
    items: HashMap<String, Vec<usize>>,
    longest: usize,
}

impl Names {
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        for (item, name) in names.enumerate() {
            let words = name.split_whitespace().count();
            if (1..=LONGEST).contains(&words) && name.chars().any(char::is_alphanumeric) {
                index.longest = index.longest.max(words);
                index.items.entry(fold(name)).or_default().push(item);
            }
        }
        index
    }

    /// The items whose name stands in the text as a word or words of its own, in order of item.
    ///
    /// Quotes, brackets and marks of punctuation around it do not matter, nor a sigil before it
    /// (`/deploy`, `@deploy`), nor letters of another script that touch it.
    pub(crate) fn find(&self, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        if self.items.is_empty() {
            return found;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut key = String::new();
        for start in 0..words.len() {
            key.clear();
            for word in words.iter().skip(start).take(self.longest) {
                if !key.is_empty() {
                    key.push(' ');
                }
                key.extend(word.chars().flat_map(char::to_lowercase));
                self.look_up(&key, &mut found);
            }
            if let Some(word) = words.get(start).filter(|word| !word.is_ascii()) {
                let identifiers =
                    word.split(|c: char| !c.is_ascii_graphic()).filter(|x| !x.is_empty());
                identifiers.for_each(|identifier| self.look_up(&fold(identifier), &mut found));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn look_up(&self, key: &str, found: &mut Vec<usize>) {
        let bare =
            key.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '}' | ')'));
        let closed = bare.trim_end_matches(['}', ')']);
        let ended = key.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        for form in [key, ended, bare, closed] {
            if let Some(items) = self.items.get(form) {
                found.extend(items);
                return;
            }
        }
    }
}

fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

/// Whether a name can hardly be an ordinary word: it has a sign, a digit or a hump inside.
pub(crate) fn is_identifier(name: &str) -> bool {
    name.chars().skip(1).any(|c| !c.is_alphabetic() || c.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_stand_alone() {
        let names = ["git_commit", "Cat Facts", "GET /albums/{id}", "deploy", "git", "", "名前"];
        let index = Names::new(names.into_iter());
        let found = |text: &str| index.find(text);
        assert_eq!(found("please run `git_commit`."), [0]);
        assert_eq!(found("GIT_COMMIT, then deploy!"), [0, 3]);
        assert_eq!(found("tell me cat   facts"), [1]);
        assert_eq!(found("call GET /albums/{id}?"), [2]);
        assert_eq!(found("/deploy (git)"), [3, 4]);
        assert_eq!(found("使用git_commit提交"), [0]);
        assert_eq!(found("redeployment of digit"), [] as [usize; 0]);
        assert_eq!(found("「名前」"), [6]);
        assert_eq!(found(""), [] as [usize; 0]);
    }

    #[test]
    fn two_items_of_one_name_are_both_found() {
        assert_eq!(Names::new(["a_b", "A_B"].into_iter()).find("a_b"), [0, 1]);
    }

    #[test]
    fn identifiers_are_told_from_words() {
        for name in ["git_commit", "getUser", "web-search", "s3", "a.b", "Cat Facts"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["weather", "Alarm", "音楽", ""] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
