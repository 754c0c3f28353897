//! The store that agents may write to: every change screened, audited, and one commit.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use foreword_store::{
    Anchor, AuditKey, Heads, LogFilter, Order, Proposal, ProposalState, ProposalSummary, Reader,
    RestoreAct, RestoreReport, Store, check_outside_workspace,
};
use foreword_workspace::{SkillProvider, Workspace};

use crate::error::SkillError;
use crate::flow::apply::Change;
use crate::flow::approvals::{Approvals, clean};
use crate::flow::screening::{Opinion, Screeners};
use crate::git::history;
use crate::git::lock::Lock;
use crate::git::message::Message;
use crate::git::private_dir::PrivateDir;
use crate::git::repository::Repository;
use crate::git::work_tree::WorkTree;
use crate::listing::{self, Listing, SkillMeta};
use crate::store::{
    Act, CommittedChange, LogEntry, LogOptions, ProposalRequest, ProposalResult, SkillContent,
    SkillStore,
};

/// What a store needs beside its workspace.
#[derive(Debug)]
pub struct GitStoreOptions {
    /// Where the audit key and the heads of the logs are: outside every workspace.
    pub config_dir: PathBuf,
    /// Who judges.
    pub screeners: Screeners,
}

/// A workspace's skills under governance.
///
/// Reading creates nothing. The first change makes `.foreword/` with the repository and the database.
#[derive(Debug)]
pub struct GitStore {
    pub(crate) workspace: Workspace,
    pub(crate) private: PrivateDir,
    pub(crate) options: GitStoreOptions,
}

impl GitStore {
    /// The store of a workspace.
    #[must_use]
    pub fn new(workspace: Workspace, options: GitStoreOptions) -> Self {
        let private = PrivateDir::of(workspace.root());
        Self { workspace, private, options }
    }

    /// Asks for a second opinion on skills that are imported or proposed from now on.
    pub fn ask(&mut self, opinion: Opinion) {
        self.options.screeners.ask(opinion);
    }

    /// All skills with what is known of their files, and what was passed over.
    pub fn listing(&self) -> Result<Listing, SkillError> {
        let cache = self.private.directory.is_dir().then(|| self.private.skill_cache());
        Ok(listing::list(&self.workspace, cache.as_deref(), SystemTime::now())?)
    }

    /// How far each file is approved.
    pub fn approvals(&self) -> Result<Approvals, SkillError> {
        Approvals::of(&self.workspace, Some(&self.options.config_dir))
    }

    /// Proposals, newest first: those that wait, or all.
    pub fn proposals(&self, all: bool) -> Result<Vec<ProposalSummary>, SkillError> {
        match self.reader()? {
            Some(reader) => Ok(reader.proposals((!all).then_some(ProposalState::Pending))?),
            None => Ok(Vec::new()),
        }
    }

    /// One proposal, by the first characters of its id.
    pub fn proposal(&self, id: &str) -> Result<Proposal, SkillError> {
        let reader = match self.reader()? {
            Some(reader) => reader,
            None => Reader::open(&self.private.database())?,
        };
        Ok(reader.proposal(id)?)
    }

    /// What a proposal would change, as a diff against what is on disk.
    pub fn diff(&self, proposal: &Proposal) -> Result<String, SkillError> {
        let work_tree = self.work_tree()?;
        let mut out = String::new();
        for file in &proposal.files {
            let old = work_tree.read(&file.path)?.map(|file| file.content);
            let shown = work_tree.show(&file.path);
            out.push_str(&crate::diff::unified(&shown, old.as_deref(), file.content.as_deref()));
        }
        Ok(out)
    }

    /// What a commit changed, as a diff.
    pub fn commit_diff(&self, commit: &str) -> Result<String, SkillError> {
        let none = || SkillError::NoSuchCommit { id: commit.to_owned() };
        let repository = Repository::open(&self.private.repository())?.ok_or_else(none)?;
        let commit = history::resolve(&repository, commit)?;
        let directory = clean(&self.workspace.config().skills.directory);
        let mut out = String::new();
        for changed in repository.changes(&commit)? {
            let read = |blob: Option<_>| blob.map(|blob| repository.read(blob)).transpose();
            let (old, new) = (read(changed.before)?, read(changed.after)?);
            let shown = format!("{directory}/{}", changed.path);
            out.push_str(&crate::diff::unified(&shown, old.as_deref(), new.as_deref()));
        }
        Ok(out)
    }

    /// Where the history says the audit log was, commit by commit.
    pub fn anchors(&self) -> Result<Vec<Anchor>, SkillError> {
        match Repository::open(&self.private.repository())? {
            Some(repository) => history::anchors(&repository),
            None => Ok(Vec::new()),
        }
    }

    /// Commits that the audit log says were made and the history no longer has, oldest first.
    ///
    /// Anchors only go from the history to the log: a history that was set back has fewer of them, and
    /// all of those hold.
    pub fn lost_commits(&self) -> Result<Vec<String>, SkillError> {
        let Some(reader) = self.reader()? else { return Ok(Vec::new()) };
        let mut there = BTreeSet::new();
        if let Some(repository) = Repository::open(&self.private.repository())? {
            for commit in repository.history() {
                there.insert(commit?.id.to_string());
            }
        }
        let filter = LogFilter {
            action_prefix: Some("skill.".to_owned()),
            order: Order::OldestFirst,
            ..LogFilter::default()
        };
        let mut lost = Vec::new();
        reader.log(&filter, |entry| {
            let commit = entry.detail.get("commit").and_then(|commit| commit.as_str());
            lost.extend(commit.filter(|commit| !there.contains(*commit)).map(str::to_owned));
            ControlFlow::Continue(())
        })?;
        Ok(lost)
    }

    /// Accepts that recorded ends of the audit log are lost, and records that.
    pub fn accept_losses(&self, reason: &str, act: &Act) -> Result<usize, SkillError> {
        let anchors = self.anchors()?;
        Ok(self.database()?.accept(act.at, &act.by, reason, &anchors)?)
    }

    /// The database, if there is one.
    pub fn reader(&self) -> Result<Option<Reader>, SkillError> {
        let path = self.private.database();
        if !path.exists() {
            return Ok(None);
        }
        Ok(Some(Reader::open(&path)?))
    }

    /// The database, made where there is none.
    pub fn database(&self) -> Result<Store, SkillError> {
        let config_dir = &self.options.config_dir;
        check_outside_workspace(config_dir, self.workspace.root())?;
        self.private.ensure()?;
        let key = AuditKey::load_or_create(config_dir)?;
        Ok(Store::open(&self.private.database(), key, Heads::new(config_dir))?)
    }

    /// Replaces the database with a backup and records that; see [`foreword_store::restore`].
    ///
    /// The replaced database is kept beside it, with `suffix` behind its name.
    pub fn restore(
        &self,
        backup: &Path,
        suffix: &str,
        act: &Act,
    ) -> Result<RestoreReport, SkillError> {
        let config_dir = &self.options.config_dir;
        check_outside_workspace(config_dir, self.workspace.root())?;
        self.private.ensure()?;
        let key = AuditKey::load(config_dir)?;
        let _lock = Lock::acquire(&self.private.lock())?;
        let heads = Heads::new(config_dir);
        let act = RestoreAct { now_ms: act.at, actor: &act.by, suffix };
        let database = self.private.database();
        Ok(foreword_store::restore(backup, &database, &key, &heads, &self.anchors()?, act)?)
    }

    pub(crate) fn work_tree(&self) -> Result<WorkTree, SkillError> {
        WorkTree::open_or_create(self.workspace.root(), &self.workspace.config().skills.directory)
    }

    /// Begins a change: no other process changes skills until it is dropped, and what an earlier one
    /// left half done has been finished or undone.
    pub(crate) fn begin(&self, act: &Act) -> Result<Change<'_>, SkillError> {
        if self.is_read_only() {
            return Err(SkillError::ReadOnly { action: "changing a skill" });
        }
        let database = self.database()?;
        let lock = Lock::acquire(&self.private.lock())?;
        let work_tree = self.work_tree()?;
        let directory = clean(&self.workspace.config().skills.directory);
        let repository =
            Repository::open_or_create(&self.private.repository(), &format!("../../{directory}"))?;
        let unindexed = RefCell::default();
        let change =
            Change { store: self, database, repository, work_tree, unindexed, _lock: lock };
        change.catch_up(act)?;
        Ok(change)
    }

    /// Finishes or undoes what a process that was killed left half done.
    pub fn recover(&self, act: &Act) -> Result<(), SkillError> {
        let exists = self.private.repository().exists() || self.private.database().exists();
        if exists && !self.is_read_only() {
            self.begin(act)?;
        }
        Ok(())
    }

    fn is_read_only(&self) -> bool {
        self.workspace.config().skills.provider == SkillProvider::ReadOnly
    }

    /// The directory of skills, as a person sees it.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.workspace.root().join(clean(&self.workspace.config().skills.directory))
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The path of the database, whether or not it is there yet.
    #[must_use]
    pub fn database_path(&self) -> PathBuf {
        self.private.database()
    }
}

impl SkillStore for GitStore {
    fn list(&self) -> Result<Vec<SkillMeta>, SkillError> {
        Ok(self.listing()?.skills.into_iter().map(|skill| skill.meta).collect())
    }

    fn read(&self, name: &str) -> Result<SkillContent, SkillError> {
        read(&self.workspace, &self.listing()?, name)
    }

    fn propose(
        &mut self,
        request: ProposalRequest,
        act: &Act,
    ) -> Result<ProposalResult, SkillError> {
        crate::flow::propose::propose(self, &request, act)
    }

    fn approve(&mut self, id: &str, act: &Act) -> Result<CommittedChange, SkillError> {
        crate::flow::decide::approve(self, id, act)
    }

    fn reject(&mut self, id: &str, reason: Option<&str>, act: &Act) -> Result<(), SkillError> {
        crate::flow::decide::reject(self, id, reason, act)
    }

    fn revert(&mut self, commit: &str, act: &Act) -> Result<CommittedChange, SkillError> {
        crate::flow::revert::revert(self, commit, act)
    }

    fn log(&self, options: &LogOptions) -> Result<Vec<LogEntry>, SkillError> {
        let mut entries: Vec<LogEntry> = Vec::new();
        if let Some(reader) = self.reader()? {
            let filter =
                LogFilter { action_prefix: Some("skill.".to_owned()), ..LogFilter::default() };
            entries.extend(reader.entries(&filter)?.into_iter().map(log_entry));
        }
        if let Some(repository) = Repository::open(&self.private.repository())? {
            // Commits of a database that is lost, or of somebody's own git.
            for commit in repository.history() {
                let commit = commit?;
                let id = commit.id.to_string();
                if entries.iter().any(|entry| entry.commit.as_deref() == Some(&id)) {
                    continue;
                }
                let message = Message::read(&commit.message);
                let skills = repository.changes(&commit)?;
                entries.push(LogEntry {
                    at: commit.seconds.saturating_mul(1000),
                    action: "commit".into(),
                    outcome: "done".into(),
                    skill: skills.first().map(|c| skill_of(&c.path).to_owned()).unwrap_or_default(),
                    by: if message.approved_by.is_empty() {
                        commit.author
                    } else {
                        message.approved_by
                    },
                    id: Some(message.proposal).filter(|id| !id.is_empty()),
                    commit: Some(id),
                    reason: Some(message.subject),
                });
            }
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        }
        if let Some(skill) = &options.skill {
            entries.retain(|entry| entry.skill == *skill);
        }
        entries.truncate(options.limit.unwrap_or(usize::MAX));
        Ok(entries)
    }
}

fn log_entry(entry: foreword_store::Entry) -> LogEntry {
    let text = |key: &str| entry.detail.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    LogEntry {
        at: entry.at,
        action: entry.action.trim_start_matches("skill.").to_owned(),
        id: text("id"),
        commit: text("commit"),
        reason: text("reason"),
        outcome: entry.outcome,
        skill: entry.subject,
        by: entry.actor,
    }
}

/// The skill a file in the directory of skills belongs to.
pub(crate) fn skill_of(path: &str) -> &str {
    match path.split_once('/') {
        Some((folder, _)) => folder,
        None => path.strip_suffix(".md").unwrap_or(path),
    }
}

/// Reads a skill found by a listing.
pub(crate) fn read(
    workspace: &Workspace,
    listing: &Listing,
    name: &str,
) -> Result<SkillContent, SkillError> {
    let Some(found) = listing.skills.iter().find(|skill| skill.meta.name == name) else {
        let names = listing.skills.iter().map(|skill| skill.meta.name.as_str());
        let nearest = foreword::nearest(name, names).map(str::to_owned);
        return Err(SkillError::NoSuchSkill { name: name.to_owned(), nearest });
    };
    let limit = workspace.config().limits.max_file_bytes;
    let path = workspace.root().join(Path::new(&found.meta.path));
    let file = foreword_workspace::read_file(&path, limit)?;
    Ok(SkillContent {
        name: found.meta.name.clone(),
        path: found.meta.path.clone(),
        content: file.text,
    })
}
