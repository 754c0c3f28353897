//! What a person gets to see of a turn, beside its answer and in it.

use crate::support::host::{KEY, on_host};
use crate::support::model::{Answer, ModelServer, text, tool};
use crate::support::{Foreword, Scratch};
use serde_json::json;

fn workspace(config: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("[model]\nname = 'm'\n{config}")),
        ("SOUL.md", "Calm.\n"),
    ])
}

fn shown(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    on_host(scratch, model, &[&["run", "--trust", "--session", "s"], args].concat())
}

#[test]
fn a_turn_that_ran_out_of_steps_says_so() {
    let scratch = workspace("[host]\nmax_steps = 2\n");
    let model = ModelServer::saying(vec![tool("bash", json!({"command": "true"}))]);
    let run = shown(&scratch, &model, &["-m", "go on for ever", "--json"]).run();
    assert_eq!(model.asked().len(), 2);
    let said = "the agent stopped after 2 model calls (host.max_steps)";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(run.json()["stopReason"], "max_steps");
}

#[test]
fn an_answer_that_is_empty_is_said_to_be() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text(" ")]);
    let run = shown(&scratch, &model, &["-m", "say nothing", "--json"]).run();
    assert!(run.stderr.contains("the agent ended without an answer"), "{}", run.stderr);
    assert_eq!(run.json()["stopReason"], "end_turn");
}

#[test]
fn the_texts_of_steps_and_the_tools_between_them_are_in_order() {
    let scratch = workspace("");
    let call = |text: &str, command: &str| {
        Answer::Tools(text.to_owned(), vec![("bash".to_owned(), json!({"command": command}))])
    };
    let answers =
        || vec![call("Hm.", "true"), call("I'll look at 0123abcd", "false"), text("Fin.")];
    let model = ModelServer::saying(answers());
    let said = shown(&scratch, &model, &["-m", "look"]).together();
    let at = |part: &str| said.find(part).unwrap_or_else(|| panic!("{part}: {said}"));
    let places =
        [at("Hm."), at("→ bash true"), at("I'll look at 0123abcd"), at("→ bash false"), at("Fin.")];
    assert!(places.is_sorted(), "{said}");
    let model = ModelServer::saying(answers());
    let run = shown(&scratch, &model, &["-m", "look", "--json"]).run();
    assert_eq!(run.json()["answer"], "Hm.\n\nI'll look at 0123abcd\n\nFin.");
}

#[test]
fn keys_in_what_a_tool_is_called_with_are_neither_shown_nor_kept() {
    let scratch = workspace("");
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let command = json!({"command": format!("echo {key} {KEY}")});
    let model = ModelServer::saying(vec![tool("bash", command), text("Done."), text("Again.")]);
    let said = shown(&scratch, &model, &["-m", "use a key"]).together();
    assert!(said.contains("→ bash") && !said.contains(&key) && !said.contains(KEY), "{said}");
    shown(&scratch, &model, &["-m", "and now?"]).run();
    let raw = &model.asked()[2].raw;
    assert!(raw.contains("tool_use") && !raw.contains(&key) && !raw.contains(KEY), "{raw}");
}

#[test]
fn a_message_is_a_word_or_an_option_and_may_begin_with_a_dash() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Yes."), text("Hello.")]);
    let run = shown(&scratch, &model, &["-m", "- is this a list?"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(model.asked()[0].last_message().contains("- is this a list?"));
    let run = shown(&scratch, &model, &["good morning"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(model.asked()[1].last_message().contains("good morning"));
    for wrong in [&["run", "good", "morning"][..], &["run", "hello", "-m", "hello"], &["run"]] {
        let run = on_host(&scratch, &model, wrong).run();
        assert_eq!(run.status, 2, "{wrong:?}: {}", run.stderr);
    }
    let run = on_host(&scratch, &model, &["run", "good", "morning"]).run();
    assert!(run.stderr.contains("several words in quotes"), "{}", run.stderr);
}

#[test]
fn a_work_directory_elsewhere_is_wrong_use() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Yes.")]);
    for cwd in ["nope", "/etc", "..", "SOUL.md"] {
        let run = shown(&scratch, &model, &["-m", "hi", "--cwd", cwd]).run();
        assert_eq!(run.status, 2, "{cwd}: {}", run.stderr);
        let said = format!("`{cwd}` is not a directory of this workspace");
        assert!(run.stderr.contains(&said) && run.stderr.contains("hint:"), "{}", run.stderr);
    }
    assert!(model.asked().is_empty());
}

#[test]
fn a_turn_that_fails_says_which_it_was_and_what_to_do() {
    let scratch = workspace("");
    for (status, advice) in [(401, "ANTHROPIC_API_KEY"), (403, "key_file"), (404, "base_url")] {
        let body = json!({"error": {"type": "no", "message": "not like that"}}).to_string();
        let model = ModelServer::saying(vec![Answer::Raw(status, Vec::new(), body)]);
        let run = shown(&scratch, &model, &["-m", "hi"]).run();
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(run.stderr.contains(advice), "{}", run.stderr);
        assert!(run.stderr.contains("session s · turn "), "{}", run.stderr);
        let run = shown(&scratch, &model, &["-m", "hi", "--json"]).run();
        let report = run.json();
        assert_eq!(
            (run.status, &report["session"], &report["state"]),
            (1, &json!("s"), &json!("failed"))
        );
        assert!(
            report["error"].as_str().unwrap().contains("not like that") && report["turn"].is_u64()
        );
    }
    let long = "A long answer that breaks off in the middle of itself. ".repeat(20);
    let model = ModelServer::saying(vec![Answer::HalfAStream(long)]);
    let said = shown(&scratch, &model, &["-m", "hi"]).together();
    assert!(said.contains("A long answer"), "{said}");
    assert!(said.lines().any(|line| line.starts_with("session s · turn 7 failed")), "{said}");
    assert!(said.lines().any(|line| line.starts_with("error: ")), "{said}");
}

#[test]
fn an_agent_is_told_how_a_governed_file_is_changed() {
    let scratch = workspace("");
    let write = tool("write", json!({"path": "SOUL.md", "content": "Wild."}));
    let model = ModelServer::saying(vec![write, text("I cannot.")]);
    let run = shown(&scratch, &model, &["-m", "be wild"]).run();
    assert!(!run.stderr.contains("there is no index"), "{}", run.stderr);
    let said = model.asked()[1].last_message();
    assert!(
        said.contains("SOUL.md is read-only here") && said.contains("identity_propose"),
        "{said}"
    );
    let list = scratch.run(&["session", "list"]).ok().stdout;
    assert!(list.contains("  1 turn  "), "{list}");
}

#[test]
fn an_mcp_client_acts_as_the_default_agent() {
    let scratch = workspace("");
    scratch.write("foreword.toml", "agent = 'clerk'\n[model]\nname = 'm'\n");
    scratch.write("agents/clerk/AGENT.md", "---\ntools: [skills]\n---\nYou are the clerk.\n");
    let model = ModelServer::saying(vec![text("Yes.")]);
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "session_status", "arguments": {}}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run =
        on_host(&scratch, &model, &["mcp", "--trust", "-q", "--session", "m"]).stdin(lines).run();
    assert!(run.stdout.contains("clerk"), "{} {}", run.stdout, run.stderr);
}
