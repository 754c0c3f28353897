//! `memory import`, `export`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write};
use std::path::Path;

use foreword_embed::Embedder;
use foreword_search::{Imported, Line, LineError, Memories, MemoryKind, NewEntry};
use foreword_skills::Act;
use foreword_store::{MEMORY_BLOCK, MemoryRows, Store};
use serde_json::json;

use super::{as_dyn, database, embedder_if_any, reader};
use crate::args::{MemoryExportArgs, MemoryImportArgs};
use crate::error::CliError;
use crate::person::act_of;
use crate::progress::Progress;
use crate::terminal::Terminal;

/// So many memories go into one transaction.
const BATCH: usize = 16 * MEMORY_BLOCK;
/// The most bytes a line may have: a memory in escapes, with a vector.
const LONGEST_LINE: u64 = 1 << 20;

pub(crate) fn import(
    workspace: &Path,
    args: &MemoryImportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let kind = args.kind.as_deref().map(MemoryKind::parse).transpose()?;
    let (name, input): (String, Box<dyn BufRead>) = if args.file.as_os_str() == "-" {
        ("standard input".to_owned(), Box::new(io::stdin().lock()))
    } else {
        let name = args.file.display().to_string();
        let file = File::open(&args.file)
            .map_err(|error| CliError::usage(format!("cannot read {name}: {error}")))?;
        if args.file.is_dir() {
            return Err(CliError::usage(format!("{name} is a directory")));
        }
        (name, Box::new(BufReader::with_capacity(1 << 16, file)))
    };
    let embedder = embedder_if_any(workspace, terminal);
    let mut import = Import {
        store: database(workspace)?,
        embedder: as_dyn(embedder.as_ref()),
        act: act_of(None),
        name: &name,
        batch: Vec::new(),
        counts: Imported::default(),
        warned: false,
        progress: Progress::new(terminal),
    };
    let mut jsonl = args.jsonl.then_some(true);
    let outcome = import.lines(
        input,
        |line| {
            let json = *jsonl.get_or_insert_with(|| line.trim_start().starts_with('{'));
            let mut entry = if json {
                Line::parse(line).map_err(|error| fault(&error))?
            } else {
                let text = line.trim();
                let text = text.strip_prefix("- ").or(text.strip_prefix("* ")).unwrap_or(text);
                let entry =
                    NewEntry { kind: kind.clone().unwrap_or_default(), ..NewEntry::new(text) };
                entry.check().map_err(|error| error.to_string())?;
                entry
            };
            entry.tainted |= args.tainted;
            Ok(entry)
        },
        terminal,
    );
    // What was read before the fault is whole and stays.
    let flushed = import.flush(terminal);
    let Imported { new, same, taken } = import.counts;
    drop(import);
    if let Err(error) = outcome.and(flushed) {
        let said = format!("{new} memories were imported, {same} were there already");
        return Err(error
            .hint(said)
            .hint("import the same file again once it is right: nothing is stored twice"));
    }
    if terminal.json {
        return terminal.print_json_line(&json!({ "new": new, "same": same, "taken": taken }));
    }
    if taken > 0 {
        terminal.warn(&format!("{taken} were left out: another memory has their id"));
    }
    terminal.print(&format!("imported {new} memories; {same} were there already\n"))
}

/// An import under way.
struct Import<'a> {
    store: Store,
    embedder: Option<&'a dyn Embedder>,
    act: Act,
    name: &'a str,
    batch: Vec<NewEntry>,
    counts: Imported,
    warned: bool,
    progress: Progress,
}

impl Import<'_> {
    fn lines(
        &mut self,
        mut input: impl BufRead,
        mut read: impl FnMut(&str) -> Result<NewEntry, String>,
        terminal: &Terminal,
    ) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        for number in 1_u64.. {
            let at = |what: &str| CliError::usage(format!("{}:{number}: {what}", self.name));
            bytes.clear();
            let count = input
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut bytes)
                .map_err(|error| at(&format!("cannot be read: {error}")))?;
            if count == 0 {
                break;
            }
            if bytes.len() as u64 == LONGEST_LINE {
                return Err(at("the line is longer than a mebibyte"));
            }
            let line = str::from_utf8(&bytes).map_err(|_| at("the line is not UTF-8"))?;
            let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
            if line.trim().is_empty() {
                continue;
            }
            self.batch.push(read(line).map_err(|what| at(&what))?);
            if self.batch.len() >= BATCH {
                self.flush(terminal)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, terminal: &Terminal) -> Result<(), CliError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let memories = Memories::new(&self.store, self.embedder);
        let batch = std::mem::take(&mut self.batch);
        let done = memories.import(&self.act.by, self.act.at, self.name, batch)?;
        self.counts.count(&done.added);
        if let (Some(error), false) = (&done.unembedded, self.warned) {
            self.warned = true;
            terminal.warn(&format!("stored without vectors, and found by words only: {error}"));
        }
        let Imported { new, same, taken } = self.counts;
        self.progress.at("imported", new + same + taken, None);
        Ok(())
    }
}

/// What is wrong with a line; the place in it is said in columns.
fn fault(error: &LineError) -> String {
    match error {
        LineError::Json(json) => {
            let message = json.to_string();
            let place = format!(" at line {} column {}", json.line(), json.column());
            let message = message.strip_suffix(&place).unwrap_or(&message);
            format!("no memory: {message} (column {})", json.column())
        }
        other => other.to_string(),
    }
}

pub(crate) fn export(
    workspace: &Path,
    args: &MemoryExportArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let reader = reader(workspace)?;
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
    // Whole or not at all, and for the owner's eyes.
    let shown = path.display().to_string();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&part).map_err(|error| unwritten(&shown, &error))?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|count| {
        let file = out.into_inner().map_err(|error| unwritten(&shown, error.error()))?;
        file.sync_all()
            .and_then(|()| fs::rename(&part, path))
            .map_err(|error| unwritten(&shown, &error))?;
        Ok(count)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    let count = written?;
    if terminal.json {
        return terminal.print_json_line(&json!({ "exported": count, "file": shown }));
    }
    terminal.print(&format!("exported {count} memories to {shown}\n"))
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
                // Whoever read has seen enough.
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
