//! `skill lint`: checks skill folders against the Agent Skills format.

use std::path::{Path, PathBuf};

use clap::Args;
use foreword_skills::{FormatFault, name_of_file, validate, validate_folder};
use serde::Serialize;

use crate::error::CliError;
use crate::inputs::read_input;
use crate::terminal::{Terminal, plain_line};

/// Check skills against the Agent Skills format
///
/// Reports what the reference validator, skills-ref, reports. Foreword imports and uses skills that fail it; other
/// clients may not. Exits with 1 if a skill fails. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword skill lint skills/*
  foreword skill lint ~/Downloads/pdf-tools --json")]
pub(crate) struct LintArgs {
    /// Skill folders or files
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    valid: bool,
    faults: &'a [FormatFault],
}

pub(super) fn run(args: &LintArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut failed = 0;
    for path in &args.paths {
        let shown = path.display().to_string();
        let faults = faults(path)?;
        failed += usize::from(!faults.is_empty());
        if terminal.json {
            let line = Line { path: &shown, valid: faults.is_empty(), faults: &faults };
            terminal.print_json_line(&line)?;
            continue;
        }
        let name = plain_line(&shown, 300);
        if faults.is_empty() {
            terminal.print(&format!("{name}: valid\n"))?;
        }
        for fault in &faults {
            terminal.print(&format!("{name}: {}\n", plain_line(&fault.to_string(), 300)))?;
        }
    }
    if failed > 0 {
        let all = args.paths.len();
        return Err(CliError::failed(format!("{failed} of {all} skills do not follow the format")));
    }
    Ok(())
}

fn faults(path: &Path) -> Result<Vec<FormatFault>, CliError> {
    if path.is_dir() {
        return Ok(validate_folder(path));
    }
    let name = name_of_file(&path.display().to_string());
    Ok(validate(&read_input(path)?, name.as_deref()))
}
