//! `foreword skill` and `foreword audit`, as data.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use foreword::Profile;

use crate::args::named;

#[derive(Subcommand, Debug)]
pub(crate) enum SkillCommand {
    /// List the skills and how far each is approved
    List,
    /// Print a skill
    Read {
        /// Its name
        name: String,
    },
    /// Propose a new or changed skill, as an agent would
    Propose(ProposeArgs),
    /// List the proposals that wait for a decision, or show one with its diff
    Proposals {
        /// Show this one; the first characters are enough
        id: Option<String>,
        /// Also those that were decided
        #[arg(long, conflicts_with = "id")]
        all: bool,
    },
    /// Take in proposals, or your own edits, after showing what changes
    Approve(ApproveArgs),
    /// Turn a proposal down
    Reject {
        /// The proposal; the first characters are enough
        id: String,
        /// Why, for the log and the agent
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Undo a commit of the skills with another one
    Revert(RevertArgs),
    /// Show what happened to the skills, newest first
    Log {
        /// Only this skill
        name: Option<String>,
        /// At most so many entries
        #[arg(short = 'n', long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Screen files without storing anything; needs no workspace
    Screen(ScreenArgs),
    /// Take in a folder of skills, or one skill's folder
    Import(ImportArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill propose deploy-checklist.md --reason \"asked for it on Monday\"
  foreword skill propose - --name deploy-checklist < draft.md
  foreword skill propose draft.md --json | jq -r .verdict")]
pub(crate) struct ProposeArgs {
    /// The text, or - for standard input
    #[arg(value_name = "FILE|-")]
    pub(crate) file: PathBuf,
    /// The skill's name; else the one in its header, else the file's
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// The agent that proposes
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// External tokens over all tokens of the session, 0 to 1
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, value_parser = parse_ratio)]
    pub(crate) taint_ratio: f64,
    /// The ratio above which it is refused; else the profile's
    #[arg(long, value_name = "RATIO", value_parser = parse_ratio)]
    pub(crate) taint_threshold: Option<f64>,
    /// The security profile; else the workspace's
    #[arg(long, value_parser = named::<Profile>(), value_name = "paranoid|balanced|yolo")]
    pub(crate) profile: Option<Profile>,
}

fn parse_ratio(text: &str) -> Result<f64, String> {
    let ratio = text.parse::<f64>().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
    ratio.ok_or_else(|| "use a number from 0 to 1".to_owned())
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill approve 4k7tq
  foreword skill approve --local            take in all your own edits in skills/
  foreword skill approve --local deploy     take in one")]
pub(crate) struct ApproveArgs {
    /// Proposals, or with --local skills; the first characters of a proposal are enough
    #[arg(value_name = "ID", required_unless_present = "local")]
    pub(crate) ids: Vec<String>,
    /// Take in your own edits in the directory of skills
    #[arg(long)]
    pub(crate) local: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RevertArgs {
    /// The commit, as `foreword skill log` shows it
    pub(crate) commit: String,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// Who wrote the text, and so how strict to be.
#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub(crate) enum PolicyName {
    /// Text an agent wrote: nothing that runs, decodes or reaches out
    Agent,
    /// A skill a person installs: code is fine, dangerous combinations are not
    Import,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill screen ~/Downloads/*/SKILL.md
  foreword skill screen --policy agent draft.md --json")]
pub(crate) struct ScreenArgs {
    /// The files, or - for standard input
    #[arg(value_name = "FILE|-", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// How strict to be
    #[arg(long, value_enum, default_value = "import")]
    pub(crate) policy: PolicyName,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Each skill is screened and becomes a commit of its own. One that needs review becomes a proposal; one
that is refused is left out. Given the workspace's own directory of skills, your edits are taken in.

Examples:
  foreword skill import ~/Downloads/pdf-tools
  foreword skill import ~/.claude/skills
  foreword skill import skills")]
pub(crate) struct ImportArgs {
    /// A folder with a SKILL.md, or a folder of such folders
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Subcommand, Debug)]
pub(crate) enum AuditCommand {
    /// Print the audit log, oldest first
    #[command(after_help = "\
Examples:
  foreword audit log --since 7d
  foreword audit log --since 2026-02-26T14:30:00Z --json")]
    Log(AuditLogArgs),
    /// Check that nobody changed, removed, moved or added an entry
    Verify,
    /// Accept, on record, that an earlier end of the log is lost: after starting it anew yourself
    Accept {
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct AuditLogArgs {
    /// Only from this time on: RFC 3339, a date, or an age such as 90m, 12h, 7d
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only actions that start with this, such as skill.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) action: Option<String>,
    /// Only the newest so many
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Every SKILL.md below DIR is screened; files are counted by the folder of DIR they are in.

Examples:
  foreword eval screen corpus --policy import
  foreword eval screen corpus --json | jq .groups")]
pub(crate) struct EvalScreenArgs {
    /// A folder of folders of skills
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How strict to be
    #[arg(long, value_enum, default_value = "import")]
    pub(crate) policy: PolicyName,
    /// Name every file that was refused or flagged
    #[arg(long)]
    pub(crate) list: bool,
}
