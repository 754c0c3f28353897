//! Giving up rights with Landlock, before a process becomes the program.
//!
//! Landlock grants and cannot subtract: a right on a directory holds for all below it. So the right to
//! write is given entry by entry wherever something in a directory is governed or private. In such a
//! directory, which the workspace itself always is, what exists can be changed, and nothing can be
//! created, removed or renamed; directories without anything governed have no such limit.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::error::SandboxError;
use crate::launcher::supervise::die_with_whoever;
use crate::launcher::{Confinement, failed};
use crate::system::{self, Part};

/// Entries of the workspace that get a rule of their own.
const MAX_RULES: usize = 20_000;

const DEVICES: [&str; 7] = ["full", "null", "ptmx", "random", "tty", "urandom", "zero"];

/// The newest ABI of Landlock whose rights this crate uses and the kernel has; 0 for none.
pub(crate) fn landlock_level() -> u8 {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let fs = |abi| strict().handle_access(AccessFs::from_all(abi)).is_ok();
    let checks: [(u8, &dyn Fn() -> bool); 7] = [
        (9, &|| fs(ABI::V9)),
        (6, &|| strict().scope(Scope::from_all(ABI::V6)).is_ok()),
        (5, &|| fs(ABI::V5)),
        (4, &|| strict().handle_access(AccessNet::from_all(ABI::V4)).is_ok()),
        (3, &|| fs(ABI::V3)),
        (2, &|| fs(ABI::V2)),
        (1, &|| fs(ABI::V1)),
    ];
    checks.iter().find(|(_, works)| works()).map_or(0, |(level, _)| *level)
}

fn abi(level: u8) -> ABI {
    match level {
        0 => ABI::Unsupported,
        1 => ABI::V1,
        2 => ABI::V2,
        3 => ABI::V3,
        4 => ABI::V4,
        5 => ABI::V5,
        6..=8 => ABI::V6,
        _ => ABI::V9,
    }
}

/// Drops every right that is not in the confinement, for this process and its children.
pub(crate) fn confine(to: &Confinement) -> Result<(), SandboxError> {
    die_with_whoever()?;
    make_private(&to.temporary)?;
    make_private(&to.temporary.join("home"))?;
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| failed(&format!("cannot give up new privileges: {error}")))?;
    if to.landlock == 0 {
        return give_up_capabilities();
    }
    let grants = Grants { to, abi: abi(to.landlock), ruleset: ruleset(to)?, rules: 0 };
    let status = grants.all()?.restrict_self().map_err(|error| failed(&error.to_string()))?;
    if status.ruleset != RulesetStatus::FullyEnforced {
        return Err(failed("Landlock did not apply all rules"));
    }
    give_up_capabilities()
}

/// Root has rights that no Landlock takes away, such as reading the memory of others to measure them.
fn give_up_capabilities() -> Result<(), SandboxError> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets)
        .map_err(|error| failed(&format!("cannot give up capabilities: {error}")))
}

fn ruleset(to: &Confinement) -> Result<RulesetCreated, SandboxError> {
    let refused = |error: landlock::RulesetError| failed(&format!("Landlock: {error}"));
    let abi = abi(to.landlock);
    let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset = ruleset.handle_access(AccessFs::from_all(abi)).map_err(refused)?;
    if to.landlock >= 4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi)).map_err(refused)?;
    }
    if to.landlock >= 6 {
        ruleset = ruleset.scope(Scope::from_all(abi)).map_err(refused)?;
    }
    ruleset.create().map_err(refused)
}

struct Grants<'a> {
    to: &'a Confinement,
    abi: ABI,
    ruleset: RulesetCreated,
    rules: usize,
}

impl Grants<'_> {
    fn all(mut self) -> Result<RulesetCreated, SandboxError> {
        let (read, write) = (self.read(), self.write());
        for part in system::parts() {
            let (Part::Tree(path) | Part::Link { at: path, .. }) = part;
            self.follow(&path, read)?;
        }
        self.follow(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)?;
        let device = AccessFs::ReadFile | AccessFs::WriteFile | self.device();
        for path in DEVICES.map(|name| Path::new("/dev").join(name)) {
            if path.exists() {
                self.follow(&path, device)?;
            }
        }
        if Path::new("/dev/pts").exists() {
            self.follow(Path::new("/dev/pts"), device)?;
        }
        for path in &self.to.read_only {
            self.follow(path, read)?;
        }
        self.follow(&self.to.run_dir, AccessFs::ReadFile | AccessFs::ReadDir | self.sockets())?;
        self.follow(&self.to.temporary, read | write)?;
        self.workspace()?;
        if self.to.landlock >= 4 {
            for port in &self.to.ports {
                let rule = NetPort::new(*port, AccessNet::from_all(self.abi));
                let added = self.ruleset.add_rule(rule);
                self.ruleset = added.map_err(|error| failed(&error.to_string()))?;
            }
        }
        Ok(self.ruleset)
    }

    fn workspace(&mut self) -> Result<(), SandboxError> {
        let to = self.to;
        let governed: BTreeSet<&PathBuf> = to.governed.iter().collect();
        let private: BTreeSet<&PathBuf> = to.private.iter().collect();
        let closed: BTreeSet<&PathBuf> = governed.union(&private).copied().collect();
        let mut directories = vec![to.workspace.clone()];
        while let Some(directory) = directories.pop() {
            if private.contains(&directory) {
                continue;
            }
            if governed.contains(&directory) {
                self.grant(&directory, self.read())?;
                continue;
            }
            // In the order of paths, what lies below a directory comes right after it.
            let next = closed.range::<&PathBuf, _>(&directory..).next();
            if !next.is_some_and(|path| path.starts_with(&directory)) {
                let access = if to.writable { self.read() | self.write() } else { self.read() };
                self.grant(&directory, access)?;
                continue;
            }
            self.grant(&directory, AccessFs::ReadDir.into())?;
            let io = |source| SandboxError::Io { path: directory.clone(), source };
            for entry in fs::read_dir(&directory).map_err(io)? {
                let entry = entry.map_err(io)?;
                let kind = entry.file_type().map_err(io)?;
                let path = entry.path();
                if kind.is_dir() {
                    directories.push(path);
                } else if kind.is_file() && !private.contains(&path) {
                    let write = to.writable && !governed.contains(&path);
                    self.grant(
                        &path,
                        if write { self.read() | self.write() } else { self.read() },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// A rule for a path that a person or this crate named; links in it are followed.
    fn follow(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), SandboxError> {
        let found = fs::canonicalize(path)
            .map_err(|source| SandboxError::Io { path: path.to_path_buf(), source })?;
        self.grant(&found, access)
    }

    /// A rule for a path that must not be a link; rights that do not apply to a file are left out.
    fn grant(&mut self, path: &Path, access: BitFlags<AccessFs>) -> Result<(), SandboxError> {
        self.rules += 1;
        if self.rules > MAX_RULES {
            return Err(SandboxError::TooMany {
                what: "entries beside governed files",
                most: MAX_RULES,
            });
        }
        let io = |error: rustix::io::Errno| SandboxError::Io {
            path: path.to_path_buf(),
            source: error.into(),
        };
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd: OwnedFd = rustix::fs::open(path, flags, Mode::empty()).map_err(io)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd).map_err(io)?.st_mode);
        let access = match kind {
            FileType::Directory => access,
            FileType::Symlink => return Ok(()),
            _ => access & AccessFs::from_file(self.abi),
        };
        let added = (&mut self.ruleset).add_rule(PathBeneath::new(fd, access));
        added.map(|_| ()).map_err(|error| failed(&format!("{}: {error}", path.display())))
    }

    fn read(&self) -> BitFlags<AccessFs> {
        AccessFs::from_read(self.abi)
    }

    /// Everything but devices: a node made by root would be the disk itself.
    fn write(&self) -> BitFlags<AccessFs> {
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock | self.device();
        AccessFs::from_write(self.abi) & !devices
    }

    fn device(&self) -> BitFlags<AccessFs> {
        AccessFs::from_all(self.abi) & AccessFs::IoctlDev
    }

    fn sockets(&self) -> BitFlags<AccessFs> {
        AccessFs::from_all(self.abi) & AccessFs::ResolveUnix
    }
}

fn make_private(path: &Path) -> Result<(), SandboxError> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(SandboxError::Io { path: path.to_path_buf(), source }),
    }
}
