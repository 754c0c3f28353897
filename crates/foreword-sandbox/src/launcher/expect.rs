//! Verifies, from inside, that the mounts are the checked files.
//!
//! Between the look at a path and its mount, an agent that runs in the same workspace already could put
//! a link to somebody's home in its place, and take it away again. So the launcher is the first program
//! inside: it compares each place with what the host saw there, and starts nothing if one differs.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::backends::subprocess::Launcher;
use crate::error::SandboxError;
use crate::launcher::failed;
use crate::mounts::{Mount, Shown};
use crate::spec::SandboxSpec;

/// A file or directory, identified by device and inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    device: u64,
    file: u64,
    path: PathBuf,
}

impl Expected {
    /// The file at a path now, which must not be a link.
    fn at(path: &Path) -> Result<Self, SandboxError> {
        let io = |source| SandboxError::Io { path: path.to_path_buf(), source };
        let meta = fs::symlink_metadata(path).map_err(io)?;
        if meta.is_symlink() {
            let leads_to = fs::read_link(path).map_err(io)?;
            return Err(SandboxError::NotResolved { path: path.to_path_buf(), leads_to });
        }
        Ok(Self { device: meta.dev(), file: meta.ino(), path: path.to_path_buf() })
    }

    /// As one argument: `device:file:path`.
    fn to_arg(&self) -> OsString {
        let mut arg = OsString::from(format!("{}:{}:", self.device, self.file));
        arg.push(&self.path);
        arg
    }

    /// Reads it back.
    pub(crate) fn parse(arg: &OsStr) -> Option<Self> {
        use std::os::unix::ffi::OsStrExt;
        let mut parts = arg.as_bytes().splitn(3, |byte| *byte == b':');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let (device, file) = (number()?, number()?);
        let path = PathBuf::from(OsStr::from_bytes(parts.next()?));
        Some(Self { device, file, path })
    }
}

/// Whether all files are unchanged.
pub(crate) fn check(expected: &[Expected]) -> Result<(), SandboxError> {
    for expected in expected {
        if Expected::at(&expected.path)? != *expected {
            let path = expected.path.display();
            return Err(failed(&format!("{path} was exchanged while the sandbox was set up")));
        }
    }
    Ok(())
}

/// The command to run inside: the program, after a check of the mounts from the workspace.
pub(crate) fn checked(
    launcher: &Launcher,
    mounts: &[Mount],
    spec: &SandboxSpec,
) -> Result<Vec<OsString>, SandboxError> {
    let mut command = vec![launcher.program.clone().into_os_string()];
    command.extend(launcher.command.iter().cloned());
    command.push("--check".into());
    command.extend(["--limits".into(), spec.limits.in_user_namespace().to_arg()]);
    let from_workspace = mounts
        .iter()
        .filter(|mount| mount.path.starts_with(&spec.workspace) && mount.shown <= Shown::ReadOnly);
    for mount in from_workspace {
        command.extend(["--expect".into(), Expected::at(&mount.path)?.to_arg()]);
    }
    command.extend(["--".into(), spec.program.clone().into()]);
    command.extend(spec.args.iter().map(OsString::from));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Place;

    #[test]
    fn an_expectation_is_read_back_and_holds_until_something_is_exchanged() {
        let place = Place::new(&["a:b/c", "other/c"]);
        let expected = Expected::at(&place.at("a:b")).unwrap();
        assert_eq!(Expected::parse(&expected.to_arg()).unwrap(), expected);
        for bad in ["", "1", "1:2", "x:2:/", "1:-2:/"] {
            assert_eq!(Expected::parse(bad.as_ref()), None, "{bad}");
        }
        assert!(check(std::slice::from_ref(&expected)).is_ok());
        fs::rename(place.at("a:b"), place.at("away")).unwrap();
        assert!(check(std::slice::from_ref(&expected)).is_err());
        fs::rename(place.at("other"), place.at("a:b")).unwrap();
        let error = check(std::slice::from_ref(&expected)).unwrap_err().to_string();
        assert!(error.ends_with("a:b was exchanged while the sandbox was set up"), "{error}");
        fs::remove_dir_all(place.at("a:b")).unwrap();
        std::os::unix::fs::symlink(place.at("away"), place.at("a:b")).unwrap();
        assert!(check(&[expected]).is_err());
    }
}
