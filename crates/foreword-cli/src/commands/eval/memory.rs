//! `foreword eval memory`: recall of memories on a set of questions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use foreword_embed::Embedder;
use foreword_search::{
    Memories, MemoryEngine, MemoryScope, NewEntry, Recall, RecallOutcome, RecallSummary,
    written_date,
};
use foreword_store::{AddOutcome, AuditKey, Durability, Heads, MemoryId, Options, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{format_interval, format_share};
use crate::args::EmbedderArgs;
use crate::embedders;
use crate::error::CliError;
use crate::inputs::{display_name, read_input};
use crate::progress::Progress;
use crate::terminal::{Terminal, plain_line};

/// Memories in a prompt, unless a workspace says otherwise.
const MAX_MEMORIES: usize = 3;
/// A build recalls some more, in case the scanner refuses one.
const RECALLED: usize = MAX_MEMORIES + 4;
/// How deep the ranking is looked at.
const DEPTH: usize = 10;

/// Measure memory recall: what is found, and what would be put into a prompt
///
/// Stores the memories of each line in a temporary database and asks its questions. Reports recall among the first 3 and
/// 10, and the precision of the memories that a prompt would get with default settings. Intervals are 95% bootstrap
/// intervals over questions. Needs no workspace.
#[derive(Args, Debug)]
#[command(after_help = "\
Each line of FILE has the memories of one person or conversation, oldest first, and questions:
  {\"memories\": [{\"id\": \"m1\", \"text\": \"Ada: I moved to Porto\", \"date\": \"2026-02-26\"}],
   \"questions\": [{\"text\": \"Where does Ada live?\", \"relevant\": [\"m1\"], \"category\": \"facts\"}]}
A memory may have a `session`. A `date` may be in any common notation. A question with an empty
`relevant` list has no answer. Other fields are ignored.

Examples:
  foreword eval memory conversations.jsonl
  foreword eval memory conversations.jsonl --embedder use --json | jq .all.r10")]
pub(crate) struct EvalMemoryArgs {
    /// Memories with questions, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// List every question with the memories that were put into the prompt
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

#[derive(Deserialize)]
struct Conversation {
    memories: Vec<Memory>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Memory {
    id: String,
    text: String,
    date: Option<String>,
    session: Option<String>,
}

#[derive(Deserialize)]
struct Question {
    text: String,
    relevant: Vec<String>,
    #[serde(default)]
    category: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    all: RecallSummary,
    per_category: BTreeMap<String, RecallSummary>,
    conversations: usize,
    memories: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedder: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    questions: Vec<Answer>,
}

/// A question and what was put into its prompt.
#[derive(Serialize)]
struct Answer {
    question: String,
    category: String,
    relevant: Vec<String>,
    found: Vec<String>,
    given: Vec<(String, f32)>,
}

pub(crate) fn run(args: &EvalMemoryArgs, terminal: &Terminal) -> Result<(), CliError> {
    let name = display_name(&args.file);
    let text = read_input(&args.file)?;
    let embedder = embedders::open(&args.embedder)?;
    let embedder = embedder.as_deref();
    let mut progress = Progress::new(terminal);
    let (mut outcomes, mut answers) = (Vec::new(), Vec::new());
    let (mut conversations, mut memories) = (0, 0);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let at = |what: &str| {
            CliError::usage(format!("{name}:{number}: {what}"))
                .hint("see `foreword eval memory --help` for the format")
        };
        let conversation: Conversation =
            serde_json::from_str(line).map_err(|error| at(&error.to_string()))?;
        check(&conversation).map_err(|what| at(&what))?;
        conversations += 1;
        memories += conversation.memories.len();
        progress.at("conversations", conversations, None);
        let bench = Bench::new(&conversation, embedder)?;
        for question in &conversation.questions {
            let (outcome, answer) = bench.ask(question, embedder)?;
            outcomes.push(outcome);
            answers.extend(args.list.then_some(answer));
        }
    }
    // Clears the progress line before the result is printed.
    drop(progress);
    if outcomes.is_empty() {
        return Err(CliError::usage(format!("{name} contains no questions"))
            .hint("see `foreword eval memory --help` for the format"));
    }
    let report = Report {
        all: RecallSummary::of(&outcomes),
        per_category: RecallSummary::by_category(&outcomes),
        conversations,
        memories,
        embedder: embedder.map(|embedder| embedder.id().to_string()),
        questions: answers,
    };
    if terminal.json { terminal.print_json(&report) } else { terminal.print(&table(&report)) }
}

/// What is wrong with a conversation, if anything.
fn check(conversation: &Conversation) -> Result<(), String> {
    if conversation.memories.is_empty() {
        return Err("`memories` is empty".to_owned());
    }
    let mut ids = HashSet::new();
    for memory in &conversation.memories {
        if !ids.insert(memory.id.as_str()) {
            return Err(format!("two memories have the id `{}`", plain_line(&memory.id, 80)));
        }
        if memory.date.as_deref().is_some_and(|date| written_date(date).is_none()) {
            let date = plain_line(memory.date.as_deref().unwrap_or_default(), 80);
            return Err(format!("invalid date `{date}`; expected a date such as 2026-02-26"));
        }
    }
    for question in &conversation.questions {
        if let Some(id) = question.relevant.iter().find(|id| !ids.contains(id.as_str())) {
            return Err(format!("no memory has the id `{}`", plain_line(id, 80)));
        }
    }
    Ok(())
}

/// The memories of one conversation in a database of their own.
struct Bench {
    engine: MemoryEngine,
    /// The id under which a memory is stored; equal texts are stored once.
    stored: HashMap<String, String>,
    now_ms: i64,
    /// Removed when the bench is.
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new(conversation: &Conversation, embedder: Option<&dyn Embedder>) -> Result<Self, CliError> {
        let folder = tempfile::tempdir().map_err(|error| {
            CliError::failed(format!("cannot create a temporary directory: {error}"))
        })?;
        let database = folder.path().join("foreword.db");
        let config = folder.path().join("config");
        let options = Options { durability: Durability::Fast, ..Options::default() };
        let key = AuditKey::load_or_create(&config)?;
        let store = Store::open_with(&database, key, Heads::new(&config), options)?;
        let entries: Vec<NewEntry> = conversation.memories.iter().map(entry).collect();
        // Questions are asked when the last memory has been stored.
        let dates = conversation.memories.iter().filter_map(|memory| memory.date.as_deref());
        let now_ms = dates.filter_map(|date| Some(written_date(date)?.1)).max().unwrap_or_default();
        let batch =
            Memories::new(&store, embedder).import("user:eval", now_ms, "evaluation", entries)?;
        if let Some(error) = batch.unembedded {
            return Err(error.into());
        }
        let stored = conversation.memories.iter().zip(&batch.added).map(|(memory, added)| {
            let (AddOutcome::Added(id) | AddOutcome::Duplicate(id) | AddOutcome::IdTaken(id)) =
                added;
            (memory.id.clone(), id.to_string())
        });
        let stored = stored.collect();
        drop(store);
        let engine = MemoryEngine::open_read(&database)?
            .ok_or_else(|| CliError::internal("the memories were not stored"))?;
        Ok(Self { engine, stored, now_ms, _folder: folder })
    }

    fn ask(
        &self,
        question: &Question,
        embedder: Option<&dyn Embedder>,
    ) -> Result<(RecallOutcome, Answer), CliError> {
        let started = Instant::now();
        let vectors = embedder.map(|embedder| embedder.embed(&[&question.text])).transpose()?;
        let vector = vectors.as_ref().and_then(|vectors| vectors.first());
        let recall = Recall {
            vector,
            limit: RECALLED,
            all_scopes: true,
            ..Recall::new(&question.text, self.now_ms)
        };
        let mut recalled = self.engine.recall(&recall)?;
        let took = started.elapsed();
        let mut given = std::mem::take(&mut recalled.hits);
        let best = given.first().map_or(0.0, |hit| hit.evidence);
        given.retain(|hit| recalled.stands_out(hit, best));
        given.truncate(MAX_MEMORIES);
        let all = Recall { limit: DEPTH, min_score: Some(0.0), diversity: 0.0, ..recall };
        let found = self.engine.recall(&all)?.hits;
        let relevant: HashSet<&str> = question
            .relevant
            .iter()
            .filter_map(|id| self.stored.get(id))
            .map(String::as_str)
            .collect();
        let answers = |id: &str| relevant.contains(id);
        let category = match &question.category {
            Value::Null => String::new(),
            Value::String(name) => name.clone(),
            other => other.to_string(),
        };
        let places = found.iter().enumerate().filter(|(_, hit)| answers(hit.entry.id.as_str()));
        let outcome = RecallOutcome {
            category: category.clone(),
            places: places.map(|(place, _)| place).collect(),
            relevant: relevant.len(),
            given: given.len(),
            answering: given.iter().filter(|hit| answers(hit.entry.id.as_str())).count(),
            took,
        };
        let answer = Answer {
            question: question.text.clone(),
            category,
            relevant: question.relevant.clone(),
            found: found.iter().map(|hit| hit.entry.id.to_string()).collect(),
            given: given.iter().map(|hit| (hit.entry.id.to_string(), hit.score)).collect(),
        };
        Ok((outcome, answer))
    }
}

fn entry(memory: &Memory) -> NewEntry {
    NewEntry {
        // Of equal scores the lower id comes first: a random one would change the figures.
        id: MemoryId::parse(&memory.id).ok(),
        date: memory.date.as_deref().and_then(|date| Some(written_date(date)?.0)),
        scope: MemoryScope { session: memory.session.clone(), ..MemoryScope::default() },
        ..NewEntry::new(memory.text.as_str())
    }
}

fn table(report: &Report) -> String {
    let mut out = format!(
        "{:14} {:>9} {:>6} {:>13} {:>6} {:>13} {:>8} {:>9} {:>13} {:>6} {:>8}\n",
        "category",
        "questions",
        "r3",
        "95%",
        "r10",
        "95%",
        "answered",
        "precision",
        "95%",
        "given",
        "p95 ms"
    );
    let mut row = |name: &str, x: &RecallSummary| {
        let _ = writeln!(
            out,
            "{:14} {:>9} {:>6} {:>13} {:>6} {:>13} {:>8} {:>9} {:>13} {:>6.2} {:>8.3}",
            plain_line(if name.is_empty() { "-" } else { name }, 14),
            x.questions,
            format_share(x.r3),
            format_interval(x.intervals.get("r3")),
            format_share(x.r10),
            format_interval(x.intervals.get("r10")),
            format_share(x.answered),
            format_share(x.precision),
            format_interval(x.intervals.get("precision")),
            x.given,
            x.p95_ms
        );
    };
    if report.per_category.len() > 1 {
        report.per_category.iter().for_each(|(name, summary)| row(name, summary));
    }
    row("all", &report.all);
    if let Some(share) = report.all.abstained {
        let share = share * 100.0;
        let _ = writeln!(out, "nothing was put in for {share:.0}% of unanswerable questions");
    }
    for Answer { question, relevant, given, .. } in &report.questions {
        let given: Vec<String> =
            given.iter().map(|(id, score)| format!("{id} {score:.2}")).collect();
        let (relevant, given) = (relevant.join(", "), given.join(", "));
        let _ =
            writeln!(out, "{}\n  answer: {relevant}; given: {given}", plain_line(question, 160));
    }
    let embedder = report.embedder.as_deref().unwrap_or("keywords only");
    let _ = writeln!(
        out,
        "{} memories of {} conversations, {embedder}",
        report.memories, report.conversations
    );
    out
}
