//! The parts of the host's system that an agent may read: a list of what is allowed, not of what is not.

use std::fs;
use std::path::{Path, PathBuf};

/// Programs and libraries.
const TREES: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix"];

/// What programs need of `/etc`. Never a password file, a private key, or somebody's service.
const ETC: [&str; 40] = [
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "default/locale",
    "fonts",
    "gai.conf",
    "gitconfig",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "magic",
    "manpath.config",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "rpc",
    "services",
    "ssl/cert.pem",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
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
    let etc = ETC.iter().map(|name| Path::new("/etc").join(name));
    parts.extend(etc.filter(|path| path.exists()).map(Part::Tree));
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
