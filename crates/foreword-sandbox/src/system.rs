//! The parts of the host's system that an agent may read, as an allow list.

use std::fs;
use std::path::{Path, PathBuf};

/// Programs and libraries.
const TREES: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix"];

/// What programs need of `/etc`, and no more: every mount costs a third of a millisecond. Never a
/// password file, a private key, or somebody's service.
const ETC: [&str; 14] = [
    "alternatives",
    "crypto-policies",
    "gitconfig",
    "group",
    "hosts",
    "ld.so.cache",
    "localtime",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
];

/// One part of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// A file or directory to show as it is.
    Tree(PathBuf),
    /// A link to set up again, such as `/bin` to `usr/bin`.
    Link { at: PathBuf, to: PathBuf },
}

/// The parts that this machine has.
pub(crate) fn parts() -> Vec<Part> {
    let mut parts = Vec::new();
    for tree in TREES.map(Path::new) {
        match fs::read_link(tree) {
            Ok(to) => parts.push(Part::Link { at: tree.to_path_buf(), to }),
            Err(_) if tree.is_dir() => parts.push(Part::Tree(tree.to_path_buf())),
            Err(_) => {}
        }
    }
    for path in ETC.iter().map(|name| Path::new("/etc").join(name)) {
        match fs::canonicalize(&path) {
            Ok(to) if to != path && trees().iter().any(|tree| to.starts_with(tree)) => {
                parts.push(Part::Link { at: path, to });
            }
            Ok(_) => parts.push(Part::Tree(path)),
            Err(_) => {}
        }
    }
    parts
}

/// The trees among them, links resolved away.
pub(crate) fn trees() -> Vec<PathBuf> {
    TREES.iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_on_the_list() {
        for name in ETC {
            for secret in ["shadow", "gshadow", "sudoers", "ssh", "private", "krb5", "netrc", "wpa"]
            {
                assert!(!name.contains(secret), "{name}");
            }
            assert_ne!(name, "ssl", "it holds the private keys of the machine");
            assert_ne!(name, "pki");
        }
    }

    #[test]
    fn this_machine_has_programs() {
        let usr = Part::Tree("/usr".into());
        assert!(parts().contains(&usr) || cfg!(not(unix)));
    }
}
