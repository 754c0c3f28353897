//! Gathering again and again: what did not change is kept, and each task costs one embedding at most.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use foreword::RunnerKind;
use foreword_skills::Approvals;
use foreword_workspace::{Snapshot, Workspace};

use crate::collect::gather::{Base, Gathered, gather_base};
use crate::error::GatherError;
use crate::request::Request;
use crate::select::pool::Pool;
use crate::select::semantics::Semantics;
use crate::warning::summed;

/// So many agents' bases are kept.
const MAX_BASES: usize = 8;

/// Gathers Contexts of one workspace, and keeps what did not change between them: the files, their
/// index and the vectors of recent tasks.
///
/// ```no_run
/// use foreword_gather::{Assembler, Request};
///
/// let assembler = Assembler::new("examples/semantic");
/// for task in ["fix the login bug", "review the change"] {
///     let request = Request { task: Some(task.into()), ..Request::default() };
///     let gathered = assembler.assemble(&request)?;
///     println!("{}", gathered.blueprint.build(&gathered.context).text());
/// }
/// # Ok::<(), foreword_gather::GatherError>(())
/// ```
#[derive(Debug)]
pub struct Assembler {
    root: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Newest last.
    bases: Vec<Kept>,
    semantics: Semantics,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("bases", &self.bases.len()).finish_non_exhaustive()
    }
}

/// What a request says that decides which files are read.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    agent: Option<String>,
    blueprint: Option<String>,
    user_id: Option<String>,
    cwd: Option<PathBuf>,
    config_dir: Option<PathBuf>,
    runner: Option<RunnerKind>,
    default_tools: Vec<String>,
    whole_skills: bool,
    neutral: bool,
}

struct Kept {
    key: Key,
    base: Arc<Base>,
    snapshot: Snapshot,
    pool: Option<Arc<Pool>>,
}

impl Assembler {
    /// An assembler for a workspace. Nothing is read yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), state: Mutex::default() }
    }

    /// The workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Gathers a Context for a request, with what fits its task.
    ///
    /// If the embedder fails, selection compares words only and reports that.
    pub fn assemble(&self, request: &Request) -> Result<Gathered, GatherError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { bases, semantics } = &mut *state;
        let kept = kept(bases, &self.root, request)?;
        let base = Arc::clone(&kept.base);
        let mut gathered = base.for_request(request)?;
        if !(request.neutral || request.everything || gathered.context.task.is_blank()) {
            semantics.add_to(&mut gathered, &base, &mut kept.pool, request)?;
        }
        gathered.warnings = summed(gathered.warnings);
        Ok(gathered)
    }

    /// The tools of an agent by how well they fit a need, best first, whatever the mode.
    pub fn rank_tools(&self, request: &Request, need: &str) -> Result<Vec<String>, GatherError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { bases, semantics } = &mut *state;
        let kept = kept(bases, &self.root, request)?;
        let base = Arc::clone(&kept.base);
        semantics.rank_tools(&base, &mut kept.pool, request, need)
    }
}

/// What the files say: as it was, where nothing changed.
fn kept<'s>(
    bases: &'s mut Vec<Kept>,
    root: &Path,
    request: &Request,
) -> Result<&'s mut Kept, GatherError> {
    let key = Key {
        agent: request.agent.clone(),
        blueprint: request.blueprint.clone(),
        user_id: request.user_id.clone(),
        cwd: request.cwd.clone(),
        config_dir: request.config_dir.clone(),
        runner: request.runner,
        default_tools: request.default_tools.clone(),
        whole_skills: request.whole_skills,
        neutral: request.neutral,
    };
    let known = bases.iter().position(|kept| kept.key == key).map(|place| bases.remove(place));
    let kept = match known.filter(|kept| kept.snapshot.holds()) {
        Some(kept) => kept,
        None => read(key, root, request)?,
    };
    if bases.len() >= MAX_BASES {
        bases.remove(0);
    }
    Ok(bases.push_mut(kept))
}

fn read(key: Key, root: &Path, request: &Request) -> Result<Kept, GatherError> {
    let mut workspace = Workspace::open_for(root, request.config_dir.as_deref())?;
    if !request.neutral {
        workspace = workspace.lower_untrusted_imports()?;
    }
    let base = gather_base(&workspace, request, false)?;
    let mut snapshot = workspace.snapshot();
    for file in workspace.consent_files() {
        snapshot.and(file);
    }
    if !base.context.skills.is_empty() {
        for file in Approvals::files(&workspace, request.config_dir.as_deref()) {
            snapshot.and(file);
        }
    }
    if let Some(blueprint) = &request.blueprint {
        snapshot.and(PathBuf::from(blueprint));
    }
    Ok(Kept { key, base: Arc::new(base), snapshot, pool: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Longer than a tick of any file system's clock.
    fn settle() {
        std::thread::sleep(Duration::from_millis(60));
    }

    fn base(assembler: &Assembler) -> Arc<Base> {
        let state = assembler.state.lock().unwrap();
        Arc::clone(&state.bases.last().unwrap().base)
    }

    fn request(task: &str) -> Request {
        Request { task: Some(task.into()), ..Request::default() }
    }

    #[test]
    fn layers_are_read_once_and_again_when_they_change() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("foreword.toml", "blueprint = 'semantic'\n");
        write("prompts/layers/constitution.md", "First law.");
        settle();
        let assembler = Assembler::new(dir.path());
        let law = || assembler.assemble(&request("x")).unwrap().context.constitution;
        assert_eq!(law().inspect(), "First law.");
        let first = base(&assembler);
        law();
        assert!(Arc::ptr_eq(&first, &base(&assembler)), "nothing changed, nothing is read");
        write("prompts/layers/constitution.md", "Second law.");
        assert_eq!(law().inspect(), "Second law.");
        settle();
        law();
        let second = base(&assembler);
        write("prompts/layers/rules.md", "A new file.");
        law();
        assert!(!Arc::ptr_eq(&second, &base(&assembler)), "a new file is seen");
    }

    /// Every turn writes to the database; approvals of skills change with a commit only.
    #[test]
    fn a_commit_of_skills_is_seen_and_a_write_to_the_database_reads_nothing_again() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("skills/tea.md", "---\nname: tea\ndescription: Make tea\n---\nBoil water.\n");
        settle();
        let assembler = Assembler::new(dir.path());
        let next = || {
            assembler.assemble(&request("tea")).unwrap();
            base(&assembler)
        };
        let first = next();
        write(".foreword/foreword.db", "");
        assert!(Arc::ptr_eq(&first, &next()));
        write(".foreword/skills.git/refs/heads/main", "0000\n");
        assert!(!Arc::ptr_eq(&first, &next()));
    }

    #[test]
    fn threads_may_share_it() {
        fn shared<T: Send + Sync>() {}
        shared::<Assembler>();
    }

    #[test]
    fn each_agent_has_a_base_of_its_own_and_not_too_many_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..MAX_BASES + 3 {
            let folder = dir.path().join(format!("agents/a{n}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("AGENT.md"), format!("---\nid: a{n}\n---\nI am {n}.\n"))
                .unwrap();
        }
        let assembler = Assembler::new(dir.path());
        for n in 0..MAX_BASES + 3 {
            let request = Request { agent: Some(format!("a{n}")), ..Request::default() };
            let gathered = assembler.assemble(&request).unwrap();
            assert_eq!(gathered.context.agent_id.unwrap().inspect(), format!("a{n}"));
        }
        assert_eq!(assembler.state.lock().unwrap().bases.len(), MAX_BASES);
    }
}
