//! The directory of captures.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use foreword_workspace::Tree;

use super::record::{Capture, Line, RecordedCall};
use super::recorder::{CallSummary, Recorder, timestamp};
use crate::error::WatchError;
use crate::report::CaptureInfo;

/// The largest capture that is read.
const MAX_CAPTURE_BYTES: u64 = 2 << 30;
/// Files in the directory that are looked at.
const MAX_CAPTURES: usize = 100_000;
/// The longest line: a request and an answer with their escapes.
const MAX_LINE_BYTES: u64 = 1 << 30;
const SUFFIX: &str = ".jsonl";

/// A private directory with captures.
#[derive(Clone, Debug)]
pub struct CaptureStore {
    directory: PathBuf,
}

/// A capture in a list.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaptureEntry {
    #[serde(flatten)]
    pub info: CaptureInfo,
    pub calls: usize,
    pub bytes: u64,
    /// Whether the file cannot be read to its end.
    pub is_damaged: bool,
}

impl CaptureStore {
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, id: &str) -> Result<PathBuf, WatchError> {
        let is_id = !id.is_empty()
            && id.len() <= 64
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_id {
            return Err(WatchError::InvalidId { id: id.to_owned() });
        }
        Ok(self.directory.join(format!("{id}{SUFFIX}")))
    }

    /// Starts a capture. `random` makes its ID unique.
    pub fn create(
        &self,
        command: &[String],
        directory: &Path,
        random: [u8; 4],
        on_call: impl FnMut(&CallSummary) + Send + 'static,
    ) -> Result<(CaptureInfo, Arc<Recorder>), WatchError> {
        let failed =
            |source| WatchError::Io { action: "create", path: self.directory.clone(), source };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .map_err(failed)?;
        // The directory may have been there before, with other permissions.
        fs::set_permissions(&self.directory, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        let now = SystemTime::now();
        let started_at = timestamp(now);
        let digits: String = started_at.chars().filter(char::is_ascii_digit).take(14).collect();
        let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
        // Captures of one second sort by their milliseconds.
        let elapsed = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let random = u32::from_be_bytes(random) & 0xf_ffff;
        let unique = format!("{:03x}{random:05x}", elapsed.subsec_millis());
        let info = CaptureInfo {
            id: format!("{day}-{time}-{unique}"),
            started_at,
            command: command.iter().map(|word| foreword_guard::redact(word).text).collect(),
            directory: directory.display().to_string(),
            exit_code: None,
        };
        let path = self.path(&info.id)?;
        let recorder = Recorder::create(path, info.clone(), Box::new(on_call))?;
        Ok((info, recorder))
    }

    /// The IDs, the oldest first.
    pub fn ids(&self) -> Result<Vec<String>, WatchError> {
        if !self.directory.exists() {
            return Ok(Vec::new());
        }
        let listed = Tree::open(&self.directory).and_then(|tree| tree.list("", MAX_CAPTURES));
        let listed = listed.map_err(|error| self.unreadable(&error))?.unwrap_or_default();
        let mut ids: Vec<String> = listed
            .into_iter()
            .filter_map(|entry| entry.name.strip_suffix(SUFFIX).map(str::to_owned))
            .filter(|id| self.path(id).is_ok())
            .collect();
        ids.sort();
        Ok(ids)
    }

    fn unreadable(&self, error: &foreword_workspace::WorkspaceError) -> WatchError {
        WatchError::Io {
            action: "read",
            path: self.directory.clone(),
            source: std::io::Error::other(error.to_string()),
        }
    }

    /// The ID that a person means: one in full, the beginning of one, or the latest.
    pub fn resolve(&self, id: Option<&str>) -> Result<String, WatchError> {
        let ids = self.ids()?;
        let Some(id) = id else { return ids.into_iter().next_back().ok_or(WatchError::NoCaptures) };
        self.path(id)?;
        if ids.iter().any(|known| known == id) {
            return Ok(id.to_owned());
        }
        let is_meant = |known: &String| known.starts_with(id) || known.ends_with(id);
        let mut matching: Vec<String> = ids.into_iter().filter(is_meant).collect();
        match matching.len() {
            0 => Err(WatchError::UnknownCapture { id: id.to_owned() }),
            1 => Ok(matching.remove(0)),
            count => Err(WatchError::AmbiguousId { id: id.to_owned(), count }),
        }
    }

    /// All captures, the newest first.
    pub fn list(&self) -> Result<Vec<CaptureEntry>, WatchError> {
        let mut entries = Vec::new();
        for id in self.ids()?.into_iter().rev() {
            let bytes = fs::symlink_metadata(self.path(&id)?).map_or(0, |meta| meta.len());
            let (info, calls, is_damaged) = self.summary(&id)?.unwrap_or_else(|| {
                (CaptureInfo { id: id.clone(), ..CaptureInfo::default() }, 0, true)
            });
            entries.push(CaptureEntry { info, calls, bytes, is_damaged });
        }
        Ok(entries)
    }

    /// What a list says of a capture, line by line: what was started, how many calls there are, and whether
    /// any line is damaged. `None` if it cannot be read at all.
    fn summary(&self, id: &str) -> Result<Option<(CaptureInfo, usize, bool)>, WatchError> {
        #[derive(serde::Deserialize)]
        struct Kind<'l> {
            #[serde(borrow)]
            kind: std::borrow::Cow<'l, str>,
        }
        let tree = Tree::open(&self.directory).map_err(|error| self.unreadable(&error))?;
        let Ok(Some((file, _))) = tree.file(format!("{id}{SUFFIX}")) else { return Ok(None) };
        let (mut info, mut calls, mut is_damaged) = (None, 0, false);
        let mut lines = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            match lines.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(_) => return Ok(None),
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if info.is_none() {
                match serde_json::from_slice::<Line>(&line) {
                    Ok(Line::Capture { info: found, .. }) => info = Some(found),
                    _ => is_damaged = true,
                }
                continue;
            }
            match serde_json::from_slice::<Kind<'_>>(&line) {
                Ok(found) => calls += usize::from(found.kind == "call"),
                Err(_) => is_damaged = true,
            }
        }
        Ok(info.map(|info| (info, calls, is_damaged)))
    }

    /// Reads a capture. Lines that cannot be read are named in its damage; the others count.
    pub fn read(&self, id: &str) -> Result<Capture, WatchError> {
        let path = self.path(id)?;
        let unknown = || WatchError::UnknownCapture { id: id.to_owned() };
        let damaged = |reason: String| WatchError::Damaged { id: id.to_owned(), reason };
        let bytes = foreword_workspace::read_state(&path, MAX_CAPTURE_BYTES)
            .map_err(|error| damaged(error.to_string()))?
            .ok_or_else(unknown)?;
        let mut capture: Option<Capture> = None;
        let mut damage = Vec::new();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let line = match serde_json::from_slice::<Line>(line) {
                Ok(line) => line,
                Err(error) => {
                    damage.push(format!("line {} of the capture is damaged: {error}", at + 1));
                    continue;
                }
            };
            match (line, &mut capture) {
                (Line::Capture { info, .. }, None) => {
                    capture =
                        Some(Capture { info, calls: Vec::new(), others: 0, damage: Vec::new() });
                }
                (Line::Call(call), Some(capture)) => {
                    let earlier = |number: usize| {
                        let calls = capture.calls.iter().rev();
                        let mut calls = calls.filter(|call| call.facts.number == number);
                        calls.next().map(|call| call.request.as_str())
                    };
                    match call.request.restore(earlier) {
                        Some(request) => capture.calls.push(RecordedCall {
                            facts: call.facts,
                            request,
                            response: call.response.text,
                        }),
                        None => damage.push(format!(
                            "line {} of the capture cannot be read without an earlier one",
                            at + 1
                        )),
                    }
                }
                (Line::Other { .. }, Some(capture)) => capture.others += 1,
                (Line::End { exit_code, .. }, Some(capture)) => capture.info.exit_code = exit_code,
                (_, _) => damage.push(format!("line {} of the capture is out of place", at + 1)),
            }
        }
        let first = damage.first().cloned().unwrap_or_else(|| "the file is empty".to_owned());
        let mut capture = capture.ok_or_else(|| damaged(first))?;
        capture.damage = damage;
        Ok(capture)
    }

    /// Deletes a capture.
    pub fn remove(&self, id: &str) -> Result<(), WatchError> {
        let path = self.path(id)?;
        fs::remove_file(&path).map_err(|source| {
            if source.kind() == std::io::ErrorKind::NotFound {
                WatchError::UnknownCapture { id: id.to_owned() }
            } else {
                WatchError::Io { action: "delete", path, source }
            }
        })
    }

    /// Deletes the oldest captures, so that at most `keep` are left; gives how many were deleted. Those
    /// that another process is still writing or reporting on stay.
    pub fn prune(&self, keep: usize) -> Result<usize, WatchError> {
        let ids = self.ids()?;
        let surplus = ids.len().saturating_sub(keep);
        let mut deleted = 0;
        for id in ids.iter().take(surplus) {
            let in_use = fs::File::open(self.path(id)?)
                .is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)));
            if in_use {
                continue;
            }
            match self.remove(id) {
                Ok(()) => deleted += 1,
                // Another process deletes the same ones.
                Err(WatchError::UnknownCapture { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}
