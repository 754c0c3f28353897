//! What the host costs: `cargo xtask bench-host`, or
//! `cargo run --profile profiling -p foreword-host --example host_speed -- [PART…]`.
//!
//! It is its own agent: inside the sandbox it runs the same loop as `foreword agent`. Parts are `turns`,
//! `commands`, `look`, `reads`, `writes` and `sessions`; all unless told. The model is a server on loopback that
//! answers at once. For `sessions`, these variables change what is measured:
//!
//! - `FOREWORD_BENCH_SECONDS`: how long it takes; 60 unless told.
//! - `FOREWORD_BENCH_SESSIONS`: sessions at once; 200 unless told.
//! - `FOREWORD_BENCH_TURNS`: turns of a conversation before the next one starts; 10 unless told.
//! - `FOREWORD_BENCH_MODEL_MS`: how long the model takes to answer; 0 unless told.
//! - `FOREWORD_BENCH_LEAK_KB`: keeps so much of each turn, to see that the check of memory finds it; 0 unless told.
//!
//! It fails if a turn does, or if the memory of `sessions` is not flat after the first minute.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod model;
mod sessions;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foreword_agent::Surroundings;
use foreword_host::{Host, HostOptions, Observer, TurnRequest};
use foreword_protocol::{Action, Client, Nothing, SkillPropose, TodoItem, TodoState, TodoWrite};
use foreword_sandbox::{LAUNCHER_COMMAND, run_launcher};
use foreword_store::{Options, SessionId};
use serde_json::Value;

use crate::sessions::Load;

const TURNS: usize = 200;
/// Files of the workspace in which the look at what a turn changed is timed, and turns there.
const FILES: usize = 20_000;
const LOOKS: usize = 20;
const READS: usize = 100_000;
const WRITES: usize = 50_000;
const WRITERS: usize = 32;
/// Calls of a program as a tool in one answer, answers, and runs of the program without us.
const CALLS: usize = 50;
const ANSWERS: usize = 4;
const DIRECT: usize = 200;
/// What a message says to have the tools called.
const CALL_TOOLS: &str = "Call the tools.";

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).collect();
    match parts.first().map(String::as_str) {
        Some("agent") => return be_agent(),
        Some("direct") => return run_directly(),
        Some("model") => return model::serve(parts.get(1).map_or(0, |ms| ms.parse().unwrap())),
        Some(LAUNCHER_COMMAND) => {
            let code = run_launcher(std::env::args_os().skip(2)).unwrap();
            std::process::exit(code.into());
        }
        _ => {}
    }
    let wants = |part: &str| parts.is_empty() || parts.iter().any(|given| given == part);
    let load = Load::from_environment();
    // Only sessions are measured with a slow model.
    let (mut model_process, model) = model::start(load.model_ms);
    let scratch = tempfile::tempdir().unwrap();
    let host = open(scratch.path(), &model);
    if wants("turns") {
        turns(&host);
    }
    if wants("commands") {
        commands(&host);
    }
    if wants("look") {
        look(&host);
    }
    if wants("reads") {
        reads(&host);
    }
    if wants("writes") {
        writes(&host);
    }
    let is_well = !wants("sessions") || load.run(&host);
    model_process.kill().unwrap();
    model_process.wait().unwrap();
    drop(host);
    drop(scratch);
    if !is_well {
        std::process::exit(1);
    }
}

fn be_agent() {
    let surroundings =
        Surroundings { variables: std::env::vars_os().collect(), temp_dir: std::env::temp_dir() };
    let outcome =
        foreword_agent::run(std::io::stdin().lock(), &mut std::io::stdout(), &surroundings);
    std::process::exit(outcome.exit_code().into());
}

/// Runs a program as often as the tools are called, without us, and prints the median in milliseconds.
fn run_directly() {
    let times = (0..DIRECT).map(|_| {
        let began = Instant::now();
        Command::new("true").output().unwrap();
        began.elapsed().as_secs_f64() * 1000.0
    });
    println!("{}", Times::of(times.collect()).part(50));
}

fn open(scratch: &Path, model: &str) -> Arc<Host> {
    let root = scratch.join("workspace");
    std::fs::create_dir_all(&root).unwrap();
    let program = std::env::current_exe().unwrap();
    std::fs::copy(program, root.join("host_speed")).unwrap();
    let files = [
        ("foreword.toml", "model = 'test-model'\n\n[host]\ncalls_per_second = 1000000\n"),
        ("SOUL.md", "Calm and exact.\n"),
        ("AGENTS.md", "Work on the shop.\n"),
        (
            "tools.toml",
            "[[tool]]\nname = 'noop'\ndescription = 'Do nothing.'\ncommand = ['true']\n\
             [[tool]]\nname = 'direct'\ndescription = 'Time it.'\ncommand = ['./host_speed', 'direct']\n",
        ),
    ];
    for (path, text) in files {
        std::fs::write(root.join(path), text).unwrap();
    }
    let config = scratch.join("config");
    std::fs::create_dir_all(&config).unwrap();
    // Hundreds of sessions take more than a day's minutes.
    let limit = |period: &str| {
        format!(
            "[limits.{period}]\ntokens = 'unlimited'\ncost = 'unlimited'\nminutes = 'unlimited'\n"
        )
    };
    let settings = limit("session") + &limit("day");
    std::fs::write(config.join("settings.toml"), settings).unwrap();
    let model = model.to_owned();
    let host = Host::open(HostOptions {
        root,
        config_dir: config,
        models_dir: None,
        embeddings: Default::default(),
        person: "user:bench".to_owned(),
        environment: Box::new(move |name| match name {
            "PATH" => std::env::var(name).ok(),
            "ANTHROPIC_BASE_URL" => Some(model.clone()),
            _ => None,
        }),
        clock: || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            i64::try_from(now.as_millis()).unwrap()
        },
        run_base: scratch.join("run"),
        program: std::env::current_exe().unwrap(),
        library: None,
        home: None,
        store: Options::default(),
    })
    .unwrap();
    host.trust(&host.standing(None).unwrap().1).unwrap();
    host
}

fn ask(session: &str, message: &str) -> TurnRequest {
    TurnRequest {
        message: message.to_owned(),
        session: Some(SessionId::parse(session).unwrap()),
        ..TurnRequest::default()
    }
}

/// Sorted times, in milliseconds.
struct Times(Vec<f64>);

impl Times {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    fn part(&self, of_100: usize) -> f64 {
        self.0[(self.0.len() - 1) * of_100 / 100]
    }
}

/// One conversation after another, ten turns each, in one process.
fn turns(host: &Arc<Host>) {
    learn(host);
    let (mut overhead, mut whole) = (Vec::new(), Vec::new());
    let mut sandbox = String::new();
    let before = processor_ms();
    for number in 0..TURNS {
        let began = Instant::now();
        let request = ask(&format!("turns-{}", number / 10), "What is on today?");
        let report = host.turn(&request, &mut ()).unwrap();
        whole.push(began.elapsed().as_secs_f64() * 1000.0);
        overhead.push(report.overhead_ms);
        sandbox = report.sandbox;
    }
    let processor = (processor_ms() - before) / f64::from(u32::try_from(TURNS).unwrap());
    println!(
        "first turn of the process: overhead {:.1} ms; processor time of this process a turn, model's server included: {processor:.1} ms",
        overhead[0]
    );
    let (overhead, whole) = (Times::of(overhead), Times::of(whole));
    println!(
        "{TURNS} turns in {sandbox}: overhead p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms; whole turn p50 {:.1} ms, p95 {:.1} ms",
        overhead.part(50),
        overhead.part(95),
        overhead.part(99),
        whole.part(50),
        whole.part(95)
    );
}

/// Times from a tool's call to its result, as the host sees them.
#[derive(Default)]
struct ToolTimes {
    began: Option<Instant>,
    noop: Vec<f64>,
    direct: Vec<f64>,
}

impl Observer for ToolTimes {
    fn tool_call(&mut self, _name: &str, _input: &Value) {
        self.began = Some(Instant::now());
    }

    fn tool_result(&mut self, name: &str, content: &str, is_error: bool) {
        assert!(!is_error, "{name}: {content}");
        let took = self.began.take().unwrap().elapsed().as_secs_f64() * 1000.0;
        match name {
            "noop" => self.noop.push(took),
            _ => self.direct.push(content.trim().parse().unwrap()),
        }
    }
}

/// A program as a tool, from the call to its judged result, beside the same program started directly in the
/// same sandbox.
fn commands(host: &Arc<Host>) {
    let mut times = ToolTimes::default();
    for number in 0..ANSWERS {
        host.turn(&ask(&format!("commands-{number}"), CALL_TOOLS), &mut times).unwrap();
    }
    assert_eq!(times.noop.len(), CALLS * ANSWERS);
    let (noop, direct) = (Times::of(times.noop), Times::of(times.direct));
    println!(
        "a program as a tool, {} calls: p50 {:.2} ms, p95 {:.2} ms; started directly in the same sandbox: p50 {:.2} ms; overhead at the median {:.2} ms",
        noop.0.len(),
        noop.part(50),
        noop.part(95),
        direct.part(50),
        noop.part(50) - direct.part(50)
    );
}

/// The look at what a turn changed, in a large workspace with 500 files that run.
fn look(host: &Arc<Host>) {
    let text = "x".repeat(2000);
    for number in 0..FILES {
        let directory = host.root().join(format!("large/{}/{}", number / 2000, number / 100));
        std::fs::create_dir_all(&directory).unwrap();
        let name = if number % 40 == 0 { "run.sh".to_owned() } else { format!("{number}.rs") };
        std::fs::write(directory.join(format!("{number}-{name}")), &text).unwrap();
    }
    let mut times = Vec::new();
    for number in 0..LOOKS {
        let request = ask(&format!("look-{}", number / 10), "What is on today?");
        times.push(host.turn(&request, &mut ()).unwrap().look_ms);
    }
    let times = Times::of(times);
    println!(
        "look at what a turn changed, {FILES} files: p50 {:.1} ms, p95 {:.1} ms",
        times.part(50),
        times.part(95)
    );
    std::fs::remove_dir_all(host.root().join("large")).unwrap();
}

/// A skill that was approved, so that prompts have one and approvals are looked at.
fn learn(host: &Arc<Host>) {
    let socket = host.serve_session(&ask("learn", "")).unwrap();
    let mut client = Client::connect(&socket.path(), socket.token()).unwrap();
    let skill = SkillPropose {
        skill: "deploy-checklist".to_owned(),
        content: "# Deploy\n\n1. Run tests\n2. Build\n3. Deploy\n".to_owned(),
        files: Default::default(),
        reason: None,
    };
    let made = client.call(Action::SkillPropose(skill)).unwrap();
    assert_eq!(made["verdict"], "AUTO_APPROVE", "{made}");
}

fn reads(host: &Arc<Host>) {
    let socket = host.serve_session(&ask("reads", "")).unwrap();
    for clients in [1, 4] {
        let began = Instant::now();
        let times: Vec<f64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..clients)
                .map(|_| {
                    scope.spawn(|| {
                        let mut client = Client::connect(&socket.path(), socket.token()).unwrap();
                        let each = READS / clients;
                        (0..each)
                            .map(|_| {
                                let began = Instant::now();
                                client.call(Action::TodoRead(Nothing {})).unwrap();
                                began.elapsed().as_secs_f64() * 1000.0
                            })
                            .collect::<Vec<f64>>()
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let second = rate(times.len(), began.elapsed());
        let times = Times::of(times);
        println!(
            "todo_read, one session's socket, {clients} connections, one call after another: {second:.0} a second, p50 {:.3} ms, p99 {:.3} ms",
            times.part(50),
            times.part(99)
        );
    }
}

fn writes(host: &Arc<Host>) {
    let socket = host.serve_session(&ask("writes", "")).unwrap();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let mut client = Client::connect(&socket.path(), socket.token()).unwrap();
                for number in 0..WRITES / WRITERS {
                    let (text, state) = (format!("Step {number}"), TodoState::Pending);
                    let items = vec![TodoItem { text, state }];
                    client.call(Action::TodoWrite(TodoWrite { items })).unwrap();
                }
            });
        }
    });
    let second = rate(WRITES / WRITERS * WRITERS, began.elapsed());
    println!("todo_write, durable and audited, {WRITERS} connections: {second:.0} a second");
}

fn rate(count: usize, time: Duration) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / time.as_secs_f64()
}

/// Processor time of this process so far, without that of agents.
fn processor_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    // Linux counts in hundredths of a second.
    let ticks = |field: usize| fields[field].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) * 10.0
}
