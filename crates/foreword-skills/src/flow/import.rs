//! Skills a person brings: from a folder elsewhere, or their own edits in the directory of skills.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword_guard::{Finding, Policy, Screening, Verdict};
use foreword_store::{
    ChangeKind, Event, FileChange, NewProposal, Outcome, ProposalState, StoreError,
};
use foreword_workspace::is_beside_skills;
use serde::Serialize;
use serde_json::json;

use crate::diff::unified;
use crate::error::SkillError;
use crate::flow::apply::{Change, action, digest};
use crate::flow::propose::check_twins;
use crate::format::SkillDocument;
use crate::format::draft::draft;
use crate::format::name::SkillName;
use crate::git::git_store::{GitStore, skill_of};
use crate::git::repository::Repository;
use crate::git::work_tree::{DiskFile, WorkTree};
use crate::store::{Act, ProposalRequest};

/// What became of one skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportOutcome {
    /// Its name, or that of its folder.
    pub skill: String,
    /// What became of it.
    pub state: ImportState,
    /// What screening says; absent where it never came to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Why.
    pub reason: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The commit that holds it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The proposal that waits for a decision, or was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// What became of a skill that a person brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ImportState {
    /// A commit holds it.
    Committed,
    /// A proposal waits for a decision.
    Pending,
    /// Screening refuses it.
    Refused,
    /// It is no skill, or something is in its way.
    Failed,
    /// The history holds it already.
    Unchanged,
}

/// What the newest commit holds.
type Digests = BTreeMap<String, [u8; 32]>;
/// A skill's files, by path in the directory of skills.
type Files = BTreeMap<String, DiskFile>;

impl GitStore {
    /// Takes in a folder with a `SKILL.md`, or every skill of a folder of skills.
    ///
    /// Each skill is screened, and becomes a commit, a proposal, or a refusal of its own; `each` is told
    /// as it happens. Given the
    /// workspace's own directory of skills, a person's edits in it are taken in.
    pub fn import(
        &self,
        directory: &Path,
        act: &Act,
        each: &mut dyn FnMut(&ImportOutcome),
    ) -> Result<Vec<ImportOutcome>, SkillError> {
        if is_same(directory, &self.directory()) {
            return self.import_local_edits(&[], act, each);
        }
        let source = WorkTree::open(directory)?;
        let names = source.names()?;
        let single = names.iter().any(|name| name == "SKILL.md");
        let change = self.begin(act)?;
        let mut taken = Vec::new();
        if single {
            let shown = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
            let folder = shown.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            taken.push(import_one(&change, &source, &names, None, folder, act)?);
            taken.iter().for_each(&mut *each);
        } else {
            for name in names.iter().filter(|name| !name.starts_with('.')) {
                let folder = name.strip_suffix(".md").unwrap_or(name);
                if folder != name && is_beside_skills(name) {
                    continue;
                }
                match source.read(&format!("{name}/SKILL.md")) {
                    Ok(None) if folder == name => continue,
                    Err(SkillError::NotAFile { .. }) if folder == name => continue,
                    _ => {}
                }
                let one = import_one(&change, &source, &[], Some(name), folder, act)?;
                each(&one);
                taken.push(one);
            }
        }
        if taken.is_empty() {
            let what = directory.display().to_string();
            return Err(SkillError::NothingToImport { what });
        }
        Ok(taken)
    }

    /// Takes in a person's own edits in the directory of skills: of the skills named, or of all.
    pub fn import_local_edits(
        &self,
        names: &[String],
        act: &Act,
        each: &mut dyn FnMut(&ImportOutcome),
    ) -> Result<Vec<ImportOutcome>, SkillError> {
        let change = self.begin(act)?;
        let tracked = change.tracked_digests()?;
        let mut taken = Vec::new();
        for (skill, tops) in chosen(&change.work_tree, &tracked, names)? {
            let one = match local_changes(&change.work_tree, &skill, &tops, &tracked) {
                Ok(None) => continue,
                Ok(Some(changes)) => finish(&change, &skill, ChangeKind::LocalEdits, changes, act)?,
                Err(error) => failed(&change, &skill, ChangeKind::LocalEdits, &error, act)?,
            };
            each(&one);
            taken.push(one);
        }
        for name in names {
            if !taken.iter().any(|taken: &ImportOutcome| taken.skill == *name) {
                let one = ImportOutcome::new(name, ImportState::Unchanged, "already committed");
                each(&one);
                taken.push(one);
            }
        }
        Ok(taken)
    }

    /// What taking in a person's own edits would put into the history, as a diff.
    pub fn local_diff(&self, names: &[String]) -> Result<String, SkillError> {
        let approvals = self.approvals()?;
        let work_tree = self.work_tree()?;
        let repository = Repository::open(&self.private.repository())?;
        let mut out = String::new();
        for (skill, tops) in chosen(&work_tree, &approvals.digests(), names)? {
            // What cannot be read is said when it is taken in.
            let changes = local_changes(&work_tree, &skill, &tops, &approvals.digests());
            for file in changes.ok().flatten().unwrap_or_default() {
                let old = match (&repository, approvals.blob(&file.path)) {
                    (Some(repository), Some(blob)) => Some(repository.read_by_id(blob)?),
                    _ => None,
                };
                let shown = work_tree.show(&file.path);
                out.push_str(&unified(&shown, old.as_deref(), file.content.as_deref()));
            }
        }
        Ok(out)
    }
}

/// The skills to look at, by name, each with its names at the top of the directory of skills.
fn chosen(
    work_tree: &WorkTree,
    tracked: &Digests,
    names: &[String],
) -> Result<BTreeMap<String, BTreeSet<String>>, SkillError> {
    let mut tops: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let on_disk = work_tree.names()?;
    let on_disk = on_disk.iter().map(String::as_str).filter(|name| !name.starts_with('.'));
    let in_history = tracked.keys().map(|path| path.split('/').next().unwrap_or(path));
    for top in on_disk.chain(in_history) {
        if !is_beside_skills(top) {
            tops.entry(skill_of(top).to_owned()).or_default().insert(top.to_owned());
        }
    }
    for name in names {
        if !tops.contains_key(name) {
            let known = tops.keys().map(String::as_str);
            let nearest = foreword::nearest(name, known).map(str::to_owned);
            return Err(SkillError::NoSuchSkill { name: name.clone(), nearest });
        }
    }
    tops.retain(|skill, _| names.is_empty() || names.contains(skill));
    Ok(tops)
}

impl ImportOutcome {
    fn new(skill: &str, state: ImportState, reason: impl Into<String>) -> Self {
        Self {
            skill: skill.to_owned(),
            state,
            verdict: None,
            reason: reason.into(),
            findings: Vec::new(),
            commit: None,
            id: None,
        }
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

fn import_one(
    change: &Change<'_>,
    source: &WorkTree,
    names: &[String],
    top: Option<&str>,
    folder: &str,
    act: &Act,
) -> Result<ImportOutcome, SkillError> {
    let brought = collect(source, names, top).and_then(|files| named(files, folder));
    let (name, files) = match brought {
        Ok(brought) => brought,
        Err(error) => return failed(change, folder, ChangeKind::Import, &error, act),
    };
    let skill = name.as_str();
    let result = check_twins(change, &name).and_then(|()| {
        let mut changes = changes(change, &format!("{skill}/"), &files)?;
        let flat = format!("{skill}.md");
        if let Some(found) = change.work_tree.read(&flat)? {
            let base = Some(digest(&found.content));
            changes.push(FileChange { path: flat, content: None, executable: false, base });
        }
        match change.local_change(&changes)? {
            Some(path) => Err(SkillError::LocalChanges { path: change.work_tree.show(&path) }),
            None => Ok(changes),
        }
    });
    match result {
        Ok(changes) => finish(change, skill, ChangeKind::Import, changes, act),
        Err(error) => failed(change, skill, ChangeKind::Import, &error, act),
    }
}

/// The files of a skill's folder, or the one file of a flat skill, by path below its folder.
fn collect(
    source: &WorkTree,
    names: &[String],
    top: Option<&str>,
) -> Result<BTreeMap<String, DiskFile>, SkillError> {
    let mut files = BTreeMap::new();
    match top {
        Some(flat) if flat.ends_with(".md") => {
            for (_, file) in source.files(flat)? {
                files.insert("SKILL.md".to_owned(), file);
            }
        }
        Some(folder) => {
            for (path, file) in source.files(folder)? {
                let below = path.split_once('/').map_or(path.as_str(), |(_, rest)| rest);
                files.insert(below.to_owned(), file);
            }
        }
        None => {
            for name in names.iter().filter(|name| !name.starts_with('.')) {
                files.extend(source.files(name)?);
            }
        }
    }
    Ok(files)
}

/// Names a skill by its header or its folder, and completes its header.
fn named(files: Files, folder: &str) -> Result<(SkillName, Files), SkillError> {
    let missing = || SkillError::Empty { path: format!("{folder}/SKILL.md") };
    let main = files.get("SKILL.md").ok_or_else(missing)?;
    let path = format!("{folder}/SKILL.md");
    let content = String::from_utf8(main.content.clone())
        .map_err(|_| SkillError::NotText { path: path.clone() })?;
    let request = ProposalRequest { file: Some(path), content, ..ProposalRequest::default() };
    let draft = draft(&request)?;
    let mut renamed = BTreeMap::new();
    for (path, mut file) in files {
        if path == "SKILL.md" {
            file.content = draft.content.clone().into_bytes();
            file.executable = false;
        }
        renamed.insert(format!("{}/{path}", draft.name.as_str()), file);
    }
    Ok((draft.name, renamed))
}

/// What has to change below a folder so that it holds just these files.
fn changes(change: &Change<'_>, below: &str, files: &Files) -> Result<Vec<FileChange>, SkillError> {
    let mut out = Vec::new();
    let tracked = change.tracked_digests()?;
    for (path, file) in files {
        let disk = change.work_tree.read(path)?.map(|found| digest(&found.content));
        let new = digest(&file.content);
        if disk == Some(new) && tracked.get(path) == Some(&new) {
            continue;
        }
        out.push(FileChange {
            path: path.clone(),
            content: Some(file.content.clone()),
            executable: file.executable,
            base: disk,
        });
    }
    for (path, known) in tracked.range(below.to_owned()..) {
        if !path.starts_with(below) {
            break;
        }
        if !files.contains_key(path) {
            let base = Some(*known);
            out.push(FileChange { path: path.clone(), content: None, executable: false, base });
        }
    }
    Ok(out)
}

/// What a person changed in one skill since the newest commit; `None` if nothing.
fn local_changes(
    work_tree: &WorkTree,
    skill: &str,
    tops: &BTreeSet<String>,
    tracked: &Digests,
) -> Result<Option<Vec<FileChange>>, SkillError> {
    let mut files = BTreeMap::new();
    for top in tops {
        files.extend(work_tree.files(top)?);
    }
    let is_skill = files.keys().any(|path| path.ends_with("/SKILL.md") || is_flat(path));
    let known = || tracked.iter().filter(|(path, _)| skill_of(path) == skill);
    if !is_skill && known().next().is_none() {
        return Ok(None); // A folder that lies beside the skills.
    }
    let mut changes = Vec::new();
    for (path, file) in &files {
        let new = digest(&file.content);
        if tracked.get(path) != Some(&new) {
            changes.push(FileChange {
                path: path.clone(),
                content: Some(file.content.clone()),
                executable: file.executable,
                base: Some(new),
            });
        }
    }
    for (path, _) in known().filter(|(path, _)| !files.contains_key(*path)) {
        let path = path.clone();
        changes.push(FileChange { path, content: None, executable: false, base: None });
    }
    Ok(Some(changes).filter(|changes| !changes.is_empty()))
}

/// A skill's own file is a text with something in it.
fn check_texts(work_tree: &WorkTree, changes: &[FileChange]) -> Result<(), SkillError> {
    for FileChange { path, content, .. } in changes {
        let Some(content) = content else { continue };
        if !path.ends_with("/SKILL.md") && !is_flat(path) {
            continue;
        }
        match std::str::from_utf8(content) {
            Ok(text) if text.trim().is_empty() => {
                return Err(SkillError::Empty { path: work_tree.show(path) });
            }
            Ok(text) if !text.contains('\0') => {}
            _ => return Err(SkillError::NotText { path: work_tree.show(path) }),
        }
    }
    Ok(())
}

fn is_flat(path: &str) -> bool {
    !path.contains('/') && path.ends_with(".md")
}

/// Screens what a person brings, and commits it, keeps it for a decision, or refuses it.
fn finish(
    change: &Change<'_>,
    skill: &str,
    kind: ChangeKind,
    changes: Vec<FileChange>,
    act: &Act,
) -> Result<ImportOutcome, SkillError> {
    if changes.is_empty() {
        return Ok(ImportOutcome::new(skill, ImportState::Unchanged, "already committed"));
    }
    let screening = screen(change, &changes);
    if screening.verdict != Verdict::Reject
        && let Err(error) = check_texts(&change.work_tree, &changes)
    {
        return failed(change, skill, kind, &error, act);
    }
    let main = changes.iter().find(|file| file.path.ends_with("SKILL.md")).or(changes.first());
    let mut proposal = NewProposal {
        kind,
        skill: skill.to_owned(),
        path: main.map(|file| file.path.clone()).unwrap_or_default(),
        reverts: None,
        files: changes,
        reason: None,
        proposed_by: act.by.clone(),
        verdict: screening.verdict.as_str().to_owned(),
        findings_json: serde_json::to_string(&screening.findings).unwrap_or_default(),
        policy: "import".to_owned(),
        state: ProposalState::Intent,
    };
    let mut taken = ImportOutcome::new(skill, ImportState::Committed, &screening.reason);
    match (screening.verdict, kind) {
        (Verdict::Reject, _) => {
            taken.state = ImportState::Refused;
            let detail = json!({ "verdict": "REJECT", "reason": screening.reason });
            let event = Event::new(&act.by, action(kind), skill, Outcome::Refused);
            change.audit(|_| Ok(event.with_detail(detail)), act)?;
        }
        (Verdict::NeedsReview, ChangeKind::Import) => {
            taken.state = ImportState::Pending;
            proposal.state = ProposalState::Pending;
            let id = change.database.write(act.at, |w| -> Result<_, StoreError> {
                let id = w.insert_proposal(&proposal)?;
                let detail = json!({ "id": id.as_str(), "reason": screening.reason });
                let event = Event::new(&act.by, action(kind), skill, Outcome::Pending);
                w.audit(&event.with_detail(detail))?;
                Ok(id)
            })?;
            taken.id = Some(id.to_string());
        }
        // A person's own text, which the person asks to be taken in: this is the review.
        (Verdict::NeedsReview | Verdict::AutoApprove, _) => {
            let committed = change.store_and_apply(&proposal, act)?;
            taken.commit = Some(committed.commit);
            taken.id = Some(committed.id);
        }
    }
    taken.verdict = Some(screening.verdict);
    taken.findings = screening.findings;
    Ok(taken)
}

fn screen(change: &Change<'_>, changes: &[FileChange]) -> Screening {
    let mut findings = Vec::new();
    for file in changes {
        let Some(content) = &file.content else { continue };
        let text = String::from_utf8_lossy(content);
        let permissions = SkillDocument::parse(&text, None).allowed_tools;
        let mut found =
            change.store.options.screeners.screen(Policy::Import, &text, &permissions).findings;
        if let Cow::Owned(_) = text {
            // Bytes that are no text are a reason to look, not a way past the screeners. What the
            // rest of a picture looks like is none, unless it is something to refuse.
            found.retain(|finding| finding.verdict == Verdict::Reject);
            found.push(not_text());
        }
        let prefix = if file.path.ends_with("SKILL.md") {
            String::new()
        } else {
            format!("{}: ", file.path)
        };
        findings.extend(found.into_iter().map(|mut finding| {
            finding.message = format!("{prefix}{}", finding.message);
            finding
        }));
    }
    Screening::of(findings)
}

fn not_text() -> Finding {
    Finding {
        rule: "not-text".into(),
        verdict: Verdict::NeedsReview,
        line: 1,
        excerpt: String::new(),
        message: "is not UTF-8 text; only the readable part was screened".into(),
    }
}

fn failed(
    change: &Change<'_>,
    skill: &str,
    kind: ChangeKind,
    error: &SkillError,
    act: &Act,
) -> Result<ImportOutcome, SkillError> {
    let detail = json!({ "reason": error.to_string() });
    let event = Event::new(&act.by, action(kind), skill, Outcome::Refused).with_detail(detail);
    change.audit(|_| Ok(event), act)?;
    let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
    Ok(ImportOutcome::new(skill, ImportState::Failed, format!("{error}{hint}")))
}
