//! `memory import`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use foreword_embed::Embedder;
use foreword_search::{Chat, Imported, Line, LineError, Memories, MemoryKind, NewEntry};
use foreword_skills::Act;
use foreword_store::{MEMORY_BLOCK, Store};
use serde_json::json;

use super::{as_dyn, database, embedder_if_any};
use crate::error::CliError;
use crate::progress::Progress;
use crate::terminal::{Terminal, counted};
use crate::user_env::act_of;

/// Memories per transaction.
pub(super) const BATCH: usize = 16 * MEMORY_BLOCK;
/// Large enough for a tool result in a transcript; a memory has its own, lower limit.
const MAX_LINE_BYTES: u64 = 64 << 20;

/// Import memories from lines of JSON or text, or from a chat
///
/// A line of JSON needs `text` and may have id, kind, agent, user, session, createdAt (milliseconds since the Unix epoch),
/// date, tainted, source, importance and vector. Memories that are already stored are skipped.
///
/// A line with a `role` (user, assistant or a name), `text` and `time` is a message of a chat. Transcripts of Claude Code
/// and pi are read as they are. Long messages are divided; tool results, system messages and bare acknowledgements are left
/// out. What an assistant said after a tool result is marked as tainted.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword memory import memories.jsonl
  foreword memory import - --jsonl < memories.jsonl
  foreword memory import ~/.claude/projects/my-app/5f2c.jsonl
  foreword memory import notes.txt --kind fact        Store each line as a memory")]
pub(crate) struct MemoryImportArgs {
    /// File with one memory per line, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Read the lines as JSON [default: if the first line starts with {]
    #[arg(long)]
    jsonl: bool,
    /// Kind of memories from text or chats
    #[arg(short, long, value_name = "WORD")]
    kind: Option<String>,
    /// Mark all memories as external and untrusted
    #[arg(long)]
    tainted: bool,
}

pub(super) fn run(
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
    let mut form: Option<Form> = None;
    let outcome = import.lines(
        input,
        |line| {
            let kind = || kind.clone().unwrap_or_default();
            let form = form.get_or_insert_with(|| Form::of(line, args.jsonl, kind()));
            let mut entries = match form {
                Form::Memories => vec![Line::parse(line).map_err(|error| fault(&error))?],
                Form::Chat(chat) => chat.read(line).map_err(|error| error.to_string())?,
                Form::Text => {
                    let text = line.trim();
                    let text = text.strip_prefix("- ").or(text.strip_prefix("* ")).unwrap_or(text);
                    let entry = NewEntry { kind: kind(), ..NewEntry::new(text) };
                    entry.check().map_err(|error| error.to_string())?;
                    vec![entry]
                }
            };
            entries.iter_mut().for_each(|entry| entry.tainted |= args.tainted);
            Ok(entries)
        },
        terminal,
    );
    // Memories before the faulty line are stored.
    let flushed = import.flush(terminal);
    let Imported { new, same, taken } = import.counts;
    drop(import);
    if let Err(error) = outcome.and(flushed) {
        let (new, same) = (counted(new as u64, "memory"), counted(same as u64, "duplicate"));
        return Err(error
            .hint(format!("imported {new} before the error, skipped {same}"))
            .hint("fix the line and import the same file again; stored memories are skipped"));
    }
    let chat = match &form {
        Some(Form::Chat(chat)) => Some(chat),
        _ => None,
    };
    if terminal.json {
        let mut counts = json!({ "new": new, "same": same, "taken": taken });
        if let (Some(chat), Some(fields)) = (chat, counts.as_object_mut()) {
            fields.insert("messages".into(), chat.messages.into());
            fields.insert("skippedLines".into(), chat.skipped.into());
        }
        return terminal.print_json_line(&counts);
    }
    if taken > 0 {
        terminal.warn(&format!(
            "skipped {}: another memory has the same id",
            counted(taken as u64, "memory")
        ));
    }
    let (new, same) = (counted(new as u64, "memory"), counted(same as u64, "duplicate"));
    let read = chat.map_or_else(String::new, |chat| {
        let messages = counted(chat.messages as u64, "message");
        format!("; read {messages}, left out {}", counted(chat.skipped as u64, "other line"))
    });
    terminal.print(&format!("imported {new}, skipped {same}{read}\n"))
}

/// What the lines of a file are.
enum Form {
    Memories,
    Chat(Chat),
    Text,
}

impl Form {
    /// The form of a file by its first line.
    fn of(line: &str, jsonl: bool, kind: MemoryKind) -> Self {
        match line.trim_start().starts_with('{') {
            true if Chat::begins_with(line) => Self::Chat(Chat::new(kind)),
            true => Self::Memories,
            false if jsonl => Self::Memories,
            false => Self::Text,
        }
    }
}

/// An import in progress.
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
        mut read: impl FnMut(&str) -> Result<Vec<NewEntry>, String>,
        terminal: &Terminal,
    ) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        for number in 1_u64.. {
            let at = |what: &str| CliError::usage(format!("{}:{number}: {what}", self.name));
            bytes.clear();
            let count = input
                .by_ref()
                .take(MAX_LINE_BYTES)
                .read_until(b'\n', &mut bytes)
                .map_err(|error| at(&format!("cannot read the line: {error}")))?;
            if count == 0 {
                break;
            }
            if bytes.len() as u64 == MAX_LINE_BYTES {
                return Err(at("the line is longer than 64 MiB"));
            }
            let line = str::from_utf8(&bytes).map_err(|_| at("the line is not UTF-8"))?;
            let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
            if line.trim().is_empty() {
                continue;
            }
            self.batch.extend(read(line).map_err(|what| at(&what))?);
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
            terminal.warn(&format!(
                "stored without embeddings; only keyword search finds these memories: {error}"
            ));
        }
        let Imported { new, same, taken } = self.counts;
        self.progress.at("imported", new + same + taken, None);
        Ok(())
    }
}

/// The error of a line, with its column.
fn fault(error: &LineError) -> String {
    match error {
        LineError::Json(json) => {
            let message = json.to_string();
            let place = format!(" at line {} column {}", json.line(), json.column());
            let message = message.strip_suffix(&place).unwrap_or(&message);
            format!("invalid memory: {message} (column {})", json.column())
        }
        other => other.to_string(),
    }
}
