//! `foreword scan`: does a text read like an injection?

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use foreword_guard::{Scan, ScanVerdict, Scanner};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::args::ScanArgs;
use crate::error::CliError;
use crate::inputs::{read_bytes, shown};
use crate::terminal::{Terminal, paint, plain_line};

/// Bytes of a file, and of a line of JSON.
const MOST_BYTES: u64 = 16 << 20;

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

pub(crate) fn run(args: &ScanArgs, terminal: &Terminal) -> Result<(), CliError> {
    let scanner = scanner()?;
    let (mut blocked, mut all) = (0, 0);
    let mut count = |scan: &Scan| {
        all += 1;
        blocked += usize::from(scan.verdict == ScanVerdict::Block);
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
        let scan = scan_file(&scanner, file)?;
        count(&scan);
        if terminal.json {
            terminal.print_json_line(&Line { file: &shown(file), scan: &scan })?;
        } else {
            terminal.print(&describe(&shown(file), &scan))?;
        }
    }
    if blocked > 0 {
        return Err(CliError::not_right(format!("{blocked} of {all} texts read like injections")));
    }
    Ok(())
}

/// The scanner that is part of this program.
pub(crate) fn scanner() -> Result<Scanner, CliError> {
    Scanner::embedded()
        .map_err(|error| CliError::internal(format!("cannot load the injection scanner: {error}")))
}

fn scan_file(scanner: &Scanner, file: &Path) -> Result<Scan, CliError> {
    let bytes = read_bytes(file, MOST_BYTES)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut scan = scanner.scan(&text);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        scan.reasons.push("not UTF-8: only what could be read of it was judged".to_owned());
    }
    Ok(scan)
}

fn describe(file: &str, scan: &Scan) -> String {
    let colour = match scan.verdict {
        ScanVerdict::Pass => "32",
        ScanVerdict::Flag => "33",
        ScanVerdict::Block => "31",
    };
    let verdict = paint(&format!("{:5}", scan.verdict.as_str()), colour);
    let mut out = format!("{verdict}  {:.2}  {}\n", scan.score, plain_line(file, 300));
    for reason in &scan.reasons {
        out.push_str(&format!("             {}\n", plain_line(reason, 200)));
    }
    out
}

/// Gives `sink` each line of a JSONL file as it is read; blank lines are passed over.
pub(crate) fn each_line<T: DeserializeOwned>(
    file: &Path,
    mut sink: impl FnMut(T) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let name = shown(file);
    let cannot = |error: &std::io::Error| CliError::usage(format!("cannot read {name}: {error}"));
    let stream: Box<dyn Read> = if file.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else if file.is_dir() {
        return Err(CliError::usage(format!("{name} is a directory; a file is expected here")));
    } else {
        Box::new(std::fs::File::open(file).map_err(|error| cannot(&error))?)
    };
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let limited = stream.by_ref().take(MOST_BYTES + 1).read_until(b'\n', &mut line);
        if limited.map_err(|error| cannot(&error))? == 0 {
            break;
        }
        if line.len() as u64 > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(CliError::usage(format!("{name}:{number}: longer than {most} MiB")));
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let value = serde_json::from_slice(&line).map_err(|error| {
            let message = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
            CliError::usage(format!("{name}:{number}: {message}"))
                .hint("each line is a JSON object, such as {\"text\": \"…\"}")
        })?;
        sink(value)?;
    }
    Ok(())
}
