//! `foreword init`: creates a workspace from a template, or migrates the setup of another tool.
//!
//! It never overwrites a file. A migration ends with a table of what was carried, mapped, left and lost,
//! and with the trust question.

mod from_capture;
mod report;
mod templates;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_gather::{Indexing, Request, gather, index};
use foreword_workspace::{
    CONFIG_FILE, GovernedFile, MigrationRecord, PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README,
    SensitiveSettings, Settings, TrustStore, Workspace, WorkspaceError, discover,
};

use self::report::Report;
use self::templates::TemplateName;
use crate::error::CliError;
use crate::hosting;
use crate::migrate::{self, Migration, NewFile, Written, record};
use crate::terminal::{Terminal, can_ask};
use crate::user_env;
use crate::workspace_arg::WorkspaceArg;

/// Agents whose prompt is tried after writing, to bound the time.
const MAX_TRIED: usize = 50;

/// Create a workspace
///
/// Writes a template, migrates a Claude Code, Codex, Cursor, OpenClaw or Cosmonauts setup (or several in one directory),
/// or splits a captured system prompt into files. Never overwrites files and never changes the old setup. A migration
/// reports what it kept, converted, skipped and lost; `foreword lint` fails until you handle every loss.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword init my-agent
  foreword init my-agent --template companion
  foreword init --from .                                Add Foreword to a Claude Code project
  foreword init my-agent --from ~/.openclaw/workspace
  foreword init my-agent --from-capture 20261117-120000-4f2a8c11")]
pub(crate) struct InitArgs {
    /// Workspace directory, like `-w` [default: the current directory]
    #[arg(value_name = "DIR", conflicts_with = "workspace")]
    directory: Option<PathBuf>,
    /// Template to start from
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "from")]
    template: TemplateName,
    /// Migrate the setup that another tool has in this directory
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Split the system prompt of a `foreword watch` capture into files; `latest` for the newest one
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "template"])]
    from_capture: Option<String>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &InitArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = args.directory.as_deref().unwrap_or(workspace.directory());
    migrate::check_root(workspace)?;
    let mut report = Report::new(workspace);
    // A record that cannot be read is replaced.
    let earlier = record::earlier(workspace).ok().flatten();
    let captured = args.from_capture.as_deref().map(from_capture::read).transpose()?;
    let is_imported = args.from.is_some() || captured.is_some();
    let (mut files, migration) = match (&args.from, &captured) {
        (_, Some(captured)) => {
            report.captured(captured);
            (captured.files(), None)
        }
        (Some(from), None) => {
            let mut migration = migrate::read(from, workspace)?;
            (std::mem::take(&mut migration.files), Some((from, migration)))
        }
        (None, None) => {
            report.template(templates::name(args.template));
            (templates::files(args.template), None)
        }
    };
    files.push(NewFile::text(format!("{PRIVATE_DIR}/.gitignore"), PRIVATE_GITIGNORE));
    files.push(NewFile::text(format!("{PRIVATE_DIR}/README.md"), PRIVATE_README));

    let own: BTreeMap<String, [u8; 32]> = match is_imported {
        true => BTreeMap::new(),
        false => files.iter().map(|file| (file.path.clone(), digest(&file.bytes))).collect(),
    };
    let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let plan = migrate::plan(workspace, files.clone())?;
    let written = migrate::apply(workspace, plan)?;
    if let Some((from, mut migration)) = migration {
        migration.files = files;
        let in_place = migrate::is_in_place(from, workspace);
        finish_migration(workspace, &mut migration, &written, in_place, earlier.as_ref())?;
        report.migrated(from, &migration);
    }
    report.outcome(written);
    // Trust can also be given later, so an error here does not matter.
    report.trusted = trust_templates(workspace, &own).unwrap_or(false);
    report.problems = problems(workspace);
    if report.problems.is_empty() {
        // A build works without an index, so an error here does not matter.
        let _ = index(workspace, &Request::default(), Indexing::Update, |_, _| {});
    }
    if let Some(captured) = &captured
        && report.problems.is_empty()
    {
        report.note(captured.compare(workspace)?);
    }
    // After the comparison: what waits for the person is quoted in a build.
    if is_imported {
        migrate::note_import(workspace, paths.iter(), terminal);
    }
    report.show(terminal)?;
    if let Err(nested @ WorkspaceError::Nested { .. }) = discover(workspace) {
        terminal.warn(&format!("{nested}; commands in it need `-w`"));
    }
    if is_imported && report.problems.is_empty() && can_ask() {
        // "No" is an answer: agents do not run until the person says yes.
        let host = hosting::open(workspace)?;
        if let Err(error) = hosting::review_trust(&host, None, false, terminal) {
            terminal.warn(&error.message);
        }
    }
    Ok(())
}

/// Completes the table with what only shows after writing, and writes the record.
fn finish_migration(
    workspace: &Path,
    migration: &mut Migration,
    written: &Written,
    in_place: bool,
    earlier: Option<&MigrationRecord>,
) -> Result<(), CliError> {
    migration.settle(written);
    migration.check_prompt(workspace);
    let new: BTreeSet<&String> = written.new.iter().map(|(path, _)| path).collect();
    let unchanged: BTreeSet<&String> = written.unchanged.iter().collect();
    let is_ours = |path: &String| {
        // In place, a file that was there before belongs to the old setup.
        let known = earlier.is_some_and(|earlier| earlier.files.contains_key(path));
        new.contains(path) || (unchanged.contains(path) && (known || !in_place))
    };
    let files = migration
        .files
        .iter()
        .filter(|file| !file.path.starts_with(PRIVATE_DIR) && is_ours(&file.path))
        .map(|file| (file.path.clone(), MigrationRecord::digest(&file.bytes)))
        .collect();
    record::write(workspace, migration, in_place, files, earlier)?;
    Ok(())
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    blake3::hash(bytes).into()
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
