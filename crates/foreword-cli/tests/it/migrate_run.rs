//! A migrated project runs: `init --from`, then `run` against a recording model on loopback. The request
//! has the instructions, the skills as skills to follow, and the tools of each agent.

use serde_json::json;

use crate::migrate::{fixture, migrate};
use crate::support::Scratch;
use crate::support::host::KEY;
use crate::support::model::{Asked, ModelServer, text, tool};

/// The program that the MCP servers of the fixtures start. It belongs to the project, not to its setup.
const SERVER: &str = include_str!("../fixtures/mcp_server.py");

/// A workspace made of a fixture, with the program of its MCP server.
fn migrated(name: &str) -> Scratch {
    let scratch = Scratch::new(&[]);
    migrate(&scratch, &fixture(name));
    scratch.write("tools/mcp_server.py", SERVER);
    scratch
}

/// The request offers a tool of an MCP server, where Python can run the server.
fn has_server_tool(asked: &Asked, name: &str) {
    if std::path::Path::new("/usr/bin/python3").exists() {
        assert!(tools(asked).contains(&name), "{name} in {:?}", tools(asked));
    } else {
        foreword_testing::skip("python3", "there is no /usr/bin/python3");
    }
}

/// Runs one turn and gives all requests.
fn requests(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Vec<Asked> {
    let run = scratch
        .command(&[&["run", "--quiet", "--json", "--trust"], args].concat())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("OPENAI_BASE_URL", &model.url)
        .env("OPENAI_API_KEY", KEY)
        .env("TICKETS_TOKEN", "t")
        .env("DOCS_TOKEN", "t")
        .run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.json()["state"], "done", "{}", run.stdout);
    model.asked()
}

/// The names in the `tools` array of a request, in either format.
fn tools(asked: &Asked) -> Vec<&str> {
    let tools = asked.body["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| if tool["name"].is_string() { tool } else { &tool["function"] })
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

fn has(asked: &Asked, texts: &[&str]) {
    let system = asked.system().concat();
    let all = format!("{system}\n{}", asked.last_message());
    for text in texts {
        assert!(all.contains(text), "{text} in {all}");
    }
}

#[test]
fn a_claude_code_project_runs() {
    let scratch = migrated("claude-code");
    let model = ModelServer::saying(vec![
        tool("skill_read", json!({"skill": "release"})),
        tool("bash", json!({"command": "ls skills/release/scripts"})),
        tool(
            "spawn_agent",
            json!({"role": "code-reviewer", "cwd": ".", "prompt": "Review the diff."}),
        ),
        text("Looks good."),
        text("Released."),
    ]);
    let asked = requests(&scratch, &model, &["-m", "cut a release"]);
    has(
        &asked[0],
        &["Use pnpm, never npm.", "Two spaces", "Say \"basket\"", "Rebase before", "marlin"],
    );
    has(
        &asked[0],
        &["failing test", "three sentences", "release", "fix-issue", "code-reviewer (Use it"],
    );
    assert_eq!(asked[0].body["model"], "claude-opus-5-5");
    for name in [
        "read",
        "write",
        "edit",
        "bash",
        "list",
        "search",
        "skill_read",
        "spawn_agent",
        "web_fetch",
    ] {
        assert!(tools(&asked[0]).contains(&name), "{name} in {:?}", tools(&asked[0]));
    }
    has_server_tool(&asked[0], "mcp__tickets__echo");
    // The skill is followed: its text is an instruction, not external content, and its scripts are there.
    let read = asked[1].last_message();
    assert!(read.contains("part of CHANGELOG.md under the new version"), "{read}");
    assert!(!read.contains("reference only") && !read.contains("EXTERNAL"), "{read}");
    assert!(asked[2].last_message().contains("tag.sh"), "{}", asked[2].last_message());
    // The sub-agent has its own text, model and tools.
    let reviewer = &asked[3];
    has(reviewer, &["You review diffs for correctness", "Use pnpm, never npm."]);
    assert_eq!(reviewer.body["model"], "claude-sonnet-5-5");
    let names = tools(reviewer);
    for name in ["read", "search", "list", "bash"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert!(!names.contains(&"edit") && !names.contains(&"write"), "{names:?}");
}

/// What the old setup allowed, and the MCP servers it had, wait for the person.
#[test]
fn carried_rules_ask_and_carried_servers_are_off_until_the_workspace_is_trusted() {
    let scratch = migrated("claude-code");
    let decided = || {
        let run = scratch.run(&["permissions", "check", "bash", "pnpm test --watch"]);
        (run.stdout, run.stderr)
    };
    let (answer, warning) = decided();
    assert_eq!(answer, "ask: by bash(pnpm test:*) (foreword.toml)\n");
    assert!(warning.contains("run `foreword trust` to review them"), "{warning}");
    let build = scratch.run(&["build", "hello"]);
    assert_eq!(build.status, 0, "{}", build.stderr);
    assert!(!build.stdout.contains("mcp__tickets__"), "{}", build.stdout);
    let model = ModelServer::saying(vec![text("Done.")]);
    let run = crate::support::host::on_host(&scratch, &model, &["run", "-m", "hello"]).run();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(model.asked().is_empty());
    scratch.trust();
    let (answer, warning) = decided();
    assert_eq!(answer, "allow: by bash(pnpm test:*) (foreword.toml)\n");
    assert_eq!(warning, "");
    // A rule that is added later waits again, and takes the others with it.
    let settings = scratch.read("foreword.toml");
    scratch
        .write("foreword.toml", settings.replace("allow = [", "allow = [\"bash(git push:*)\", "));
    assert_eq!(decided().0, "ask: by bash(pnpm test:*) (foreword.toml)\n");
}

#[test]
fn an_agents_md_project_runs() {
    let scratch = migrated("agents-md");
    let model = ModelServer::saying(vec![text("Done.")]);
    let asked = requests(&scratch, &model, &["-m", "hello", "--cwd", "api"]);
    has(&asked[0], &["Run `make check` before you finish.", "typed errors", "changelog"]);
}

#[test]
fn a_codex_project_runs() {
    let scratch = migrated("codex");
    let model = ModelServer::saying(vec![text("Done.")]);
    let asked = requests(&scratch, &model, &["-m", "hello"]);
    assert!(asked[0].path.ends_with("/chat/completions"));
    assert_eq!(asked[0].body["model"], "gpt-5.5");
    has(
        &asked[0],
        &["Use `uv run`", "Prefer small pull requests.", "migrations", "triage", "explorer"],
    );
    has_server_tool(&asked[0], "mcp__docs__echo");
    let asked = requests(&scratch, &model, &["--agent", "explorer", "-m", "hello"]);
    has(&asked[1], &["You answer with paths and line numbers"]);
    assert!(tools(&asked[1]).contains(&"search") && !tools(&asked[1]).contains(&"bash"));
}

#[test]
fn a_cursor_project_runs() {
    let scratch = migrated("cursor");
    let model =
        ModelServer::saying(vec![tool("skill_read", json!({"skill": "rpc"})), text("Done.")]);
    let asked = requests(&scratch, &model, &["-m", "add an RPC method"]);
    has(
        &asked[0],
        &["Go 1.24", "Never edit generated files", "migrations/*.sql", "rpc", "benchmark"],
    );
    has_server_tool(&asked[0], "mcp__postgres__echo");
    assert!(asked[1].last_message().contains("buf generate"));
    let asked = requests(&scratch, &model, &["--agent", "verifier", "-m", "hello"]);
    let last = asked.last().unwrap();
    has(last, &["You are sceptical"]);
    assert!(!tools(last).contains(&"edit") && tools(last).contains(&"read"));
}

#[test]
fn an_openclaw_home_runs() {
    let scratch = migrated("openclaw");
    let model = ModelServer::saying(vec![
        tool("read", json!({"path": "skills/tides/tables/dover.csv"})),
        text("Done."),
    ]);
    let asked = requests(&scratch, &model, &["-m", "when is high tide?"]);
    has(
        &asked[0],
        &["Curious as an otter", "Pilot", "Ada", "inky", "tides", "Ask before you send"],
    );
    assert_eq!(asked[0].body["model"], "claude-opus-4-6");
    assert!(asked[1].last_message().contains("06:12,5.9"));
}

#[test]
fn a_cosmonauts_project_runs() {
    let scratch = migrated("cosmonauts");
    let model = ModelServer::saying(vec![text("Done.")]);
    let asked = requests(&scratch, &model, &["-m", "hello"]);
    has(&asked[0], &["Cosmonauts is a crew", "You are Cosmo.", "star charts", "charts: Render"]);
    assert!(tools(&asked[0]).contains(&"spawn_agent"));
    let asked = requests(&scratch, &model, &["--agent", "planner", "-m", "hello"]);
    has(&asked[1], &["You are the planner.", "change nothing"]);
    assert!(!tools(&asked[1]).contains(&"edit"));
}

#[test]
fn a_mixture_runs_with_claude_code_and_pi() {
    for (runner, program) in [("claude-code", "claude"), ("pi", "pi")] {
        let Some(path) = crate::host_runners::path_with(program) else { continue };
        let scratch = Scratch::new(&[]);
        migrate(&scratch, &fixture("mixture"));
        // These loops talk to Anthropic here.
        let settings = scratch.read("foreword.toml");
        let settings = settings.replace("gpt-5.5", "claude-sonnet-4-20250514");
        let settings = settings.replace("provider = \"openai\"", "provider = \"anthropic\"");
        scratch.write("foreword.toml", settings);
        let model = ModelServer::saying(vec![text("Done.")]);
        let run = scratch
            .command(&["run", "-q", "--json", "--trust", "--runner", runner, "-m", "hello"])
            .env("PATH", path)
            .env("ANTHROPIC_BASE_URL", &model.url)
            .env("ANTHROPIC_API_KEY", KEY)
            .run();
        assert_eq!(run.status, 0, "{runner}: {}", run.stderr);
        let asked = model.asked();
        let main = asked.iter().find(|asked| asked.raw.contains("Keel is a build tool.")).unwrap();
        has(main, &["cite files", "Public functions have doc comments.", "bisect"]);
    }
}
