//! A running `foreword chat`, one turn at a time, and the scripted model behind it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::attack::Step;
use super::scene::{OBEY, Scene};
use crate::support::host::KEY;
use crate::support::model::{Answer, Asked, ModelServer};

/// A turn that takes longer hangs. The machine may be busy with other tests.
const TURN_TIME: Duration = Duration::from_secs(60);

/// The sandboxes that attacks run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    Bwrap,
    /// `subprocess` with the Landlock of this kernel.
    Landlock,
    /// `subprocess` where the kernel says that it has no Landlock.
    NoLandlock,
    Docker,
}

impl Flavour {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "subprocess with Landlock",
            Self::NoLandlock => "subprocess without Landlock",
            Self::Docker => "docker",
        }
    }

    /// Whether the sandbox keeps an agent from what is outside and from governed files.
    pub(super) fn confines(self) -> bool {
        self != Self::NoLandlock
    }

    /// As a person names it.
    fn sandbox(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Docker => "docker",
            Self::Landlock | Self::NoLandlock => "subprocess",
        }
    }

    /// `foreword`, in front of which a filter answers that there is no Landlock if need be.
    fn command(self, scene: &Scene) -> Command {
        let foreword = env!("CARGO_BIN_EXE_foreword");
        if self != Self::NoLandlock {
            return Command::new(foreword);
        }
        let filter = scene.scratch.config_dir().with_file_name("no-landlock.bpf");
        std::fs::write(&filter, no_landlock()).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "exec bwrap --dev-bind / / --seccomp 9 -- \"$@\" 9< \"$0\""]);
        command.arg(filter).arg(foreword);
        command
    }
}

/// A seccomp filter: `landlock_create_ruleset`, 444 on every machine, does not exist.
fn no_landlock() -> Vec<u8> {
    let instructions: [(u16, u8, u8, u32); 4] = [
        (0x20, 0, 0, 0),
        (0x15, 0, 1, 444),
        (0x06, 0, 0, 0x0005_0000 | 38),
        (0x06, 0, 0, 0x7FFF_0000),
    ];
    let mut bytes = Vec::new();
    for (code, jump_true, jump_false, value) in instructions {
        bytes.extend(code.to_ne_bytes());
        bytes.extend([jump_true, jump_false]);
        bytes.extend(value.to_ne_bytes());
    }
    bytes
}

/// What the model is to do, and what was seen on its side.
#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    /// What tools answered in this turn.
    results: Vec<String>,
    faults: Vec<String>,
}

/// What a turn came to.
pub(super) struct Turn {
    /// The report; absent if the turn did not take place.
    pub(super) report: Option<Value>,
    /// The session afterwards.
    pub(super) session: Value,
    /// What tools answered.
    pub(super) results: Vec<String>,
    /// What was wrong with requests to the model.
    pub(super) faults: Vec<String>,
}

pub(super) struct Chat {
    child: Child,
    stdin: ChildStdin,
    /// Lines of standard output.
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    script: Arc<Mutex<Script>>,
    _model: ModelServer,
}

impl Chat {
    pub(super) fn start(scene: &Scene, flavour: Flavour, session: &str) -> Self {
        let script: Arc<Mutex<Script>> = Arc::default();
        let (state, secrets) = (Arc::clone(&script), scene.secret_texts());
        let model = ModelServer::start(move |_, asked| answer(&state, &secrets, asked));
        let docker = ["DOCKER_HOST", "FOREWORD_DOCKER_IMAGE"];
        let docker = docker.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut child = flavour
            .command(scene)
            .args([
                "chat",
                "--json",
                "--trust",
                "--session",
                session,
                "--sandbox",
                flavour.sandbox(),
            ])
            .current_dir(scene.scratch.path())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", scene.home())
            .env("FOREWORD_CONFIG_DIR", scene.scratch.config_dir())
            .env("ANTHROPIC_BASE_URL", &model.url)
            .env("ANTHROPIC_API_KEY", KEY)
            .env("GITHUB_TOKEN", scene.secret_texts()[0])
            .envs(docker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        let stderr: Arc<Mutex<String>> = Arc::default();
        let (said, mut from) = (Arc::clone(&stderr), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                said.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Self { child, stdin, lines, stderr, script, _model: model }
    }

    /// Runs one turn; `None` if the host hangs or has ended.
    pub(super) fn turn(&mut self, message: &str, steps: Vec<Step>) -> Option<Turn> {
        *self.script.lock().unwrap() = Script { steps: steps.into(), ..Script::default() };
        // What the session is afterwards shows that the turn is over, whatever became of it.
        self.stdin.write_all(format!("{message}\n/session\n").as_bytes()).ok()?;
        self.stdin.flush().ok()?;
        let mut report = None;
        let mut rest = String::new();
        let session = loop {
            match self.lines.recv_timeout(TURN_TIME) {
                Ok(line) => {
                    let value: Option<Value> = serde_json::from_str(&line).ok();
                    if let Some(value) = value.filter(|value| value["answer"].is_string()) {
                        report = Some(value);
                        continue;
                    }
                    if line.contains("starts with your first message") {
                        break Value::Null;
                    }
                    rest.push_str(&line);
                    rest.push('\n');
                    if let Ok(session) = serde_json::from_str::<Value>(&rest)
                        && session["taint"].is_object()
                    {
                        break session;
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        };
        let mut script = self.script.lock().unwrap();
        let (results, faults) =
            (std::mem::take(&mut script.results), std::mem::take(&mut script.faults));
        Some(Turn { report, session, results, faults })
    }

    /// What was said on standard error since the last time.
    pub(super) fn said(&self) -> String {
        std::mem::take(&mut *self.stderr.lock().unwrap())
    }

    /// The most memory that the host has used, in MiB.
    pub(super) fn peak_mib(&self, flavour: Flavour) -> u64 {
        let mut host = self.child.id().to_string();
        // Without Landlock the filter's program is in front of the host.
        let starters = if flavour == Flavour::NoLandlock { 1 } else { 0 };
        for _ in 0..starters {
            let children = std::fs::read_to_string(format!("/proc/{host}/task/{host}/children"));
            let children = children.unwrap_or_default();
            host = children.split_whitespace().next().unwrap_or(&host).to_owned();
        }
        let status = std::fs::read_to_string(format!("/proc/{host}/status"));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or_default() / 1024
    }

    /// Ends the conversation; whether the host ended in time.
    pub(super) fn end(mut self) -> bool {
        let _ = self.stdin.write_all(b"/quit\n");
        for _ in 0..2000 {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        false
    }
}

fn answer(script: &Mutex<Script>, secrets: &[&str], asked: &Asked) -> Answer {
    let mut script = script.lock().unwrap();
    let system = asked.system().concat();
    for secret in secrets.iter().filter(|secret| asked.raw.contains(**secret)) {
        script.faults.push(format!("`{secret}` was sent to the model"));
    }
    if system.contains(OBEY) {
        script.faults.push(format!("`{OBEY}` in a system prompt"));
    }
    if system.contains("You are the worker.") {
        return Answer::Text("Worked.".to_owned());
    }
    let said = asked.last_message();
    if said.contains("BROKEN:") {
        let at = said.find("BROKEN:").unwrap();
        let shown: String = said[at..].chars().take(200).collect();
        script.faults.push(shown);
    }
    script.results.push(said);
    let canary = || -> String {
        let token = system.find("fwc").map_or("", |at| &system[at..]);
        token.chars().take_while(char::is_ascii_alphanumeric).collect()
    };
    let calls = match script.steps.pop_front() {
        None => return Answer::Text("Done.".to_owned()),
        Some(Step::Leak(form)) => {
            return Answer::Text(format!("It is\n{}\nand no more.", form(&canary())));
        }
        Some(Step::LeakInCommand(form)) => {
            vec![(
                "bash".to_owned(),
                json!({"command": format!("echo '{}' > src/out.txt", form(&canary()))}),
            )]
        }
        Some(Step::Call(name, input)) => vec![(name.to_owned(), input)],
        Some(Step::Calls(calls)) => {
            calls.into_iter().map(|(name, input)| (name.to_owned(), input)).collect()
        }
    };
    Answer::Tools(String::new(), calls)
}
