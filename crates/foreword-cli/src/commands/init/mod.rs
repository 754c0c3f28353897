//! `foreword init`: creates a workspace from a template, or imports the files of another tool.
//!
//! It never overwrites a file, and it reports every file that it skips with the reason.

mod claude_code;
mod cosmonauts;
mod from_capture;
mod header;
mod import;
mod openclaw;
mod report;
mod settings;
mod source;
mod templates;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_gather::{Indexing, Request, gather, index};
use foreword_workspace::{
    CONFIG_FILE, GovernedFile, PRIVATE_DIR, PRIVATE_GITIGNORE, PRIVATE_README, SensitiveSettings,
    Settings, TrustStore, Workspace, WorkspaceError, discover,
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
/// Writes a template, imports an existing OpenClaw, Claude Code or Cosmonauts directory, or splits the system prompt of
/// a capture into files. Existing files are never overwritten.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword init -w my-agent
  foreword init -w my-agent --template companion
  foreword init -w my-agent --from ~/.openclaw/workspace
  foreword init -w my-agent --from-capture 20261117-120000-4f2a8c11")]
pub(crate) struct InitArgs {
    /// Template to start from
    #[arg(short, long, value_enum, default_value_t, conflicts_with = "from")]
    template: TemplateName,
    /// Import an OpenClaw, Claude Code or Cosmonauts directory
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Split the system prompt of a capture into files; `latest` for the newest one
    #[arg(long, value_name = "ID", conflicts_with_all = ["from", "template"])]
    from_capture: Option<String>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &InitArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = workspace.directory();
    write::check_root(workspace)?;
    let mut report = Report::new(workspace);
    let captured = args.from_capture.as_deref().map(from_capture::read).transpose()?;
    let is_imported = args.from.is_some() || captured.is_some();
    let mut files = match (&args.from, &captured) {
        (_, Some(captured)) => {
            report.captured(captured);
            captured.files()
        }
        (Some(from), None) => {
            let imported = import::import(from)?;
            report.imported(from, &imported);
            imported.files
        }
        (None, None) => {
            report.template(templates::name(args.template));
            templates::files(args.template)
        }
    };
    files.push(NewFile::text(format!("{PRIVATE_DIR}/.gitignore"), PRIVATE_GITIGNORE));
    files.push(NewFile::text(format!("{PRIVATE_DIR}/README.md"), PRIVATE_README));

    let own: BTreeMap<String, [u8; 32]> = match is_imported {
        true => BTreeMap::new(),
        false => files.iter().map(|file| (file.path.clone(), digest(&file.text))).collect(),
    };
    let plan = write::plan(workspace, files)?;
    let outcome = write::apply(workspace, plan)?;
    report.outcome(outcome);
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
