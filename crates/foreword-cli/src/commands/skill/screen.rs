//! `skill screen`: what screening says of files, without a workspace and without storing anything.

use std::fmt::Write as _;
use std::path::Path;

use foreword_guard::{Finding, Policy, Screening, Verdict};
use foreword_skills::{Screeners, name_of_file};
use serde::Serialize;

use super::{findings_text, painted};
use crate::args::{PolicyName, ScreenArgs};
use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::{Terminal, plain_line};

/// Bytes of a file that is screened.
const MOST_BYTES: u64 = 4 << 20;

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    screening: &'a Screening,
}

pub(crate) fn run(args: &ScreenArgs, terminal: &Terminal) -> Result<(), CliError> {
    let screeners = Screeners::default();
    let (mut rejected, mut unreadable) = (0, 0);
    for file in &args.files {
        let shown = file.display().to_string();
        let screening = match screen(&screeners, policy(args.policy), file) {
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
            terminal.print_json_line(&Line { file: &shown, screening: &screening })?;
        } else {
            let mut out = format!("{}  {}\n", painted(screening.verdict), plain_line(&shown, 300));
            let _ = write!(out, "{}", findings_text(&screening.findings));
            terminal.print(&out)?;
        }
    }
    let all = args.files.len();
    if unreadable > 0 {
        return Err(CliError::usage(format!("{unreadable} of {all} files could not be read")));
    }
    if rejected > 0 {
        return Err(CliError::not_right(format!("{rejected} of {all} files are refused")));
    }
    Ok(())
}

fn screen(screeners: &Screeners, policy: Policy, file: &Path) -> Result<Screening, String> {
    let bytes = read_bytes(file, MOST_BYTES).map_err(|error| error.message)?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err("is empty".to_owned());
    }
    let name = name_of_file(&file.display().to_string());
    Ok(screeners.screen_file(policy, &bytes, name.as_deref()))
}

pub(crate) fn policy(name: PolicyName) -> Policy {
    match name {
        PolicyName::Agent => Policy::Agent,
        PolicyName::Import => Policy::Import,
    }
}
