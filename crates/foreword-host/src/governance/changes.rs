//! Accounting for what a turn changed among the files that run.
//!
//! A changed file that runs on its own is put back as it was, and the change waits for a person. One
//! that runs when called stays and is named, unless external content had entered the session: then it
//! is held like the first kind. The change is stored before the file is put back, so that a host that
//! dies in between loses nothing; the next one does it again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::PoisonError;

use foreword_store::{
    Event, FileVersion, HeldChangeId, MAX_HELD_BYTES, NewHeldChange, Outcome, SessionId, StoreError,
};
use foreword_workspace::{AutorunRule, Governed, Runs, SnapshotKind, TreeSnapshot};
use serde_json::json;

use crate::error::HostError;
use crate::governance::GovernanceError;
use crate::governance::before::{self, BeforeTurn, Old, Settled};
use crate::governance::file_version::{Found, WorkspaceFiles};
use crate::governance::quarantine::Mover;
use crate::host::Host;
use crate::turn::process_identity;
use crate::turn::report::{HeldFile, MovedFile, TurnChanges};
use crate::turn::warning::Warning;

/// Changes that are stored in one transaction, and their bytes.
const MAX_BATCH: usize = 100;
const MAX_BATCH_BYTES: usize = 8 << 20;
/// Names of files that the audit log keeps of one turn.
const MAX_LOGGED: usize = 50;
/// Reading, writing and entering a directory.
const OWNER_RIGHTS: u32 = 0o700;

impl Host {
    /// Puts back or names what a turn changed, and forgets its state. What could not be put back is a
    /// fault, and does not stop the rest.
    pub(crate) fn account_for(
        &self,
        before: &BeforeTurn,
        governed: Option<&Governed>,
        tainted: bool,
    ) -> Result<(TurnChanges, Vec<GovernanceError>), HostError> {
        let _lock = before::lock(&self.root)?;
        if !before.is_kept() {
            // Another host was faster.
            return Ok(Default::default());
        }
        let turn = before.turn();
        let now = before
            .tree()
            .take_again(&self.root, &turn.cwd)
            .map_err(|error| HostError::io(format!("look at {}", self.root.display()), error))?;
        let noted = self.note_written_files(before, &now, tainted);
        let place = format!("{}-{}", turn.session, turn.turn);
        let mut accounting = Accounting {
            host: self,
            before,
            settled: before.settled()?,
            session: SessionId::parse(&turn.session)?,
            files: WorkspaceFiles::new(&self.root),
            mover: Mover { root: &self.root, name: &place },
            tainted,
            batch: Vec::new(),
            changes: TurnChanges::default(),
            faults: Vec::new(),
        };
        accounting.all(&now, governed)?;
        noted?;
        let Accounting { mut changes, faults, .. } = accounting;
        changes.staged = before.newly_staged();
        if !changes.runs_when_called.is_empty() {
            let named = changes.runs_when_called.iter().take(MAX_LOGGED);
            let named: Vec<&str> = named.map(|file| file.path.as_str()).collect();
            let event = Event::new(&turn.agent, "change.keep", &turn.session, Outcome::Done);
            self.record(event.with_detail(json!({ "turn": turn.turn, "paths": named })));
        }
        before.forget();
        Ok((changes, faults))
    }

    /// Accounts for turns whose host was killed. What there is to say is said in the next turn.
    pub(crate) fn account_for_killed_turns(&self) {
        let (left, faults) = before::left_behind(&self.root, process_identity::is_alive);
        let mut said: Vec<Warning> = faults.iter().map(Warning::put_back_failed).collect();
        if !left.is_empty() {
            // A workspace with broken settings has no turns, but may have had one.
            let governed = self.workspace().ok().and_then(|workspace| workspace.governed().ok());
            for before in &left {
                match self.account_for_killed_turn(before, governed.as_ref()) {
                    Ok(warnings) => said.extend(warnings),
                    // Its state stays, for the next host.
                    Err(error) => said.push(Warning::PutBackFailed { reason: error.to_string() }),
                }
            }
        }
        self.pending_warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(said);
    }

    fn account_for_killed_turn(
        &self,
        before: &BeforeTurn,
        governed: Option<&Governed>,
    ) -> Result<Vec<Warning>, HostError> {
        let session = SessionId::parse(&before.turn().session)?;
        let tainted = self.totals(&session)?.is_tainted();
        let (changes, faults) = self.account_for(before, governed, tainted)?;
        let mut said = changes.warnings();
        if !said.is_empty() {
            let (session, turn) = (session.as_str().to_owned(), before.turn().turn);
            said.insert(0, Warning::KilledTurn { session, turn, held: changes.held.len() });
        }
        said.extend(faults.iter().map(Warning::put_back_failed));
        Ok(said)
    }
}

struct Pending {
    new: NewHeldChange,
    rule: &'static AutorunRule,
}

struct Accounting<'a> {
    host: &'a Host,
    before: &'a BeforeTurn,
    settled: BTreeMap<String, Settled>,
    session: SessionId,
    files: WorkspaceFiles<'a>,
    mover: Mover<'a>,
    tainted: bool,
    batch: Vec<Pending>,
    changes: TurnChanges,
    faults: Vec<GovernanceError>,
}

impl Accounting<'_> {
    fn all(&mut self, now: &TreeSnapshot, governed: Option<&Governed>) -> Result<(), HostError> {
        for directory in now.unlisted().chain(self.before.tree().unlisted()) {
            let shown = directory.to_string_lossy().into_owned();
            if !self.changes.unchecked.contains(&shown) {
                self.changes.unchecked.push(shown);
            }
        }
        self.changes.unchecked.sort();
        self.reopen_directories(now);
        let flooded: Vec<&str> = now.unlisted().filter_map(OsStr::to_str).collect();
        let flooded = flooded.into_iter().filter(|directory| is_own_directory(directory));
        let flooded: Vec<&str> = flooded.collect();
        for directory in &flooded {
            let done = self.set_aside(Path::new(directory)).and_then(|()| {
                let copied: Vec<&str> = self.before.copied_below(directory).collect();
                copied.into_iter().try_for_each(|path| self.restore(path))
            });
            self.faults.extend(done.err());
        }
        for (path, _) in now.changes_since(self.before.tree()) {
            self.changes.files += 1;
            let Some(rule) = self.before.rule(path, now.get(path)) else { continue };
            let name = path.to_string_lossy();
            let is_governed = governed.is_some_and(|governed| governed.group_of(&name).is_some());
            let is_done = flooded.iter().any(|directory| {
                name.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
            });
            if !is_governed && !is_done {
                self.one(path, rule)?;
            }
        }
        self.flush()
    }

    /// Gives directories back the permissions without which no next turn can start: a sandbox cannot mount
    /// what lies in a directory that its owner may not enter.
    fn reopen_directories(&mut self, now: &TreeSnapshot) {
        for (path, was) in self.before.tree().entries() {
            if was.kind != SnapshotKind::Directory {
                continue;
            }
            let is = now.get(path).filter(|is| is.kind == SnapshotKind::Directory);
            if is.is_some_and(|is| was.mode & !is.mode & OWNER_RIGHTS != 0) {
                self.faults.extend(self.mover.reopen(Path::new(path), was.mode).err());
            }
        }
    }

    fn one(&mut self, path: &OsStr, rule: &'static AutorunRule) -> Result<(), HostError> {
        let is_held = rule.runs == Runs::OnItsOwn || self.tainted;
        let Some(name) = path.to_str() else {
            // The database keeps texts only.
            match is_held {
                true => {
                    let done = self.set_aside(Path::new(path));
                    self.faults.extend(done.err());
                }
                false => self.changes.name(&path.to_string_lossy(), rule),
            }
            return Ok(());
        };
        let mut found = self.read(name);
        if matches!(found, Ok((Found::Blocked { .. }, _))) && !self.batch.is_empty() {
            // What is in the way may be about to go.
            self.flush()?;
            found = self.read(name);
        }
        match found {
            Err(fault) => self.faults.push(fault),
            Ok((Found::Version(now), Old::Known(old))) if now == old => {}
            Ok(_) if !is_held => self.changes.name(name, rule),
            Ok((_, Old::Unknown)) => self.changes.not_held.push(name.to_owned()),
            Ok((Found::Version(new), Old::Known(old))) => self.hold(name, rule, old, new)?,
            Ok((in_the_way, Old::Known(_))) => {
                let at = match &in_the_way {
                    Found::Blocked { by } => by.as_path(),
                    _ => Path::new(name),
                };
                let done = self.set_aside(at).and_then(|()| self.restore(name));
                self.faults.extend(done.err());
            }
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<(Found, Old), GovernanceError> {
        let found = self.files.read(Path::new(name), MAX_HELD_BYTES)?;
        Ok((found, self.before.old(name, &self.settled)?))
    }

    fn hold(
        &mut self,
        path: &str,
        rule: &'static AutorunRule,
        old: FileVersion,
        new: FileVersion,
    ) -> Result<(), HostError> {
        let turn = self.before.turn();
        let new = NewHeldChange {
            path: path.to_owned(),
            read_by: rule.by.to_owned(),
            tainted: self.tainted,
            session: self.session.clone(),
            turn: turn.turn,
            by: turn.agent.clone(),
            old,
            new,
        };
        self.batch.push(Pending { new, rule });
        let bytes: usize = self.batch.iter().map(|pending| size(&pending.new)).sum();
        if self.batch.len() >= MAX_BATCH || bytes >= MAX_BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Stores the changes of the batch, then puts the files back.
    fn flush(&mut self) -> Result<(), HostError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let (news, rules): (Vec<NewHeldChange>, Vec<&'static AutorunRule>) =
            batch.into_iter().map(|pending| (pending.new, pending.rule)).unzip();
        let now = self.host.now();
        let stored = self.host.writer.write(now, move |write| -> Result<_, StoreError> {
            let mut ids: Vec<Option<HeldChangeId>> = Vec::new();
            for new in &news {
                let id = match write.held_add(new, now) {
                    Ok(id) => Some(id),
                    Err(StoreError::TooMany { .. } | StoreError::TooLong { .. }) => None,
                    Err(error) => return Err(error),
                };
                let event =
                    Event::new(&new.by, "change.hold", new.session.as_str(), Outcome::Pending);
                let id_text = id.as_ref().map(HeldChangeId::as_str);
                write.audit(&event.with_detail(json!({
                    "turn": new.turn, "path": new.path, "change": id_text, "tainted": new.tainted,
                })))?;
                ids.push(id);
            }
            Ok((news, ids))
        });
        let (news, ids) = stored?;
        for ((new, rule), id) in news.into_iter().zip(rules).zip(ids) {
            let set_aside = match &id {
                Some(_) => Ok(()),
                None => self.set_aside(Path::new(&new.path)),
            };
            let done = set_aside.and_then(|()| self.put_back(&new.path, &new.old));
            self.faults.extend(done.err());
            if let Some(id) = id {
                let held =
                    HeldFile { id: id.to_string(), path: new.path, read_by: rule.by.to_owned() };
                self.changes.held.push(held);
            }
        }
        Ok(())
    }

    /// Moves what is at a path to quarantine.
    fn set_aside(&mut self, path: &Path) -> Result<(), GovernanceError> {
        if let Some(moved_to) = self.mover.quarantine(path)? {
            let path = path.to_string_lossy().into_owned();
            let turn = self.before.turn();
            let event =
                Event::new(&turn.agent, "change.quarantine", &turn.session, Outcome::Refused);
            self.host.record(event.with_detail(json!({ "path": path, "moved": moved_to })));
            self.changes.quarantined.push(MovedFile { path, moved_to });
        }
        Ok(())
    }

    fn restore(&mut self, path: &str) -> Result<(), GovernanceError> {
        match self.before.old(path, &self.settled)? {
            Old::Known(old) => self.put_back(path, &old),
            Old::Unknown => Ok(()),
        }
    }

    fn put_back(&self, path: &str, old: &FileVersion) -> Result<(), GovernanceError> {
        self.files.write(Path::new(path), old)?;
        if *old == FileVersion::Absent {
            // Directories that the agent made for it.
            let outer = Path::new(path).ancestors().skip(1);
            for outer in outer.filter(|outer| !outer.as_os_str().is_empty()) {
                let was_there = self.before.tree().get(outer.as_os_str()).is_some();
                if was_there || !self.files.remove_empty_directory(outer) {
                    break;
                }
            }
        }
        before::settle(&self.host.root, Some(self.before), path, old)
    }
}

fn is_own_directory(path: &str) -> bool {
    let rule = foreword_workspace::autorun_rule(path, false);
    rule.is_some_and(|rule| rule.runs == Runs::OnItsOwn)
}

fn size(change: &NewHeldChange) -> usize {
    let bytes = |version: &FileVersion| match version {
        FileVersion::Absent => 0,
        FileVersion::File { content, .. } => content.len(),
        FileVersion::Link { target } => target.len(),
    };
    bytes(&change.old) + bytes(&change.new)
}

#[cfg(test)]
#[path = "changes_tests.rs"]
mod tests;
