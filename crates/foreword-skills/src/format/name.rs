//! Names of skills: what the format allows, and what is safe as the name of a folder everywhere.
//!
//! The format allows letters of any script; [`name_faults`] has its verdict. A [`SkillName`] is
//! stricter, for names that something other than a person chose: it is ASCII, so that no two names
//! look alike, and it is a plain file name on every platform.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use foreword::{visible_line, visible_start};
use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// The longest name the format allows, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// How much of a refused name an error repeats.
const MAX_ERROR_NAME_CHARS: usize = 60;

/// A name under which a skill may be written: 1 to 64 of `a-z`, `0-9` and single hyphens between
/// them, and no name that some platform reserves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(String);

/// Why a name is refused. Every message repeats the name, escaped and shortened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// There is nothing in it.
    #[error("the skill name is empty")]
    Empty,
    /// It is longer than the format allows.
    #[error("the name `{given}` is {length} characters long, more than {MAX_NAME_CHARS}")]
    TooLong {
        /// The name.
        given: String,
        /// Its length in characters.
        length: usize,
    },
    /// It holds NUL, a line break or another control character.
    #[error("the name `{given}` contains the control character U+{:04X}", u32::from(*.character))]
    Control {
        /// The name.
        given: String,
        /// The first such character.
        character: char,
    },
    /// It starts at the root of a file system, a drive or a share.
    #[error("the name `{given}` is an absolute path; a skill name is one plain word")]
    Absolute {
        /// The name.
        given: String,
    },
    /// It climbs with `..`.
    #[error("the name `{given}` leaves the skills directory with `..`")]
    Climbs {
        /// The name.
        given: String,
    },
    /// It holds a slash or backslash.
    #[error("the name `{given}` contains a path separator; a skill name is one plain word")]
    Separator {
        /// The name.
        given: String,
    },
    /// Git keeps this name for itself.
    #[error("the name `{given}` is reserved by git")]
    Git {
        /// The name.
        given: String,
    },
    /// Windows takes it for a device.
    #[error("the name `{given}` is a device name on Windows, with or without an extension")]
    Device {
        /// The name.
        given: String,
    },
    /// It ends in a dot or a space.
    #[error("the name `{given}` ends in a dot or a space, which Windows drops")]
    Ending {
        /// The name.
        given: String,
    },
    /// It holds a character that is not ASCII, which may look like one that is.
    #[error(
        "the name `{given}` contains `{}` (U+{:04X}), which can look like another letter: \
         use a-z, 0-9 and hyphens",
        visible_line(&.character.to_string()), u32::from(*.character)
    )]
    NotAscii {
        /// The name.
        given: String,
        /// The first such character.
        character: char,
    },
    /// It is not in lower case.
    #[error("the name `{given}` is not in lower case: write `{suggestion}`")]
    UpperCase {
        /// The name.
        given: String,
        /// The nearest name that the format allows.
        suggestion: String,
    },
    /// It holds a character the format does not allow.
    #[error(
        "the name `{given}` contains `{}`: use lower-case letters, digits and hyphens",
        visible_line(&.character.to_string())
    )]
    Character {
        /// The name.
        given: String,
        /// The first such character.
        character: char,
    },
    /// It starts or ends with a hyphen.
    #[error("the name `{given}` starts or ends with a hyphen")]
    EdgeHyphen {
        /// The name.
        given: String,
    },
    /// It has two hyphens in a row.
    #[error("the name `{given}` has two hyphens in a row")]
    DoubleHyphen {
        /// The name.
        given: String,
    },
}

impl SkillName {
    /// Checks a name, the dangers first, so that the error says what is worst about it.
    pub fn new(given: &str) -> Result<Self, NameError> {
        if given.is_empty() {
            return Err(NameError::Empty);
        }
        let shown = escape_name(given);
        if let Some(character) = given.chars().find(|c| c.is_control()) {
            return Err(NameError::Control { given: shown, character });
        }
        if is_absolute(given) {
            return Err(NameError::Absolute { given: shown });
        }
        let separators = ['/', '\\'];
        if given.split(separators).any(|part| part.trim_end_matches(' ') == "..") {
            return Err(NameError::Climbs { given: shown });
        }
        if given.contains(separators) {
            return Err(NameError::Separator { given: shown });
        }
        if is_git(given) {
            return Err(NameError::Git { given: shown });
        }
        if is_device(given) {
            return Err(NameError::Device { given: shown });
        }
        if given.ends_with(['.', ' ']) {
            return Err(NameError::Ending { given: shown });
        }
        if let Some(character) = given.chars().find(|c| !c.is_ascii()) {
            return Err(NameError::NotAscii { given: shown, character });
        }
        // To the format blanks around a name do not count; to a file system they do.
        if let Some(character) = given.chars().next().filter(|c| c.is_whitespace()) {
            return Err(NameError::Character { given: shown, character });
        }
        name_faults(given).into_iter().next().map_or_else(|| Ok(Self(given.to_owned())), Err)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the Agent Skills format has against a name; nothing, if it is valid.
///
/// The verdict of the reference validator: blanks around the name do not count, and it is judged in
/// its NFKC form. Letters and digits of every script are allowed, and so is `con`.
#[must_use]
pub fn name_faults(given: &str) -> Vec<NameError> {
    let name = normalised(given);
    if name.is_empty() {
        return vec![NameError::Empty];
    }
    let mut faults = Vec::new();
    let given = || escape_name(&name);
    let length = name.chars().count();
    if length > MAX_NAME_CHARS {
        faults.push(NameError::TooLong { given: given(), length });
    }
    let lower = name.to_lowercase();
    if lower != *name {
        let suggestion = escape_name(&with_plain_hyphens(&lower));
        faults.push(NameError::UpperCase { given: given(), suggestion });
    }
    if let Some(character) = name.chars().find(|c| !is_letter_or_digit(*c) && *c != '-') {
        faults.push(NameError::Character { given: given(), character });
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push(NameError::EdgeHyphen { given: given() });
    }
    if name.contains("--") {
        faults.push(NameError::DoubleHyphen { given: given() });
    }
    faults
}

/// The name with single hyphens between its letters and digits and in place of everything else, so that
/// following one hint does not lead to the next.
fn with_plain_hyphens(name: &str) -> String {
    let words = name.split(|c| !is_letter_or_digit(c)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Whether two names are one to the format: equal in NFKC form, blanks around `name` aside.
pub(crate) fn is_same_name(name: &str, folder: &str) -> bool {
    normalised(name) == nfkc(folder)
}

fn normalised(name: &str) -> Cow<'_, str> {
    nfkc(strip(name))
}

fn nfkc(text: &str) -> Cow<'_, str> {
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Takes off blanks as Python does, for which the four information separators are blanks too.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f'))
}

/// The general categories L and N: Alphabetic without vowel signs and without letters in boxes.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric() && !is_combining_mark(c) && !matches!(c, '\u{1f130}'..='\u{1f189}')
}

/// A name as an error repeats it: nothing in it reaches a terminal raw.
fn escape_name(name: &str) -> String {
    visible_start(name, MAX_ERROR_NAME_CHARS)
}

fn is_absolute(name: &str) -> bool {
    let mut chars = name.chars();
    let drive = matches!((chars.next(), chars.next()), (Some('a'..='z' | 'A'..='Z'), Some(':')));
    drive || name.starts_with(['/', '\\'])
}

/// The directory of a repository, also in the short form Windows gives it.
fn is_git(name: &str) -> bool {
    let name = name.trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn is_device(name: &str) -> bool {
    foreword_workspace::file_name_fault(name) == Some(foreword_workspace::PathFault::Device)
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SkillName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for SkillName {
    type Err = NameError;

    fn from_str(given: &str) -> Result<Self, NameError> {
        Self::new(given)
    }
}

impl TryFrom<String> for SkillName {
    type Error = NameError;

    fn try_from(given: String) -> Result<Self, NameError> {
        Self::new(&given)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0
    }
}

#[cfg(test)]
#[path = "name_tests.rs"]
mod tests;
