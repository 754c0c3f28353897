//! `skill screen`: screens files without a workspace, and stores nothing.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use foreword_guard::{Finding, Policy, Screening, Verdict};
use foreword_skills::{Screeners, name_of_file};
use serde::Serialize;

use super::{findings_text, paint_verdict};
use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};

const MAX_FILE_BYTES: u64 = 4 << 20;

/// Screen skill files without storing them
///
/// Exits with 1 if a file is rejected. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill screen ~/Downloads/*/SKILL.md
  foreword skill screen --policy agent draft.md --json")]
pub(crate) struct ScreenArgs {
    /// Files to screen, or - for standard input
    #[arg(value_name = "FILE|-", required = true)]
    files: Vec<PathBuf>,
    /// Screening policy
    #[arg(long, value_enum, default_value = "import")]
    policy: PolicyName,
}

/// Who wrote the text, and so how strict screening is.
#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
pub(crate) enum PolicyName {
    /// Text from an agent: rejects anything that runs, decodes or connects
    Agent,
    /// Skill from a person: allows code, rejects dangerous combinations
    Import,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Agent => Self::Agent,
            PolicyName::Import => Self::Import,
        }
    }
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    screening: &'a Screening,
}

pub(super) fn run(args: &ScreenArgs, terminal: &Terminal) -> Result<(), CliError> {
    let screeners = Screeners::default();
    let (mut rejected, mut unreadable) = (0, 0);
    for file in &args.files {
        let name = file.display().to_string();
        let screening = match screen(&screeners, args.policy.into(), file) {
            Ok(screening) => screening,
            Err(message) => {
                unreadable += 1;
                Screening::of(vec![Finding {
                    rule: "unreadable".into(),
                    verdict: Verdict::NeedsReview,
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
            terminal.print(&out)?;
        }
    }
    let all = args.files.len();
    if unreadable > 0 {
        return Err(CliError::usage(format!("cannot read {unreadable} of {all} files")));
    }
    if rejected > 0 {
        return Err(CliError::failed(format!("{rejected} of {all} files were rejected")));
    }
    Ok(())
}

fn screen(screeners: &Screeners, policy: Policy, file: &Path) -> Result<Screening, String> {
    let bytes = read_bytes(file, MAX_FILE_BYTES).map_err(|error| error.message)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("the file is empty".to_owned());
    }
    let name = name_of_file(&file.display().to_string());
    Ok(screeners.screen_file(policy, &bytes, name.as_deref()))
}
