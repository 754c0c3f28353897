//! `foreword init`: creates a workspace from a template, or imports the files of another tool.
//!
//! It never overwrites a file, and it reports every file that it skips with the reason.

mod claude_code;
mod cosmonauts;
mod header;
mod import;
mod openclaw;
mod report;
mod settings;
mod source;
mod templates;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_gather::{Indexing, Request, gather, index};
use foreword_workspace::{
    CONFIG_FILE, GovernedFile, PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README, SensitiveSettings,
    Settings, Standing, TrustStore, Workspace, WorkspaceError, discover,
};

use self::report::Report;
use self::templates::TemplateName;
use self::write::NewFile;
use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, can_ask};
use crate::user_env;
use crate::workspace_arg::WorkspaceArg;

/// Agents whose prompt is tried after writing, to bound the time.
const MAX_TRIED: usize = 50;

/// Create a workspace
///
/// Writes a template, or imports an existing OpenClaw, Claude Code or Cosmonauts directory. Existing files are never
/// overwritten.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword init -w my-agent
  foreword init -w my-agent --template companion
  foreword init -w my-agent --from ~/.openclaw/workspace")]
pub(crate) struct InitArgs {
    /// Template to start from
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "from")]
    template: TemplateName,
    /// Import an OpenClaw, Claude Code or Cosmonauts directory
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &InitArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = workspace.directory();
    write::check_root(workspace)?;
    let mut report = Report::new(workspace);
    let mut files = match &args.from {
        Some(from) => {
            let imported = import::import(from)?;
            report.imported(from, &imported);
            imported.files
        }
        None => {
            report.template(templates::name(args.template));
            templates::files(args.template)
        }
    };
    files.push(NewFile::text(format!("{PRIVATE_DIR}/.gitignore"), PRIVATE_GITIGNORE));
    files.push(NewFile::text(format!("{PRIVATE_DIR}/README.md"), PRIVATE_README));

    let own: BTreeMap<String, [u8; 32]> = match &args.from {
        Some(_) => BTreeMap::new(),
        None => files.iter().map(|file| (file.path.clone(), digest(&file.text))).collect(),
    };
    let is_imported = |path: &String| !path.starts_with(PRIVATE_DIR) && path != CONFIG_FILE;
    let paths: BTreeSet<String> =
        files.iter().map(|file| file.path.clone()).filter(is_imported).collect();
    let plan = write::plan(workspace, files)?;
    let outcome = write::apply(workspace, plan)?;
    report.outcome(outcome);
    // Trust can also be given later, so an error here does not matter.
    report.trusted = trust_templates(workspace, &own).unwrap_or(false);
    if args.from.is_some()
        && let Err(error) = note_import(workspace, &paths)
    {
        terminal.warn(&format!(
            "cannot keep imported files from counting as instructions: {}; review them before you build",
            error.message
        ));
    }
    report.problems = problems(workspace);
    if report.problems.is_empty() {
        // A build works without an index, so an error here does not matter.
        let _ = index(workspace, &Request::default(), Indexing::Update, |_, _| {});
    }
    report.show(terminal)?;
    if let Err(nested @ WorkspaceError::Nested { .. }) = discover(workspace) {
        terminal.warn(&format!("{nested}; commands in it need `-w`"));
    }
    if args.from.is_some() && report.problems.is_empty() && can_ask() {
        // "No" is an answer: agents do not run until the person says yes.
        let host = hosting::open(workspace)?;
        if let Err(error) = hosting::review_trust(&host, None, false, terminal) {
            terminal.warn(&error.message);
        }
    }
    Ok(())
}

/// Keeps what was imported from speaking with authority until the person accepts it. An import that changes
/// nothing they trusted needs no new answer.
fn note_import(root: &Path, paths: &BTreeSet<String>) -> Result<(), CliError> {
    let config_dir = user_env::config_dir()?;
    let store = TrustStore::open(&config_dir, root)?;
    let is_trusted = || -> Result<bool, WorkspaceError> {
        let workspace = Workspace::open_for(root, Some(&config_dir))?;
        let now = workspace.review(&Settings::load(&config_dir)?)?;
        Ok(store.standing(&now)? == Standing::Trusted)
    };
    if is_trusted().unwrap_or(false) { Ok(()) } else { Ok(store.note_import(paths)?) }
}

fn digest(text: &str) -> [u8; 32] {
    blake3::hash(text.as_bytes()).into()
}

/// Trusts the files of a template, byte for byte, and no other file. A person who trusted or reviewed
/// the workspace before has decided for themselves.
fn trust_templates(root: &Path, own: &BTreeMap<String, [u8; 32]>) -> Result<bool, CliError> {
    if own.is_empty() {
        return Ok(false);
    }
    let config_dir = user_env::config_dir()?;
    let store = TrustStore::open(&config_dir, root)?;
    if store.accepted()?.is_some() {
        return Ok(false);
    }
    let workspace = Workspace::open_for(root, Some(&config_dir))?;
    let mut review = workspace.review(&Settings::load(&config_dir)?)?;
    let is_own = |path: &String, file: &GovernedFile| own.get(path) == Some(&file.digest);
    if review
        .files
        .files
        .get(CONFIG_FILE)
        .is_none_or(|file| own.get(CONFIG_FILE) != Some(&file.digest))
    {
        review.settings = SensitiveSettings::default();
    }
    review.files.files.retain(|path, file| is_own(path, file));
    review.skills.retain(|path, file| is_own(path, file));
    store.accept(&review)?;
    Ok(true)
}

/// Errors of the prompts of the workspace. Kept and imported files may not fit together, and the user
/// should know now.
fn problems(root: &Path) -> Vec<String> {
    let ids = match Workspace::open(root).and_then(|workspace| workspace.agent_ids()) {
        Ok(ids) => ids,
        Err(error) => return vec![format!("{error} ({})", error.hint())],
    };
    let agents = ids.into_iter().take(MAX_TRIED).map(Some);
    let mut problems: Vec<String> = std::iter::once(None)
        .chain(agents)
        .map(|agent| Request { agent, neutral: true, ..Request::default() })
        .filter_map(|request| gather(root, &request).err())
        .map(|error| match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        })
        .collect();
    problems.sort();
    problems.dedup();
    problems
}
