//! `skill propose`: what an agent does through the host, from the command line.

use std::path::Path;

use foreword_guard::Verdict;
use foreword_skills::{GitStore, ProposalRequest, SkillStore, TaintState};

use super::{findings_text, painted};
use crate::args::ProposeArgs;
use crate::error::CliError;
use crate::inputs::read_input;
use crate::person::act_of;
use crate::terminal::{Terminal, plain_line};

pub(crate) fn run(
    store: &mut GitStore,
    args: &ProposeArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let request = ProposalRequest {
        name: args.name.clone(),
        file: (args.file != Path::new("-")).then(|| absolute(&args.file)),
        content: read_input(&args.file)?,
        reason: args.reason.clone(),
        taint: TaintState { ratio: args.taint_ratio, threshold: threshold(store, args) },
    };
    let result = store.propose(request, &act_of(args.agent.as_deref()))?;
    if terminal.json {
        terminal.print_json(&result)?;
    } else {
        let (id, skill) = (&result.id, &result.skill);
        let what = match (&result.commit, result.verdict) {
            (Some(commit), _) => format!("{skill} is in, as commit {}", short(commit)),
            (None, Verdict::NeedsReview) => format!(
                "{skill} waits for a decision; look at it with `foreword skill proposals {id}`"
            ),
            (None, Verdict::AutoApprove) => format!("{skill} is this already"),
            (None, Verdict::Reject) => format!("{skill} is refused"),
        };
        terminal.print(&format!(
            "{}  {what} (proposal {id})\n{}",
            painted(result.verdict),
            findings_text(&result.findings)
        ))?;
    }
    if result.verdict == Verdict::Reject {
        let reason = plain_line(&result.reason, 300);
        return Err(CliError::not_right(format!("refused by screening: {reason}")));
    }
    Ok(())
}

/// The ratio above which the session may not change skills.
fn threshold(store: &GitStore, args: &ProposeArgs) -> f64 {
    let profile = args.profile.unwrap_or(store.workspace().config().profile);
    args.taint_threshold.unwrap_or(profile.threshold())
}

/// With its folder, which names the skill of a file called `SKILL.md`.
fn absolute(path: &Path) -> String {
    let whole = if path.parent().is_some_and(|parent| parent.as_os_str().is_empty()) {
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    };
    whole.display().to_string()
}

pub(crate) fn short(commit: &str) -> String {
    commit.chars().take(12).collect()
}
