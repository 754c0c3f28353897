//! Proposing a skill: gate, name, screen; then refuse it, keep it for a person, or take it in.

use foreword::SCREENING;
use foreword_guard::{Finding, Policy, Screening, Verdict};
use foreword_store::{
    ChangeKind, Event, FileChange, NewProposal, Outcome, ProposalId, ProposalState, StoreError,
    TAINTED_SESSION,
};
use serde_json::json;

use crate::error::SkillError;
use crate::flow::apply::{Change, digest};
use crate::flow::capabilities::recorded;
use crate::flow::import_files::screen_change;
use crate::format::draft::{Draft, draft, name_of_file};
use crate::format::name::SkillName;
use crate::git::git_store::GitStore;
use crate::listing::ListedSkill;
use crate::store::{Act, ProposalRequest, ProposalResult};

/// How many findings go into the audit log; all of them are in the result.
const AUDITED_FINDINGS: usize = 20;

pub(crate) fn propose(
    store: &GitStore,
    request: &ProposalRequest,
    act: &Act,
) -> Result<ProposalResult, SkillError> {
    let drafted = request.taint.check().and_then(|()| draft(request));
    let drafted = match drafted {
        Ok(drafted) => drafted,
        Err(error) => return Err(refused(store, request, error, act)),
    };
    let screeners = &store.options.screeners;
    let brought = drafted.all_files();
    let screening = screeners.screen_skill(Policy::Agent, &brought, None);
    // Asked before the lock is taken: a model may take its time.
    let screening = screeners.with_opinion(screening, &brought);
    let mut screening = screening.with(drafted.remarks.iter().cloned());
    if screening.verdict == Verdict::Reject {
        let result = reject(store, request, &drafted, screening, act)?;
        return Ok(as_written(result, request, &drafted));
    }
    let change = store.begin(act)?;
    if has_other_files(&change, &drafted)? {
        let files = files(&change, &drafted)?;
        let whole = screen_change(&change, drafted.name.as_str(), &files, Policy::Agent);
        screening = screening.and(whole);
        if screening.verdict == Verdict::Reject {
            drop(change);
            let result = reject(store, request, &drafted, screening, act)?;
            return Ok(as_written(result, request, &drafted));
        }
    }
    match settle(&change, request, &drafted, screening, act) {
        Ok(result) => Ok(as_written(result, request, &drafted)),
        // What was stored before it failed has its own entry.
        Err(error @ (SkillError::CaseTwin { .. } | SkillError::Link { .. })) => {
            drop(change);
            Err(refused(store, request, error, act))
        }
        Err(error) => Err(error),
    }
}

/// The result with the lines of the text as its author wrote it, without the header we added.
fn as_written(
    mut result: ProposalResult,
    request: &ProposalRequest,
    draft: &Draft,
) -> ProposalResult {
    let added = draft.content.lines().count().saturating_sub(request.content.lines().count());
    let added = u32::try_from(added).unwrap_or(0);
    for finding in result.findings.iter_mut().filter(|finding| finding.file.is_none()) {
        finding.line = finding.line.saturating_sub(added).max(1);
    }
    let screening = Screening::of(result.findings);
    ProposalResult { reason: screening.reason, findings: screening.findings, ..result }
}

/// Whether the skill keeps files that the proposal does not bring, and that its own could work with.
fn has_other_files(change: &Change<'_>, draft: &Draft) -> Result<bool, SkillError> {
    let name = draft.name.as_str();
    let brought = draft.all_files();
    let kept = change.work_tree.files(name)?;
    Ok(kept.keys().any(|path| {
        path.strip_prefix(name)
            .and_then(|path| path.strip_prefix('/'))
            .is_some_and(|path| !brought.contains_key(path))
    }))
}

/// Records a proposal that is invalid or came from a tainted session.
fn refused(
    store: &GitStore,
    request: &ProposalRequest,
    error: SkillError,
    act: &Act,
) -> SkillError {
    let file = || request.file.as_deref().and_then(name_of_file);
    let subject = request.name.clone().or_else(file).unwrap_or_default();
    let detail = json!({
        "reason": error.to_string(), "taintRatio": request.taint.ratio,
        "taintThreshold": request.taint.threshold,
    });
    let event = Event::new(&act.by, "skill.propose", subject, Outcome::Refused).with_detail(detail);
    let recorded = store
        .database()
        .and_then(|database| Ok(database.write(act.at, |w| w.audit(&event).map(drop))?));
    // A refusal stands whether or not it could be written down; a log that fails is worse news.
    match recorded {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

/// Refused by screening: recorded, not stored.
fn reject(
    store: &GitStore,
    request: &ProposalRequest,
    draft: &Draft,
    screening: Screening,
    act: &Act,
) -> Result<ProposalResult, SkillError> {
    let id = ProposalId::random()?;
    let detail = json!({
        "id": id.as_str(), "verdict": screening.verdict.as_str(), "reason": screening.reason,
        "why": request.reason, "digest": blake3::hash(draft.content.as_bytes()).to_hex().as_str(),
        "findings": audited(&screening.findings),
    });
    let event = Event::new(&act.by, "skill.propose", draft.name.as_str(), Outcome::Refused);
    let event = event.with_detail(detail);
    store.database()?.write(act.at, |w| w.audit(&event).map(drop))?;
    Ok(result(id.as_str(), screening, &draft.name, None))
}

fn settle(
    change: &Change<'_>,
    request: &ProposalRequest,
    draft: &Draft,
    screening: Screening,
    act: &Act,
) -> Result<ProposalResult, SkillError> {
    let files = files(change, draft)?;
    let capabilities = screening.capabilities;
    let mut findings = screening.findings;
    if files.iter().all(|file| file.content.as_deref().map(digest) == file.base)
        && change.local_change(&files)?.is_none()
    {
        findings.push(note(Verdict::AutoApprove, "unchanged", "the skill is unchanged"));
        let screening = Screening { capabilities, ..Screening::of(findings) };
        return unchanged(change, draft, screening, act);
    }
    if let Some(path) = change.local_change(&files)? {
        let message =
            format!("{} has local changes that are not committed", change.work_tree.show(&path));
        findings.push(note(Verdict::NeedsReview, "local-changes", &message));
    } else if let Some(by) = person_behind(change, &files)? {
        let message = format!("it would replace what {by} approved");
        findings.push(note(Verdict::NeedsReview, "replaces-approved", &message));
    }
    if let Some(path) = hidden(change, &draft.name, &files)? {
        let message = format!("it would hide the skill of the same name in {path}");
        findings.push(note(Verdict::NeedsReview, "hides-another", &message));
    }
    if request.taint.is_tainted() {
        let message = "it was proposed in a session that holds external content";
        findings.push(note(Verdict::NeedsReview, TAINTED_SESSION, message));
    }
    let screening = Screening { capabilities, ..Screening::of(findings) };
    let auto = screening.verdict == Verdict::AutoApprove;
    let proposal = NewProposal {
        kind: ChangeKind::Propose,
        skill: draft.name.as_str().to_owned(),
        path: main_file(&draft.name),
        reverts: None,
        files,
        reason: request.reason.clone(),
        proposed_by: act.by.clone(),
        verdict: screening.verdict.as_str().to_owned(),
        findings_json: recorded(&screening),
        policy: "agent".to_owned(),
        state: if auto { ProposalState::Intent } else { ProposalState::Pending },
    };
    if auto {
        let committed = change.store_and_apply(&proposal, act)?;
        return Ok(result(&committed.id, screening, &draft.name, Some(committed.commit)));
    }
    if let Some(id) = change.same_pending(&proposal)? {
        return Ok(result(id.as_str(), screening, &draft.name, None));
    }
    let id = change.database.write(act.at, |w| -> Result<ProposalId, StoreError> {
        let id = w.insert_proposal(&proposal)?;
        let detail = json!({
            "id": id.as_str(), "verdict": proposal.verdict, "reason": screening.reason,
            "why": request.reason, "findings": audited(&screening.findings),
        });
        let event = Event::new(&act.by, "skill.propose", &proposal.skill, Outcome::Pending);
        w.audit(&event.with_detail(detail))?;
        Ok(id)
    })?;
    Ok(result(id.as_str(), screening, &draft.name, None))
}

/// A proposal of what is there already changes nothing and makes no commit.
fn unchanged(
    change: &Change<'_>,
    draft: &Draft,
    screening: Screening,
    act: &Act,
) -> Result<ProposalResult, SkillError> {
    let id = ProposalId::random()?;
    let detail = json!({ "id": id.as_str(), "verdict": "AUTO_APPROVE", "reason": "unchanged" });
    let event = Event::new(&act.by, "skill.propose", draft.name.as_str(), Outcome::Done);
    change.audit(|_| Ok(event.with_detail(detail)), act)?;
    Ok(result(id.as_str(), screening, &draft.name, None))
}

/// What taking in a skill does to the directory of skills: its files are written, and a flat one of
/// the same name makes way.
fn files(change: &Change<'_>, draft: &Draft) -> Result<Vec<FileChange>, SkillError> {
    let name = &draft.name;
    check_twins(change, name)?;
    let mut files = Vec::new();
    for (path, content) in draft.all_files() {
        let path = format!("{}/{path}", name.as_str());
        let known = change.work_tree.read(&path)?;
        files.push(FileChange {
            base: known.as_ref().map(|file| digest(&file.content)),
            executable: known.is_some_and(|file| file.executable),
            content: Some(content),
            path,
        });
    }
    let flat = format!("{}.md", name.as_str());
    if let Some(found) = change.work_tree.read(&flat)? {
        let base = Some(digest(&found.content));
        files.push(FileChange { path: flat, content: None, executable: false, base });
    }
    Ok(files)
}

/// On some file systems names that differ only in case are one file.
pub(crate) fn check_twins(change: &Change<'_>, name: &SkillName) -> Result<(), SkillError> {
    let name = name.as_str();
    for known in change.work_tree.names()? {
        let own = known.strip_suffix(".md").unwrap_or(&known);
        if own != name && own.to_lowercase() == name {
            return Err(SkillError::CaseTwin { name: name.into(), known: known.clone() });
        }
    }
    Ok(())
}

/// The file a proposed skill is written to.
fn main_file(name: &SkillName) -> String {
    format!("{}/SKILL.md", name.as_str())
}

/// The person who approved what would be replaced.
fn person_behind(change: &Change<'_>, files: &[FileChange]) -> Result<Option<String>, SkillError> {
    for file in files {
        let known = change.database.tracked_file(&file.path)?;
        if let Some(known) = known.filter(|known| known.by != SCREENING) {
            return Ok(Some(known.by));
        }
    }
    Ok(None)
}

/// A skill of this name that the proposed one would hide: in a further root, or in a file that is
/// called otherwise and names itself so in its header.
fn hidden(
    change: &Change<'_>,
    name: &SkillName,
    files: &[FileChange],
) -> Result<Option<String>, SkillError> {
    let listing = change.store.listing()?;
    // Names that differ only in case are one name to a list.
    let same = |skill: &ListedSkill| skill.meta.name.to_lowercase() == name.as_str();
    let found = listing.skills.into_iter().find(same);
    let replaced = |path: &str| files.iter().any(|file| change.work_tree.show(&file.path) == path);
    Ok(found.map(|skill| skill.meta.path).filter(|path| !replaced(path)))
}

fn note(verdict: Verdict, rule: &str, message: &str) -> Finding {
    Finding {
        rule: rule.into(),
        verdict,
        file: None,
        line: 1,
        excerpt: String::new(),
        message: message.into(),
    }
}

fn audited(findings: &[Finding]) -> Vec<serde_json::Value> {
    let some = findings.iter().filter(|f| f.verdict > Verdict::AutoApprove).take(AUDITED_FINDINGS);
    some.map(|f| json!({ "rule": f.rule, "line": f.line, "excerpt": f.excerpt })).collect()
}

fn result(
    id: &str,
    screening: Screening,
    name: &SkillName,
    commit: Option<String>,
) -> ProposalResult {
    ProposalResult {
        id: id.to_owned(),
        verdict: screening.verdict,
        reason: screening.reason,
        findings: screening.findings,
        capabilities: screening.capabilities,
        skill: name.as_str().to_owned(),
        commit,
    }
}
