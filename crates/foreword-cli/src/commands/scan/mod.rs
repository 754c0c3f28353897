//! `foreword scan`: the injection scanner.

mod page;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_guard::{Scan, ScanVerdict, Scanner};
pub(crate) use foreword_serve::scanner;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::inputs::{display_name, read_bytes};
use crate::page_file::write_page;
use crate::terminal::{Terminal, counted, paint, plain_line};
use crate::workspace_arg::WorkspaceArg;

/// The limit for a file, and for a line of JSON.
const MAX_BYTES: u64 = 16 << 20;

/// Scan text for prompt injection
///
/// Prints PASS, FLAG or BLOCK with a score, reasons and the places of the findings. Parses HTML, JSON and mail,
/// including hidden text. Exits with 1 if any text is blocked. A verdict is a signal, not a
/// proof. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword scan mail.txt notes.md
  curl -s https://example.org/page | foreword scan
  foreword scan --html findings.html page.html
  foreword scan --jsonl texts.jsonl | jq -r .verdict")]
pub(crate) struct ScanArgs {
    /// Files to scan, or - for standard input
    #[arg(value_name = "FILE|-", default_value = "-")]
    files: Vec<PathBuf>,
    /// Read one JSON object with a `text` field per line, and print one result per line
    #[arg(long)]
    jsonl: bool,
    /// Write a self-contained HTML page that shows the findings in their texts
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    html: Option<PathBuf>,
}

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(flatten)]
    scan: &'a Scan,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

pub(crate) fn run(_: &WorkspaceArg, args: &ScanArgs, terminal: &Terminal) -> Result<(), CliError> {
    let scanner = scanner()?;
    let mut page = page::ScanPage::default();
    let (mut blocked, mut all) = (0_u64, 0);
    let mut count = |scan: &Scan| {
        all += 1;
        blocked += u64::from(scan.verdict == ScanVerdict::Block);
    };
    for file in &args.files {
        if args.jsonl {
            each_line(file, |text: Text| {
                let scan = scanner.scan(&text.text);
                count(&scan);
                terminal.print_json_line(&scan)
            })?;
            continue;
        }
        let name = display_name(file);
        let (text, scan) = scan_file(&scanner, file)?;
        count(&scan);
        if terminal.json {
            terminal.print_json_line(&Line { file: &name, scan: &scan })?;
        } else {
            terminal.print(&describe(&name, &scan))?;
        }
        if args.html.is_some() {
            page.add(&name, &text, &scan);
        }
    }
    if let Some(path) = &args.html {
        write_page(path, &page.finish(), terminal)?;
    }
    if blocked > 0 {
        return Err(CliError::failed(format!("blocked {blocked} of {}", counted(all, "text"))));
    }
    Ok(())
}

fn scan_file(scanner: &Scanner, file: &Path) -> Result<(String, Scan), CliError> {
    let bytes = read_bytes(file, MAX_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut scan = scanner.scan(&text);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        scan.reasons.push("not UTF-8; invalid bytes were skipped".to_owned());
    }
    Ok((text.into_owned(), scan))
}

fn describe(file: &str, scan: &Scan) -> String {
    let colour = match scan.verdict {
        ScanVerdict::Pass => "32",
        ScanVerdict::Flag => "33",
        ScanVerdict::Block => "31",
    };
    let verdict = paint(&format!("{:5}", scan.verdict.as_str()), colour);
    let place = scan.findings.first().map_or(String::new(), |worst| format!(":{}", worst.line));
    let mut out = format!("{verdict}  {:.2}  {}{place}\n", scan.score, plain_line(file, 300));
    for reason in &scan.reasons {
        out.push_str(&format!("             {}\n", plain_line(reason, 200)));
    }
    for other in scan.findings.iter().skip(1) {
        let reading = other.reading.as_deref().map_or(String::new(), |r| format!(" ({r})"));
        let found = format!("line {}{reading}: \"{}\"", other.line, other.excerpt);
        out.push_str(&format!("             also {}\n", plain_line(&found, 200)));
    }
    out
}

/// Passes each line of a JSONL file to `sink`; skips blank lines.
pub(crate) fn each_line<T: DeserializeOwned>(
    file: &Path,
    mut sink: impl FnMut(T) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let name = display_name(file);
    let cannot = |error: &std::io::Error| CliError::usage(format!("cannot read {name}: {error}"));
    let stream: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else if file.is_dir() {
        return Err(CliError::usage(format!("{name} is a directory; expected a file")));
    } else {
        Box::new(std::fs::File::open(file).map_err(|error| cannot(&error))?)
    };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let limited = stream.by_ref().take(MAX_BYTES + 1).read_until(b'\n', &mut line);
        if limited.map_err(|error| cannot(&error))? == 0 {
            break;
        }
        if line.len() as u64 > MAX_BYTES {
            let max = MAX_BYTES >> 20;
            return Err(CliError::usage(format!("{name}:{number}: line is longer than {max} MiB")));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = serde_json::from_slice(&line).map_err(|error| {
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
            CliError::usage(format!("{name}:{number}: {message}"))
                .hint("each line must be a JSON object such as {\"text\": \"…\"}")
        })?;
        sink(value)?;
    }
    Ok(())
}
