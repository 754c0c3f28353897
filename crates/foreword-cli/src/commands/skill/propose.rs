//! `skill propose`: the command line form of what an agent does through the host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_guard::Verdict;
use foreword_skills::{GitStore, ProposalRequest, SkillStore, TaintState, read_skill_folder};

use super::{capabilities_text, findings_text, paint_verdict, screening_store, short_hash};
use crate::args::{named, parse_ratio};
use crate::error::CliError;
use crate::inputs::read_input;
use crate::terminal::{Terminal, plain_line};
use crate::user_env::act_of;

/// Propose a new or changed skill, as an agent would
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill propose deploy-checklist.md --reason \"requested on Monday\"
  foreword skill propose - --name deploy-checklist < draft.md
  foreword skill propose drafts/deploy         Propose a folder with a SKILL.md and its files
  foreword skill propose draft.md --json | jq -r .verdict")]
pub(crate) struct ProposeArgs {
    /// Text of the skill, its folder, or - for standard input
    #[arg(value_name = "FILE|FOLDER|-")]
    file: PathBuf,
    /// Name of the skill [default: from its header, or else the file name]
    #[arg(long)]
    name: Option<String>,
    /// Reason for the proposal
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Agent that proposes
    #[arg(short, long, value_name = "ID")]
    agent: Option<String>,
    /// Share of the session's tokens that came from external content, 0 to 1
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, value_parser = parse_ratio)]
    taint_ratio: f64,
    /// Taint ratio above which the proposal is refused [default: from the profile]
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    taint_threshold: Option<f64>,
    /// Security profile [default: from the workspace]
    #[arg(long, value_parser = named::<foreword::Profile>(), value_name = "paranoid|balanced|yolo")]
    profile: Option<foreword::Profile>,
}

pub(super) fn run(
    workspace: &Path,
    args: &ProposeArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut store = screening_store(workspace)?;
    let (content, files) = read_skill(&args.file)?;
    let request = ProposalRequest {
        name: args.name.clone(),
        file: (args.file != Path::new("-")).then(|| absolute(&args.file)),
        content,
        files,
        reason: args.reason.clone(),
        taint: TaintState { ratio: args.taint_ratio, threshold: threshold(&store, args) },
    };
    let result = store.propose(request, &act_of(args.agent.as_deref()))?;
    if terminal.json {
        terminal.print_json(&result)?;
    } else {
        let (id, skill) = (&result.id, &result.skill);
        let what = match (&result.commit, result.verdict) {
            (Some(commit), _) => format!("committed {skill} as {}", short_hash(commit)),
            (None, Verdict::NeedsReview) => {
                format!("{skill} needs review; run `foreword skill proposals {id}`")
            }
            (None, Verdict::AutoApprove) => format!("{skill} is unchanged"),
            (None, Verdict::Reject) => format!("{skill} is rejected"),
        };
        terminal.print(&format!(
            "{}  {what} (proposal {id})\n{}{}",
            paint_verdict(result.verdict),
            findings_text(&result.findings),
            capabilities_text(&result.capabilities)
        ))?;
    }
    if result.verdict == Verdict::Reject {
        let reason = plain_line(&result.reason, 300);
        return Err(CliError::failed(format!("rejected by screening: {reason}")));
    }
    Ok(())
}

/// The text of a skill, and the files beside it if a folder is named.
fn read_skill(path: &Path) -> Result<(String, BTreeMap<String, Vec<u8>>), CliError> {
    if !path.is_dir() {
        return Ok((read_input(path)?, BTreeMap::new()));
    }
    let shown = path.display();
    let mut files = read_skill_folder(path)?;
    let Some(main) = files.keys().find(|name| name.eq_ignore_ascii_case("SKILL.md")).cloned()
    else {
        return Err(CliError::usage(format!("{shown} has no SKILL.md")));
    };
    let content = String::from_utf8(files.remove(&main).unwrap_or_default())
        .map_err(|_| CliError::usage(format!("{shown}/{main} is not UTF-8 text")))?;
    files.retain(|name, _| !name.starts_with('.'));
    Ok((content, files))
}

/// The taint ratio above which the session may not change skills.
fn threshold(store: &GitStore, args: &ProposeArgs) -> f64 {
    let profile = args.profile.unwrap_or(store.workspace().config().profile);
    args.taint_threshold.unwrap_or(profile.threshold())
}

/// A path with its folder, which names the skill if the file is called `SKILL.md`.
fn absolute(path: &Path) -> String {
    if path.is_dir() {
        let folder = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        return folder.join("SKILL.md").display().to_string();
    }
    let whole = if path.parent().is_some_and(|parent| parent.as_os_str().is_empty()) {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    };
    whole.display().to_string()
}
