//! Skills a person brings: from a folder elsewhere, or their own edits in the directory of skills.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foreword::visible_line;
use foreword_guard::{Capabilities, Finding, Verdict};
use foreword_store::{
    ChangeKind, Event, FileChange, NewProposal, Outcome, ProposalState, StoreError,
};
use foreword_workspace::is_beside_skills;
use serde::Serialize;
use serde_json::json;

use crate::diff::unified;
use crate::error::SkillError;
use crate::flow::apply::{Change, action, digest};
use crate::flow::capabilities::recorded;
use crate::flow::import_files::{
    Digests, changes, check_texts, collect, local_changes, named, screen_import,
};
use crate::flow::propose::check_twins;
use crate::git::git_store::{GitStore, skill_of};
use crate::git::repository::Repository;
use crate::git::work_tree::WorkTree;
use crate::store::Act;

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
    /// What its code can do.
    #[serde(skip_serializing_if = "Capabilities::is_empty")]
    pub capabilities: Capabilities,
    /// The commit that holds it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The proposal that waits for a decision, or was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What its header called it before its name was made to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
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
        self.import_from(directory, None, act, each)
    }

    /// Takes in a folder for a person to review, whatever screening says of it.
    ///
    /// For a person at the command line only: no agent reaches this. The reason is recorded, the findings
    /// stay with the proposal, and approving it shows them.
    pub fn resubmit(
        &self,
        directory: &Path,
        reason: &str,
        act: &Act,
        each: &mut dyn FnMut(&ImportOutcome),
    ) -> Result<Vec<ImportOutcome>, SkillError> {
        self.import_from(directory, Some(reason), act, each)
    }

    fn import_from(
        &self,
        directory: &Path,
        resubmitted: Option<&str>,
        act: &Act,
        each: &mut dyn FnMut(&ImportOutcome),
    ) -> Result<Vec<ImportOutcome>, SkillError> {
        if is_same(directory, &self.directory()) {
            return self.import_local_edits(&[], act, each);
        }
        let source = WorkTree::open(directory)?;
        let names = source.names()?;
        let single = names.iter().any(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let change = self.begin(act)?;
        let mut taken = Vec::new();
        let mut used = BTreeSet::new();
        if single {
            let shown = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
            let folder = shown.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let mut import =
                Import { change: &change, source: &source, used: &mut used, resubmitted };
            taken.push(import.one(&names, None, folder, act)?);
            taken.iter().for_each(&mut *each);
        } else {
            for name in names.iter().filter(|name| !name.starts_with('.')) {
                let folder = name.strip_suffix(".md").unwrap_or(name);
                if folder != name && is_beside_skills(name) {
                    continue;
                }
                if folder == name && !has_skill_file(&source, name) {
                    continue;
                }
                let mut import =
                    Import { change: &change, source: &source, used: &mut used, resubmitted };
                let one = import.one(&[], Some(name), folder, act)?;
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
                Ok(Some(changes)) => {
                    finish(&change, &skill, ChangeKind::LocalEdits, changes, &Why::default(), act)?
                }
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
            capabilities: Capabilities::default(),
            commit: None,
            id: None,
            renamed_from: None,
        }
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// One run of importing.
struct Import<'a, 'c> {
    change: &'a Change<'c>,
    source: &'a WorkTree,
    /// Names that skills of this run have.
    used: &'a mut BTreeSet<String>,
    /// Why a person brings it although screening may refuse it.
    resubmitted: Option<&'a str>,
}

impl Import<'_, '_> {
    fn one(
        &mut self,
        names: &[String],
        top: Option<&str>,
        folder: &str,
        act: &Act,
    ) -> Result<ImportOutcome, SkillError> {
        let change = self.change;
        let brought =
            collect(self.source, names, top).and_then(|files| named(files, folder, self.used));
        let (draft, files) = match brought {
            Ok(brought) => brought,
            Err(error) => return failed(change, folder, ChangeKind::Import, &error, act),
        };
        let skill = draft.name.as_str();
        let result = check_twins(change, &draft.name).and_then(|()| {
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
        let renamed_from = draft.renamed_from.clone();
        let renamed = renamed_from
            .as_deref()
            .map(|name| format!("its header names it `{}`", visible_line(name)));
        let mut outcome = match result {
            Ok(changes) => {
                let why = Why { resubmitted: self.resubmitted, renamed };
                finish(change, skill, ChangeKind::Import, changes, &why, act)?
            }
            Err(error) => failed(change, skill, ChangeKind::Import, &error, act)?,
        };
        outcome.renamed_from = renamed_from;
        Ok(outcome)
    }
}

/// What is recorded with what a person brings.
#[derive(Default)]
struct Why<'a> {
    resubmitted: Option<&'a str>,
    renamed: Option<String>,
}

/// Whether a folder holds a skill, in whatever case its file is written.
fn has_skill_file(source: &WorkTree, folder: &str) -> bool {
    ["SKILL.md", "skill.md", "Skill.md"].iter().any(|name| {
        !matches!(
            source.read(&format!("{folder}/{name}")),
            Ok(None) | Err(SkillError::NotAFile { .. })
        )
    })
}

/// Screens what a person brings, and commits it, keeps it for a decision, or refuses it.
fn finish(
    change: &Change<'_>,
    skill: &str,
    kind: ChangeKind,
    changes: Vec<FileChange>,
    why: &Why<'_>,
    act: &Act,
) -> Result<ImportOutcome, SkillError> {
    if changes.is_empty() {
        return Ok(ImportOutcome::new(skill, ImportState::Unchanged, "already committed"));
    }
    let screening = screen_import(change, skill, &changes);
    if screening.verdict != Verdict::Reject
        && let Err(error) = check_texts(&change.work_tree, &changes)
    {
        return failed(change, skill, kind, &error, act);
    }
    let main = changes.iter().find(|file| file.path.ends_with("SKILL.md")).or(changes.first());
    let parts = [why.resubmitted.map(str::to_owned), why.renamed.clone()];
    let reason = Some(parts.into_iter().flatten().collect::<Vec<_>>().join("; "));
    let reason = reason.filter(|reason| !reason.is_empty());
    let resubmitted = why.resubmitted.is_some() && screening.verdict == Verdict::Reject;
    let mut proposal = NewProposal {
        kind,
        skill: skill.to_owned(),
        path: main.map(|file| file.path.clone()).unwrap_or_default(),
        reverts: None,
        files: changes,
        reason: reason.clone(),
        proposed_by: act.by.clone(),
        verdict: screening.verdict.as_str().to_owned(),
        findings_json: recorded(&screening),
        policy: if resubmitted { RESUBMITTED } else { "import" }.to_owned(),
        state: ProposalState::Intent,
    };
    let mut taken = ImportOutcome::new(skill, ImportState::Committed, &screening.reason);
    match (screening.verdict, kind) {
        (Verdict::Reject, _) if !resubmitted => {
            taken.state = ImportState::Refused;
            let detail = json!({ "verdict": "REJECT", "reason": screening.reason });
            let event = Event::new(&act.by, action(kind), skill, Outcome::Refused);
            change.audit(|_| Ok(event.with_detail(detail)), act)?;
        }
        (Verdict::Reject, _) | (Verdict::NeedsReview, ChangeKind::Import) => {
            taken.state = ImportState::Pending;
            proposal.state = ProposalState::Pending;
            if let Some(id) = change.same_pending(&proposal)? {
                taken.id = Some(id.to_string());
                taken.verdict = Some(screening.verdict);
                return Ok(taken);
            }
            let id = change.database.write(act.at, |w| -> Result<_, StoreError> {
                let id = w.insert_proposal(&proposal)?;
                let detail = json!({
                    "id": id.as_str(), "reason": screening.reason, "why": reason,
                    "verdict": screening.verdict.as_str(), "policy": proposal.policy,
                });
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
    taken.capabilities = screening.capabilities;
    Ok(taken)
}

/// The policy of a proposal that a person brought back after a refusal.
pub(crate) const RESUBMITTED: &str = "resubmitted";

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
