//! How fast memories are imported, loaded and recalled, and what the first look by sketches loses.
//!
//! `cargo run --profile profiling -p foreword-search --example memory_speed -- --entries 100000`
//!
//! Sentences are made up from a grammar, or with `--texts DIR` from the `text` and `description`
//! fields of the JSON lines below a directory, two to a memory. With `--database DIR` the database
//! is kept there and used again. All on one core.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use foreword_embed::{Embedder as _, StaticEmbedder, Vector};
use foreword_search::{Memories, MemoryEngine, MemoryScope, NewEntry, Recall};
use foreword_store::{AuditKey, Heads, Reader, Store};

const NOW: i64 = 1_772_000_000_000;
const BATCH: u64 = 4096;

fn main() {
    let mut entries = 100_000_u64;
    let mut queries = 400_u64;
    let mut texts = None;
    let mut directory = None;
    let mut exact = true;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value");
        match arg.as_str() {
            "--entries" => entries = value().parse().unwrap(),
            "--queries" => queries = value().parse().unwrap(),
            "--texts" => texts = Some(PathBuf::from(value())),
            "--database" => directory = Some(PathBuf::from(value())),
            "--no-exact" => exact = false,
            other => panic!("unknown argument {other}"),
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = directory.unwrap_or_else(|| scratch.path().to_owned());
    let source = Source::new(texts.as_deref());
    let embedder = StaticEmbedder::embedded().unwrap();
    let database = directory.join("foreword.db");
    if !database.exists() {
        import(&directory, &database, &source, &embedder, entries);
    }
    let size = std::fs::metadata(&database).unwrap().len();
    println!("database: {:.1} MB", size as f64 / 1e6);

    let questions: Vec<String> = (0..queries).map(|number| source.question(number)).collect();
    let (took, vectors) = timed(|| {
        let one = |text: &String| embedder.embed(&[text.as_str()]).unwrap().remove(0);
        questions.iter().map(one).collect::<Vec<Vector>>()
    });
    println!("embedding a question: {:.1} µs", took.as_secs_f64() * 1e6 / queries as f64);
    let before = resident();
    let cold = percentiles((0..questions.len().min(50)).map(|number| {
        let (question, vector) = (&questions[number], &vectors[number]);
        timed(|| {
            let engine = MemoryEngine::open_read(&database).unwrap().unwrap();
            let recall = Recall { vector: Some(vector), ..Recall::new(question, NOW) };
            engine.recall(&recall).unwrap()
        })
        .0
    }));
    println!("opening and one question: {cold}");
    let (opened, engine) = timed(|| MemoryEngine::open_read(&database).unwrap().unwrap());
    let ask = |number: usize| {
        let recall = Recall {
            vector: Some(&vectors[number]),
            user: Some("u1"),
            ..Recall::new(&questions[number], NOW)
        };
        engine.recall(&recall).unwrap()
    };
    let (first, _) = timed(|| ask(0));
    println!(
        "opening {:.2} ms, first question {:.2} ms, memory {:.1} MB",
        ms(opened),
        ms(first),
        (resident() - before) / 1e6
    );
    // Warm: what is kept is there.
    (0..questions.len() / 2).for_each(|number| drop(ask(number)));
    let half = questions.len() / 2;
    let near = percentiles(
        (half..questions.len())
            .map(|number| timed(|| engine.nearest(&vectors[number], 10).unwrap()).0),
    );
    println!("vector part: {near}");
    let mut found = 0;
    let hybrid = percentiles((half..questions.len()).map(|number| {
        let (took, recalled) = timed(|| ask(number));
        found += recalled.hits.len();
        took
    }));
    println!(
        "hybrid: {hybrid}, {:.2} hits a question",
        found as f64 / (questions.len() - half) as f64
    );
    let again = percentiles((half..questions.len()).map(|number| timed(|| ask(number)).0));
    println!("hybrid, asked before: {again}");
    let words = percentiles((half..questions.len()).map(|number| {
        let recall = Recall { user: Some("u1"), ..Recall::new(&questions[number], NOW) };
        timed(|| engine.recall(&recall).unwrap()).0
    }));
    println!("words alone: {words}; memory {:.1} MB", (resident() - before) / 1e6);
    if exact {
        println!(
            "recall@10 of the exact scan: {:.4}",
            recall(&engine, &database, &embedder, &vectors)
        );
    }
}

fn import(
    directory: &Path,
    database: &Path,
    source: &Source,
    embedder: &StaticEmbedder,
    entries: u64,
) {
    let config = directory.join("config");
    let key = AuditKey::load_or_create(&config).unwrap();
    let store = Store::open(database, key, Heads::new(&config)).unwrap();
    let memories = Memories::new(&store, Some(embedder));
    let start = Instant::now();
    for first in (0..entries).step_by(BATCH as usize) {
        let batch = (first..(first + BATCH).min(entries)).map(|n| source.entry(n)).collect();
        memories.import("user:bench", NOW, "bench", batch).unwrap();
        if (first / BATCH).is_multiple_of(50) {
            eprintln!("{first} after {:.1} s", start.elapsed().as_secs_f64());
        }
    }
    let took = start.elapsed().as_secs_f64();
    println!(
        "import: {took:.1} s, {:.0} a second, memory {:.1} MB",
        entries as f64 / took,
        resident() / 1e6
    );
}

/// The share of the ten nearest by exact vectors that the engine gives too.
fn recall(
    engine: &MemoryEngine,
    database: &Path,
    embedder: &StaticEmbedder,
    questions: &[Vector],
) -> f64 {
    let questions = &questions[..questions.len().min(100)];
    let mut best: Vec<Vec<f32>> = vec![Vec::new(); questions.len()];
    let reader = Reader::open(database).unwrap();
    let last = reader.read_memories(|rows| rows.last_key()).unwrap().flatten().unwrap();
    for first in (1..=last).step_by(BATCH as usize) {
        let some = reader.read_memories(|rows| rows.range(first, first + BATCH as i64));
        let some = some.unwrap().unwrap();
        let texts: Vec<&str> = some.iter().map(|memory| memory.entry.text.as_str()).collect();
        let vectors = embedder.embed(&texts).unwrap();
        for (question, best) in questions.iter().zip(&mut best) {
            best.extend(vectors.iter().map(|vector| question.cosine(vector).unwrap()));
            best.sort_by(|a, b| b.total_cmp(a));
            best.truncate(10);
        }
    }
    let mut kept = 0.0;
    for (question, best) in questions.iter().zip(&best) {
        let least = best.last().unwrap() - 1e-6;
        let found = engine.nearest(question, 10).unwrap();
        let right = found.iter().filter(|(key, _)| {
            let memory = reader.read_memories(|rows| rows.at(*key)).unwrap().flatten().unwrap();
            let vector = embedder.embed(&[memory.entry.text.as_str()]).unwrap().remove(0);
            question.cosine(&vector).unwrap() >= least
        });
        kept += right.count() as f64 / best.len() as f64;
    }
    kept / questions.len() as f64
}

/// Time of the processor: other work on the machine does not count.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap())
    };
    let start = now();
    let value = work();
    (now() - start, value)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn percentiles(times: impl Iterator<Item = Duration>) -> String {
    let mut times: Vec<f64> = times.map(ms).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    format!("p50 {:.3} ms, p95 {:.3} ms, p99 {:.3} ms", at(0.5), at(0.95), at(0.99))
}

fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
}

/// Where the texts come from.
struct Source {
    sentences: Vec<String>,
}

impl Source {
    fn new(texts: Option<&Path>) -> Self {
        let mut sentences = Vec::new();
        if let Some(directory) = texts {
            collect(directory, &mut sentences);
            sentences.sort();
            sentences.dedup();
            println!("{} sentences", sentences.len());
        }
        Self { sentences }
    }

    fn sentence(&self, random: &mut Random) -> String {
        match self.sentences.as_slice() {
            [] => made_up(random),
            all => random.pick(all).clone(),
        }
    }

    fn entry(&self, number: u64) -> NewEntry {
        let mut random = Random(number.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x6d65_6d6f);
        let mut text = self.sentence(&mut random);
        // Two thirds say two things, as notes do.
        if random.below(3) > 0 {
            text = format!("{text} — {}", self.sentence(&mut random));
        }
        let name = random.pick(NAMES);
        let text = match random.below(4) {
            0 => format!("{name}: {text}"),
            1 => format!("{text} (ticket {})", random.below(100_000)),
            2 => format!("{name}, {}.{}.: {text}", 1 + random.below(28), 1 + random.below(12)),
            _ => text,
        };
        let user = format!("u{}", random.below(50));
        let scope = if random.below(2) == 0 {
            MemoryScope { user: Some(user), ..MemoryScope::default() }
        } else {
            MemoryScope::default()
        };
        let age = random.below(400) as i64 * 86_400_000;
        NewEntry { scope, created_at: Some(NOW - age), ..NewEntry::new(text) }
    }

    /// A question that is like some memories and equal to none.
    fn question(&self, number: u64) -> String {
        let mut random = Random(number ^ 0x7175_6573_7469_6f6e);
        let text = self.sentence(&mut random);
        match random.below(3) {
            0 => format!("please look up: {text}"),
            1 => format!("what do we know about this? {text}"),
            _ => text,
        }
    }
}

fn collect(directory: &Path, sentences: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sentences);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                let value: serde_json::Value = serde_json::from_str(line).unwrap();
                for field in ["text", "description"] {
                    if let Some(text) = value[field].as_str().filter(|text| !text.trim().is_empty())
                    {
                        sentences.push(text.chars().take(400).collect());
                    }
                }
            }
        }
    }
}

/// A fixed sequence of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

fn made_up(random: &mut Random) -> String {
    let (who, what) = (random.pick(NAMES), random.pick(THINGS));
    let (other, place, when) = (random.pick(THINGS), random.pick(PLACES), random.pick(TIMES));
    let number = random.below(500);
    match random.below(10) {
        0 => format!("{who} prefers the {what} to the {other} {when}"),
        1 => format!("The {what} in {place} was replaced {when} because of the {other}"),
        2 => format!("{who} asked for {number} copies of the {what} from {place}"),
        3 => format!("Remember to check the {what} before the {other} is shipped to {place}"),
        4 => format!("{who} prefere {place} para falar sobre o {what} {when}"),
        5 => format!("O {what} de {place} custa {number} euros e precisa de {other}"),
        6 => format!("{who} n'aime pas le {what} de {place}, surtout {when}"),
        7 => format!("Il faut {number} minutes pour préparer le {what} avec le {other}"),
        8 => format!("The password of the {what} is kept by {who} in {place}"),
        _ => format!("Meeting {when}: {who} will present the {what} and the {other}"),
    }
}

const NAMES: &[&str] = &[
    "Ada", "Bruno", "Chiara", "Dmitri", "Elif", "Fátima", "Goran", "Hana", "Ines", "João", "Kofi",
    "Lucía", "Mateus", "Noor", "Olga", "Priya", "Quentin", "Rosa", "Sven", "Thandi", "Ugo", "Vera",
    "Wen", "Ximena", "Yuki", "Zoltán",
];
const THINGS: &[&str] = &[
    "database",
    "invoice",
    "garden",
    "printer",
    "deployment",
    "contract",
    "bicycle",
    "server",
    "recipe",
    "calendar",
    "password",
    "kitchen",
    "budget",
    "flight",
    "report",
    "guitar",
    "mortgage",
    "dentist",
    "backup",
    "newsletter",
    "telescope",
    "vaccine",
    "compiler",
    "novel",
    "insurance",
    "thermostat",
    "playlist",
    "wedding",
    "passport",
    "microscope",
    "warehouse",
    "painting",
    "router",
    "marathon",
    "orchestra",
    "battery",
    "greenhouse",
    "spreadsheet",
    "lighthouse",
    "violin",
    "bakery",
    "satellite",
    "tractor",
    "aquarium",
    "firewall",
    "scholarship",
    "chimney",
    "podcast",
    "inventory",
    "migration",
    "allergy",
    "sculpture",
    "elevator",
    "curtain",
    "museum",
    "laptop",
];
const PLACES: &[&str] = &[
    "Lisbon",
    "Porto",
    "Lyon",
    "Marseille",
    "Berlin",
    "Oslo",
    "Nairobi",
    "Osaka",
    "Lima",
    "Quito",
    "Boston",
    "Leeds",
    "Ghent",
    "Turin",
    "Kraków",
    "Izmir",
    "Hanoi",
    "Perth",
    "Cusco",
    "Tbilisi",
];
const TIMES: &[&str] = &[
    "on Mondays",
    "in winter",
    "last spring",
    "every evening",
    "since the move",
    "next Thursday",
    "before noon",
    "at the end of the quarter",
    "during the audit",
    "after the holidays",
];
