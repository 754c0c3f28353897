//! The backend that asks a host over its socket, with a host of the real wire format.

use std::io::Write as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use foreword_mcp::{Backend as _, SocketBackend};
use foreword_protocol::{Action, Call, ErrorCode, Failure, Frames, MAX_CALL_BYTES, Reply};
use serde_json::{Value, json};

const TOKEN: &str = "the-session";

/// A host that reads calls strictly and answers a few of them.
struct Host {
    socket: PathBuf,
    connections: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Host {
    /// Each connection is closed after so many calls.
    fn start(calls: usize, answer: fn(&Action) -> Result<Value, Failure>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("session.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || serve(stream.unwrap(), calls, answer));
            }
        });
        Self { socket, connections, _folder: folder }
    }

    fn backend(&self) -> SocketBackend {
        SocketBackend::connect(&self.socket, TOKEN).unwrap()
    }
}

fn serve(
    stream: UnixStream,
    calls: usize,
    answer: fn(&Action) -> Result<Value, Failure>,
) -> Option<()> {
    let mut output = stream.try_clone().ok()?;
    let mut frames = Frames::new(stream, MAX_CALL_BYTES);
    for _ in 0..calls {
        let reply = match Call::parse(frames.next_line().ok()??) {
            Ok(call) if call.token != TOKEN => {
                Reply::failed(Some(call.id), Failure::new(ErrorCode::BadToken, "not yours"))
            }
            Ok(call) => match answer(&call.action) {
                // It breaks off in the middle.
                Err(failure) if failure.code == ErrorCode::Internal => return None,
                Err(failure) => Reply::failed(Some(call.id), failure),
                Ok(result) => Reply::done(call.id, result),
            },
            Err(error) => Reply::failed(error.id, Failure::new(error.code, error.message)),
        };
        let line = serde_json::to_string(&reply).unwrap() + "\n";
        output.write_all(line.as_bytes()).ok()?;
    }
    None
}

fn answer(action: &Action) -> Result<Value, Failure> {
    match action {
        Action::SkillList(_) => {
            Ok(json!({"skills": [{"name": "deploy", "description": "How to deploy."}]}))
        }
        Action::SkillRead(args) if args.name == "deploy" => {
            Ok(json!({"name": "deploy", "path": "skills/deploy/SKILL.md", "content": "# Deploy"}))
        }
        Action::SkillRead(_) => Err(Failure::new(ErrorCode::NotFound, "there is no such skill")),
        Action::MemoryWrite(_) => Err(Failure::new(ErrorCode::Tainted, "the session is tainted")),
        Action::ToolList(_) => {
            let tool = |name: &str| json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}});
            let tools = ["bash", "todo_read", "memory_write"].map(tool);
            Ok(json!({"tools": tools, "commands": {}}))
        }
        Action::AuditReport(_) => Err(Failure::new(ErrorCode::Internal, "")),
        action => Ok(json!({"did": action.name()})),
    }
}

#[test]
fn agents_tools_go_to_the_host_and_nothing_else_does() {
    let host = Host::start(usize::MAX, answer);
    let backend = host.backend();
    let mut tools: Vec<String> = backend.tools().into_iter().map(|tool| tool.name).collect();
    tools.sort();
    // What its agent has, and what every agent has; the agent's own loop has `bash`.
    assert_eq!(
        tools,
        [
            "audit_report",
            "memory_write",
            "result_read",
            "session_status",
            "skill_list",
            "skill_read",
            "todo_read",
            "tool_describe",
        ]
    );
    assert_eq!(backend.call("todo_read", json!({})).unwrap(), json!({"did": "todo_read"}));
    let code = |name: &str, args: Value| backend.call(name, args).unwrap_err().code;
    assert_eq!(code("memory_write", json!({"text": "x"})), ErrorCode::Tainted);
    assert_eq!(code("memory_write", json!({"text": "x", "more": 1})), ErrorCode::BadRequest);
    assert_eq!(code("memory_write", json!({})), ErrorCode::BadRequest);
    assert_eq!(code("todo_read", json!([])), ErrorCode::BadRequest);
    for name in ["model_call", "content_add", "prompt_build", "prompt_explain", "scan", ""] {
        assert_eq!(code(name, json!({})), ErrorCode::UnknownAction, "{name}");
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn calls_run_side_by_side() {
    static THREE: std::sync::OnceLock<Barrier> = std::sync::OnceLock::new();
    THREE.set(Barrier::new(3)).unwrap();
    let host = Host::start(usize::MAX, |action| {
        // Nobody gets an answer before three have asked.
        THREE.get().unwrap().wait();
        answer(action)
    });
    let backend = host.backend();
    std::thread::scope(|scope| {
        let ask = || backend.call("todo_read", json!({})).unwrap();
        let calls: Vec<_> = (0..3).map(|_| scope.spawn(ask)).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), json!({"did": "todo_read"}));
        }
    });
}

#[test]
fn a_connection_that_was_closed_is_made_anew() {
    let host = Host::start(1, answer);
    let backend = host.backend();
    for _ in 0..3 {
        assert!(backend.call("todo_read", json!({})).is_ok());
        // The host closes after each; give it the time.
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 3);
}

#[test]
fn a_call_that_may_have_been_done_is_not_done_twice() {
    let host = Host::start(usize::MAX, answer);
    let backend = host.backend();
    let failure = backend.call("audit_report", json!({"event": "x"})).unwrap_err();
    assert_eq!(failure.code, ErrorCode::Unavailable);
    assert_eq!(host.connections.load(Ordering::SeqCst), 1);
    assert!(backend.call("todo_read", json!({})).is_ok());
}

#[test]
fn a_host_that_is_not_there_is_noticed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    assert!(SocketBackend::connect(folder.path().join("none.sock"), TOKEN).is_err());
}

#[test]
fn the_wrong_token_opens_nothing() {
    let host = Host::start(usize::MAX, answer);
    let backend = SocketBackend::connect(&host.socket, "another").unwrap();
    assert_eq!(backend.call("todo_read", json!({})).unwrap_err().code, ErrorCode::BadToken);
    assert_eq!(backend.skills().unwrap_err().code, ErrorCode::BadToken);
}

#[test]
fn a_client_of_the_protocol_reaches_the_host() {
    let host = Host::start(usize::MAX, answer);
    let server = crate::wire::Server::start(host.backend());
    let skills = server.ask("resources/list", json!({}));
    assert_eq!(skills["result"]["resources"][0]["uri"], "foreword://skills/deploy");
    let skill = server.ask("resources/read", json!({"uri": "foreword://skills/deploy"}));
    assert_eq!(skill["result"]["contents"][0]["text"], "# Deploy");
    let unknown = server.ask("resources/read", json!({"uri": "foreword://skills/nope"}));
    assert_eq!(unknown["error"]["code"], -32002);
    assert_eq!(server.ask("prompts/list", json!({}))["result"]["prompts"], json!([]));

    let call = |name: &str, args: Value| {
        server.ask("tools/call", json!({"name": name, "arguments": args}))["result"].take()
    };
    assert_eq!(call("todo_read", json!({}))["structuredContent"], json!({"did": "todo_read"}));
    let refused = call("memory_write", json!({"text": "x"}));
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["content"][0]["text"], "the session is tainted");
    let wrong = call("memory_write", json!({"txt": "x"}));
    assert_eq!(wrong["structuredContent"]["error"]["code"], "bad_request");
    let machinery = server.ask("tools/call", json!({"name": "model_call", "arguments": {}}));
    assert_eq!(machinery["error"]["code"], -32602);
}
