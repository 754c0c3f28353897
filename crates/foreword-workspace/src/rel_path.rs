//! Paths inside a workspace, checked before any file is touched.
//!
//! The same strings are refused on every platform, so a workspace that works on one works on all.

/// The longest file name that common file systems allow.
const MAX_NAME_BYTES: usize = 255;
/// The longest path we follow, far above any real one.
const MAX_PATH_BYTES: usize = 4096;

/// Why a string is refused as a path or as a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathFault {
    /// Nothing is left of it.
    #[error("it is empty")]
    Empty,
    /// It starts at the root of the file system.
    #[error("it is absolute")]
    Absolute,
    /// It climbs with `..`.
    #[error("it climbs out with `..`")]
    Climbs,
    /// It holds a separator where one name is expected.
    #[error("it contains a path separator")]
    Separator,
    /// It holds a backslash, a colon or another character that some platform reads specially.
    #[error("it contains a character that is not allowed in portable file names")]
    Character,
    /// It is a name that stands for a device on Windows.
    #[error("it is the name of a device on Windows")]
    Device,
    /// It ends in a dot or a space, which Windows drops.
    #[error("it ends in a dot or a space")]
    Ending,
    /// A part of it is longer than file systems allow.
    #[error("it is too long")]
    TooLong,
}

/// A relative path with forward slashes that cannot leave the directory it is joined to.
///
/// Links are another matter: those are followed and checked when the file is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RelPath(String);

impl RelPath {
    /// Checks a path and drops `.` and doubled slashes from it.
    pub(crate) fn parse(given: &str) -> Result<Self, PathFault> {
        if given.len() > MAX_PATH_BYTES {
            return Err(PathFault::TooLong);
        }
        if given.starts_with(['/', '\\']) || has_drive(given) {
            return Err(PathFault::Absolute);
        }
        let mut path = String::with_capacity(given.len());
        for name in given.split('/').filter(|name| !matches!(*name, "" | ".")) {
            check_name(name)?;
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(name);
        }
        if path.is_empty() { Err(PathFault::Empty) } else { Ok(Self(path)) }
    }

    /// A path made of names that come from a directory listing, which are what they are.
    pub(crate) fn listed(directory: &str, name: &str) -> Self {
        if directory.is_empty() {
            Self(name.to_owned())
        } else {
            Self(format!("{directory}/{name}"))
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }
}

/// Checks that a string can be one file name: an agent id, a namespace, a user id.
pub(crate) fn check_component(name: &str) -> Result<(), PathFault> {
    match name {
        "" => Err(PathFault::Empty),
        "." => Err(PathFault::Ending),
        _ if name.contains(['/', '\\']) => Err(PathFault::Separator),
        _ => check_name(name),
    }
}

/// What keeps a string from being one file name on every platform; nothing, if it can be one.
///
/// For names that come from elsewhere, such as that of a proposed skill.
#[must_use]
pub fn file_name_fault(name: &str) -> Option<PathFault> {
    check_component(name).err()
}

fn check_name(name: &str) -> Result<(), PathFault> {
    if name == ".." {
        return Err(PathFault::Climbs);
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(PathFault::TooLong);
    }
    if name.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c)) {
        return Err(PathFault::Character);
    }
    if name.ends_with(['.', ' ']) {
        return Err(PathFault::Ending);
    }
    if is_device(name) { Err(PathFault::Device) } else { Ok(()) }
}

fn has_drive(given: &str) -> bool {
    let mut chars = given.chars();
    matches!((chars.next(), chars.next()), (Some(letter), Some(':')) if letter.is_ascii_alphabetic())
}

/// Whether Windows takes the name for a device, with or without an extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    if matches!(stem.as_str(), "con" | "prn" | "aux" | "nul" | "conin$" | "conout$") {
        return true;
    }
    let mut chars = stem.chars();
    let port: String = chars.by_ref().take(3).collect();
    matches!(port.as_str(), "com" | "lpt")
        && matches!(
            (chars.next(), chars.next()),
            (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None)
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn harmless_paths_are_tidied() {
        assert_eq!(RelPath::parse("./a//b.md").unwrap().as_str(), "a/b.md");
        assert_eq!(RelPath::parse("SOUL.md").unwrap().as_str(), "SOUL.md");
        assert_eq!(RelPath::parse(".claude/skills/").unwrap().as_str(), ".claude/skills");
    }

    #[test]
    fn paths_that_could_leave_are_refused() {
        for (given, fault) in [
            ("", PathFault::Empty),
            ("./.", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("\\\\server\\share", PathFault::Absolute),
            ("C:/x", PathFault::Absolute),
            ("c:x", PathFault::Absolute),
            ("a/../../b", PathFault::Climbs),
            ("..", PathFault::Climbs),
            ("a\\..\\b", PathFault::Character),
            ("a\0b", PathFault::Character),
            ("notes.md:stream", PathFault::Character),
            ("a/.../b", PathFault::Ending),
            ("a /b", PathFault::Ending),
            ("x/NUL", PathFault::Device),
            ("aux.md", PathFault::Device),
            ("com1", PathFault::Device),
            ("LPT\u{b9}.txt", PathFault::Device),
        ] {
            assert_eq!(RelPath::parse(given), Err(fault), "{given:?}");
        }
        assert_eq!(RelPath::parse(&"a".repeat(256)), Err(PathFault::TooLong));
        assert_eq!(RelPath::parse(&"a/".repeat(4096)), Err(PathFault::TooLong));
    }

    #[test]
    fn words_that_only_start_like_devices_are_fine() {
        for name in ["console", "com", "com10", "lpt", "auxiliary", "null", "comx"] {
            assert_eq!(check_component(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_component_is_one_name() {
        assert_eq!(check_component("a/b"), Err(PathFault::Separator));
        assert_eq!(check_component("a\\b"), Err(PathFault::Separator));
        assert_eq!(check_component(".."), Err(PathFault::Climbs));
        assert_eq!(check_component("."), Err(PathFault::Ending));
        assert_eq!(check_component(""), Err(PathFault::Empty));
        assert_eq!(check_component("con"), Err(PathFault::Device));
        assert_eq!(check_component("user@example.org"), Ok(()));
    }

    proptest! {
        #[test]
        fn an_accepted_path_never_leaves(given in "(\\PC|[./\\\\:\0\n]|\\.\\./|nul|C:){0,24}") {
            if let Ok(path) = RelPath::parse(&given) {
                prop_assert!(
                    Path::new(path.as_str()).components().all(|c| matches!(c, Component::Normal(_)))
                );
            }
        }
    }
}
