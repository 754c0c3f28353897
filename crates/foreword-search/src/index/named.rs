//! Items that a task names.

use crate::index::flat::{IndexError, Reader, Writer};
use crate::index::terms::Terms;

/// Names longer than this many words are not looked for.
const LONGEST: usize = 8;

/// What stored bytes start with, and the version of what follows.
const MAGIC: [u8; 8] = *b"FWNAMIDX";
const VERSION: u32 = 1;

/// No item: the end of a list.
const NONE: u32 = u32::MAX;

/// The names of items, to be found in a text whatever their case.
#[derive(Debug, Default)]
pub struct NameIndex {
    /// Names as they are compared.
    names: Terms,
    /// Per name, the first item that has it.
    first: Vec<u32>,
    /// Per item, the next one of the same name.
    next: Vec<u32>,
    /// Per item, whether its name can hardly be an ordinary word.
    identifier: Vec<bool>,
    longest: usize,
}

impl NameIndex {
    /// Indexes the names of items.
    pub fn new<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        let mut last: Vec<u32> = Vec::new();
        let mut folded = String::new();
        for (item, name) in (0..).zip(names) {
            index.next.push(NONE);
            index.identifier.push(is_identifier(name));
            let words = name.split_whitespace().count();
            if !(1..=LONGEST).contains(&words) || !name.chars().any(char::is_alphanumeric) {
                continue;
            }
            index.longest = index.longest.max(words);
            folded.clear();
            fold(name, &mut folded);
            let number = index.names.number(&folded) as usize;
            if let Some(last) = last.get_mut(number) {
                if let Some(next) = index.next.get_mut(*last as usize) {
                    *next = item;
                }
                *last = item;
            } else {
                index.first.push(item);
                last.push(item);
            }
        }
        index
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.next.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next.is_empty()
    }

    /// Whether the name of an item can hardly be an ordinary word.
    pub(crate) fn is_identifier(&self, item: usize) -> bool {
        self.identifier.get(item).copied().unwrap_or_default()
    }

    /// The index as bytes for [`NameIndex::from_bytes`]; there is no hash in them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(MAGIC, VERSION);
        writer.number(u32::try_from(self.longest).unwrap_or_default());
        self.names.write(&mut writer);
        writer.numbers(&self.first);
        writer.numbers(&self.next);
        writer.bytes(&self.identifier.iter().map(|x| u8::from(*x)).collect::<Vec<_>>());
        writer.finish()
    }

    /// Reads what [`NameIndex::to_bytes`] wrote, with everything checked that points somewhere.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut reader = Reader::new(bytes, MAGIC, VERSION)?;
        let longest = reader.number()? as usize;
        let names = Terms::read(&mut reader)?;
        let (first, next) = (reader.numbers()?, reader.numbers()?);
        let identifier: Vec<bool> = reader.bytes()?.iter().map(|x| *x != 0).collect();
        reader.finish()?;
        let items = next.len();
        // A list only goes up, so it ends.
        let up = (0..).zip(&next).all(|(item, next)| *next == NONE || *next > item);
        let there = |item: &u32| (*item as usize) < items;
        let fits = longest <= LONGEST
            && first.len() == names.len()
            && identifier.len() == items
            && first.iter().all(there)
            && next.iter().all(|next| *next == NONE || there(next))
            && up;
        if !fits {
            return Err(IndexError::damaged("its names do not fit its items"));
        }
        Ok(Self { names, first, next, identifier, longest })
    }

    /// The items whose name occurs in the text as separate words, in order of item.
    ///
    /// Quotes, brackets and marks of punctuation around it do not matter, nor a sigil before it
    /// (`/deploy`, `@deploy`), nor letters of another script that touch it.
    pub(crate) fn find(&self, text: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        if self.first.is_empty() {
            return found;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let (mut key, mut folded) = (String::new(), String::new());
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
                for identifier in identifiers {
                    folded.clear();
                    fold(identifier, &mut folded);
                    self.look_up(&folded, &mut found);
                }
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
            if let Some(number) = self.names.find(form) {
                let mut item = self.first.get(number as usize).copied().unwrap_or(NONE);
                while item != NONE {
                    found.push(item as usize);
                    item = self.next.get(item as usize).copied().unwrap_or(NONE);
                }
                return;
            }
        }
    }
}

/// Adds a name as it is compared.
fn fold(name: &str, to: &mut String) {
    for word in name.split_whitespace() {
        if !to.is_empty() {
            to.push(' ');
        }
        to.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Whether a name can hardly be an ordinary word: it has a sign, a digit or a hump inside.
fn is_identifier(name: &str) -> bool {
    name.chars().skip(1).any(|c| !c.is_alphabetic() || c.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_where_they_stand_alone() {
        let names = ["git_commit", "Cat Facts", "GET /albums/{id}", "deploy", "git", "", "名前"];
        let index = NameIndex::new(names.into_iter());
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
        assert_eq!(NameIndex::new(["a_b", "A_B"].into_iter()).find("a_b"), [0, 1]);
    }

    #[test]
    fn names_are_read_back_and_damage_is_noticed() {
        let bytes = NameIndex::new(["a_b", "", "x y", "A_B"].into_iter()).to_bytes();
        let again = NameIndex::from_bytes(&bytes).unwrap();
        assert_eq!(again.find("say a_b and X  y"), [0, 2, 3]);
        assert!(again.is_identifier(0) && !again.is_identifier(1));
        for at in 0..bytes.len() {
            assert!(NameIndex::from_bytes(&bytes[..at]).is_err());
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            if let Ok(index) = NameIndex::from_bytes(&changed) {
                let _ = index.find("say a_b and x y");
            }
        }
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
