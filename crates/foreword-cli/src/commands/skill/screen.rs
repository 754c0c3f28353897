//! `skill screen`: screens files and folders without a workspace, and stores nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_guard::{Finding, Policy, Screening, Verdict};
use foreword_serve::ScreenPolicy;
use foreword_serve::skills::opinion;
use foreword_skills::{Screeners, name_of_file, read_skill_folder, skill_file};
use foreword_workspace::Workspace;
use serde::Serialize;

use super::{capabilities_text, findings_text, paint_verdict};
use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::config_dir;

const MAX_FILE_BYTES: u64 = 4 << 20;

/// Screen skills without storing them
///
/// Takes SKILL.md files, skill folders, and folders of skill folders. A folder is judged as a whole: text, scripts,
/// manifests and what flows between them. Exits with 1 if a skill is rejected. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill screen ~/Downloads/pdf-tools
  foreword skill screen ~/.claude/skills --json | jq .capabilities
  foreword skill screen --policy agent draft.md")]
pub(crate) struct ScreenArgs {
    /// Files or folders to screen, or - for standard input
    #[arg(value_name = "FILE|FOLDER|-", required = true)]
    paths: Vec<PathBuf>,
    /// Screening policy
    #[arg(long, value_enum, default_value = "import")]
    policy: ScreenPolicy,
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    screening: &'a Screening,
}

pub(super) fn run(
    workspace: &Path,
    args: &ScreenArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut screeners = Screeners::default();
    // Screening needs no workspace; one that is there may ask for the model's opinion.
    if let Ok(workspace) = Workspace::open_for(workspace, config_dir().ok().as_deref())
        && let Ok(Some(opinion)) = opinion(&workspace)
    {
        screeners.ask(opinion);
    }
    let (mut rejected, mut unreadable, mut all) = (0, 0, 0);
    for path in args.paths.iter().flat_map(|path| skills_at(path)) {
        let name = path.display().to_string();
        all += 1;
        let screening = match screen(&screeners, args.policy.into(), &path) {
            Ok(screening) => screening,
            Err(message) => {
                unreadable += 1;
                Screening::of(vec![Finding {
                    rule: "unreadable".into(),
                    verdict: Verdict::NeedsReview,
                    file: None,
                    line: 1,
                    excerpt: String::new(),
                    message,
                }])
            }
        };
        rejected += usize::from(screening.verdict == Verdict::Reject);
        if terminal.json {
            terminal.print_json_line(&Line { file: &name, screening: &screening })?;
        } else {
            let mut out =
                format!("{}  {}\n", paint_verdict(screening.verdict), plain_line(&name, 300));
            let _ = write!(out, "{}", findings_text(&screening.findings));
            out.push_str(&capabilities_text(&screening.capabilities));
            terminal.print(&out)?;
        }
    }
    if unreadable > 0 {
        return Err(CliError::usage(format!("cannot read {unreadable} of {all} skills")));
    }
    if rejected > 0 {
        return Err(CliError::failed(format!("{rejected} of {all} skills were rejected")));
    }
    Ok(())
}

/// The skills a path stands for: itself, or the skill folders in it.
fn skills_at(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || skill_file(path).is_some() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| skill_file(path).is_some()).collect();
    folders.sort();
    if folders.is_empty() { vec![path.to_owned()] } else { folders }
}

fn screen(screeners: &Screeners, policy: Policy, path: &Path) -> Result<Screening, String> {
    let name = name_of_file(&path.join("SKILL.md").display().to_string());
    if path.is_dir() {
        let files = read_skill_folder(path).map_err(|error| error.to_string())?;
        if !files.keys().any(|path| path.eq_ignore_ascii_case("SKILL.md")) {
            return Err("the folder has no SKILL.md".to_owned());
        }
        let folder = Some(name.as_deref().unwrap_or_default());
        return Ok(screeners.with_opinion(screeners.screen_skill(policy, &files, folder), &files));
    }
    let bytes = read_bytes(path, MAX_FILE_BYTES).map_err(|error| error.message)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("the file is empty".to_owned());
    }
    let name = name_of_file(&path.display().to_string());
    let screening = screeners.screen_file(policy, &bytes, name.as_deref());
    Ok(screeners.with_opinion(screening, &BTreeMap::from([("SKILL.md".to_owned(), bytes)])))
}
