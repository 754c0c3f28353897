//! What a program says about where it runs and where it was made, read from its bytes.

use std::path::Path;

use memchr::memmem;

use crate::error::TaskError;
use crate::steps::root;

/// The version of glibc that `--zig` builds for, as `2.MINOR`.
pub(crate) const OLDEST_GLIBC: u32 = 17;

/// The newest version of glibc that a program asks for, as `2.MINOR`.
pub(crate) fn newest_glibc(program: &[u8]) -> Option<u32> {
    const START: &[u8] = b"GLIBC_2.";
    let minor = |place: usize| {
        let digits = program.get(place + START.len()..)?.iter();
        let digits = digits.take_while(|byte| byte.is_ascii_digit()).take(3);
        digits.map(|byte| u32::from(byte - b'0')).reduce(|number, digit| number * 10 + digit)
    };
    memmem::find_iter(program, START).filter_map(minor).max()
}

/// Directories of this machine that a published program must not name.
pub(crate) fn private_directories() -> Vec<String> {
    let mut found = vec![root().display().to_string()];
    found.extend(["HOME", "CARGO_HOME"].iter().filter_map(|name| std::env::var(name).ok()));
    // A home that is the root of the file system, or empty, is part of every path.
    found.retain(|path| path.len() > 1);
    found
}

/// Which of these directories a program names.
pub(crate) fn named(program: &[u8], directories: &[String]) -> Vec<String> {
    let names = |directory: &&String| {
        let path = format!("{}/", directory.trim_end_matches('/'));
        memmem::find(program, path.as_bytes()).is_some()
    };
    directories.iter().filter(names).cloned().collect()
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, TaskError> {
    std::fs::read(path).map_err(TaskError::io(path.display().to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_newest_version_counts_as_a_number() {
        assert_eq!(newest_glibc(b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.9\0"), Some(17));
        assert_eq!(newest_glibc(b"GLIBC_PRIVATE GLIBC_2."), None);
    }

    #[test]
    fn a_directory_is_named_with_what_is_below_it() {
        let directories = ["/home/ada".to_owned(), "/src".to_owned()];
        assert_eq!(named(b"x/home/ada/foreword/lib.rs", &directories), ["/home/ada"]);
        assert!(named(b"/home/adam/x", &directories).is_empty());
    }

    /// The tests themselves are a program of this machine.
    #[cfg(target_os = "linux")]
    #[test]
    fn this_program_asks_for_a_glibc() {
        let own = read(&std::env::current_exe().unwrap()).unwrap();
        assert!(newest_glibc(&own).is_none_or(|minor| (2..100).contains(&minor)));
        assert!(!named(&own, &[root().display().to_string()]).is_empty());
    }
}
