//! `memory export`.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_search::Line;
use foreword_store::MemoryRows;
use serde_json::json;

use super::import::BATCH;
use crate::commands::database::reader;
use crate::error::CliError;
use crate::progress::Progress;
use crate::terminal::{Terminal, counted};

/// Export all memories as lines of JSON
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory export memories.jsonl
  foreword memory export | jq -r .text")]
pub(crate) struct MemoryExportArgs {
    /// File to write [default: standard output]
    file: Option<PathBuf>,
    /// Include embeddings
    #[arg(long)]
    vectors: bool,
}

pub(super) fn run(
    workspace: &Path,
    args: &MemoryExportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let reader = reader(workspace, terminal)?;
    let mut progress = Progress::new(terminal);
    let mut write = |out: &mut dyn Write| -> Result<usize, CliError> {
        let Some(reader) = &reader else { return Ok(0) };
        let count = reader.read_memories(|rows| write_all(rows, args.vectors, out, &mut progress));
        Ok(count?.unwrap_or(0))
    };
    let Some(path) = &args.file else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&mut out)?;
        return match out.flush() {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(unwritten("standard output", &error))
            }
            _ => Ok(()),
        };
    };
    // Complete or not at all, and readable only by the owner.
    let name = path.display().to_string();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&part).map_err(|error| unwritten(&name, &error))?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|count| {
        let file = out.into_inner().map_err(|error| unwritten(&name, error.error()))?;
        file.sync_all()
            .and_then(|()| fs::rename(&part, path))
            .map_err(|error| unwritten(&name, &error))?;
        Ok(count)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    let count = written?;
    if terminal.json {
        return terminal.print_json_line(&json!({ "exported": count, "file": name }));
    }
    terminal.print(&format!("exported {} to {name}\n", counted(count as u64, "memory")))
}

fn write_all(
    rows: &MemoryRows<'_>,
    vectors: bool,
    out: &mut dyn Write,
    progress: &mut Progress,
) -> Result<usize, CliError> {
    let mut count = 0;
    let last = rows.last_key()?.unwrap_or(0);
    let mut from = 0;
    while from <= last {
        let to = from.saturating_add(BATCH as i64);
        for memory in rows.range(from, to)? {
            let vector = if vectors { rows.any_vector(memory.key)? } else { None };
            let vector =
                vector.as_ref().map(|(embedder, code)| (embedder.as_str(), code.as_slice()));
            let mut line = Line::of(&memory.entry, vector).to_json()?;
            line.push('\n');
            match out.write_all(line.as_bytes()) {
                // The reader closed the pipe.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(count),
                other => other.map_err(|error| unwritten("the export", &error))?,
            }
            count += 1;
        }
        progress.at("exported", count, None);
        from = to;
    }
    Ok(count)
}

fn unwritten(what: &str, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot write {what}: {error}"))
}
