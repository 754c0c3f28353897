//! What a person sees while agents run: questions, progress, and what waits for them.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::Scratch;
use crate::support::host::{KEY, on_host};
use crate::support::model::{Answer, ModelServer, text, tool};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

fn workspace() -> Scratch {
    Scratch::new(&[("foreword.toml", "model = 'test-model'\n"), ("SOUL.md", "Calm.\n")])
}

#[test]
fn skills_that_agents_write_are_announced_and_can_be_approved_in_one_place() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        // The two tools that take a skill accept each other's name for it.
        tool("skill_propose", json!({"name": "tea", "content": "# Tea\n\nBoil water.\n"})),
        tool("skill_propose", json!({"skill": "env", "content": crate::skill::CAPABLE})),
        tool("skill_read", json!({"skill": "tea"})),
        text("Done."),
    ]);
    let run = on_host(&scratch, &model, &["run", "--trust", "-m", "learn"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let said = "skill `tea` by agent:default was approved by screening, not by a person; undo it \
                with `foreword skill revert ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert!(
        run.stderr.contains("skill `env` by agent:default waits for approval"),
        "{}",
        run.stderr
    );
    assert!(model.asked()[3].raw.contains("Boil water."), "{}", model.asked()[3].raw);

    let listed = scratch.run(&["approve"]).ok().stdout;
    assert!(listed.contains("skill env by agent:default: NEEDS_REVIEW"), "{listed}");
    assert!(run.stderr.contains("skill: tea"), "{}", run.stderr);
    assert!(!run.stderr.contains("  │ {"), "answers of actions are no JSON: {}", run.stderr);
    // By its ID, or by the name that the list shows.
    let chat = on_host(&scratch, &model, &["chat", "-q"]).stdin("/approve\n/approve env --yes\n");
    let chat = chat.run();
    assert_eq!(chat.status, 0, "{}", chat.stderr);
    assert!(chat.stdout.contains("committed env as "), "{}", chat.stdout);
    assert_eq!(scratch.run(&["approve"]).ok().stdout, "no pending decisions\n");
    assert!(scratch.run(&["approve", "zzzz"]).fails(2).contains("no refused action"));
}

/// A program on a terminal of its own.
struct Terminal {
    child: Child,
    shown: Arc<Mutex<String>>,
    seen: usize,
}

impl Terminal {
    /// `None` where no program can make a terminal.
    fn chat(scratch: &Scratch, model: &ModelServer) -> Option<Self> {
        if !std::path::Path::new("/usr/bin/script").exists() {
            foreword_testing::skip("script", "util-linux is not installed");
            return None;
        }
        let command = format!("exec {} chat --trust --session s", env!("CARGO_BIN_EXE_foreword"));
        let mut child = Command::new("/usr/bin/script")
            .args(["-qefc", &command, "/dev/null"])
            .env_clear()
            .envs([("PATH", PATH), ("TERM", "xterm"), ("HOME", "/nonexistent")])
            .envs([("ANTHROPIC_BASE_URL", model.url.as_str()), ("ANTHROPIC_API_KEY", KEY)])
            .env("FOREWORD_CONFIG_DIR", scratch.config_dir())
            .current_dir(scratch.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shown: Arc<Mutex<String>> = Arc::default();
        let (mut out, writes) = (child.stdout.take().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                writes.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        });
        Some(Self { child, shown, seen: 0 })
    }

    fn keys(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits until something is shown, after what was waited for before.
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.shown.lock().unwrap().clone();
            let rest = shown.get(self.seen..).unwrap_or_default();
            if let Some(at) = rest.find(text) {
                self.seen += at + text.len();
                return;
            }
            assert!(Instant::now() < end, "{text:?} does not come: {rest:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_chat_shows_what_happens_while_it_happens() {
    let scratch = workspace();
    let busy = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    let model = ModelServer::start(move |number, _| match number {
        0 => Answer::Raw(
            529,
            vec![("content-type".into(), "application/json".into())],
            busy.to_string(),
        ),
        1 => tool("bash", json!({"command": "echo one; echo two; echo three; echo four; sleep 2"})),
        2 => text("# Done\n\n- **all** of `it`\n"),
        3 => tool("skill_propose", json!({"skill": "env", "content": crate::skill::CAPABLE})),
        _ => text("Proposed."),
    });
    let Some(mut chat) = Terminal::chat(&scratch, &model) else { return };
    chat.wait_for("> ");
    chat.keys("count\r");
    chat.wait_for("retrying the model call in 0.5 s: ");
    chat.wait_for("→ bash echo one; echo two");
    chat.wait_for("running bash (1 s)");
    chat.wait_for("  │ one");
    chat.wait_for("  │ … 1 more line");
    chat.wait_for("\u{1b}[1;4mDone\u{1b}[0m");
    chat.wait_for("• \u{1b}[0m\u{1b}[1mall\u{1b}[0m of \u{1b}[0m\u{1b}[36mit\u{1b}[0m");
    chat.wait_for("turn 1");
    chat.wait_for("> ");
    chat.keys("propose\r");
    chat.wait_for("waits for approval");
    chat.wait_for("(1 to /approve) > ");
    chat.keys("\u{4}");
    chat.wait_for("continue with");
    let _ = chat.child.wait();
}
