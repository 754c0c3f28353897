//! Seed 000, the host's half: what it provides, and what it hands its runners (tasks 10 to 14).

use crate::support::Scratch;
use crate::support::host::{done, on_host, on_record, turn};
use crate::support::model::{ModelServer, text, tool};
use serde_json::{Value, json};

fn workspace(profile: &str) -> Scratch {
    Scratch::new(&[
        (
            "foreword.toml",
            &format!("blueprint = 'guarded'\nprofile = '{profile}'\n[model]\nname = 'm'\n"),
        ),
        ("SOUL.md", "I am calm.\n"),
        ("IDENTITY.md", "Name: Alder\n"),
        ("AGENTS.md", "Work on the shop.\n"),
        ("mail.txt", &"The parcel arrives on Monday. ".repeat(50)),
    ])
}

fn context(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Value {
    turn(scratch, model, &[args, &["--dry-run", "context"]].concat()).run().ok().json()
}

#[test]
fn a_runner_is_handed_the_taint_of_its_session() {
    for (profile, threshold) in [("paranoid", 0.10), ("balanced", 0.30), ("yolo", 0.60)] {
        let scratch = workspace(profile);
        let model = ModelServer::saying(vec![text("Read.")]);
        let before = context(&scratch, &model, &["-m", "hello"]);
        assert_eq!(before["taintRatio"], 0.0);
        assert_eq!(before["profile"], profile);
        assert_eq!(before["sandboxType"], "bwrap");
        done(&scratch, &model, &["--session", "a", "-m", "read", "--external", "mail=mail.txt"]);
        let after = context(&scratch, &model, &["--session", "a", "-m", "hello"]);
        assert!(after["taintRatio"].as_f64().unwrap() > 0.6, "{after}");
        done(&scratch, &model, &["--session", "a", "-m", "hello"]);
        let asked = model.asked();
        assert!(asked[1].system().concat().contains("bwrap"));
        assert_eq!(
            asked[1].body["messages"].as_array().unwrap().len(),
            3,
            "history is handed over"
        );
        let report = done(&scratch, &model, &["--session", "a", "-m", "and?"]);
        assert_eq!(report["taintThreshold"], threshold);
    }
}

#[test]
fn the_context_of_a_runner_names_agent_profile_and_identity() {
    let scratch = workspace("paranoid");
    let model = ModelServer::saying(vec![text("Hello.")]);
    let context = context(&scratch, &model, &["-m", "hello"]);
    assert_eq!(context["agentType"], "pi-agent-core");
    assert_eq!(context["profile"], "paranoid");
    assert_eq!(context["identityFiles"]["soul"]["text"], "I am calm.\n");
    assert_eq!(context["contextWindow"], 200_000);
    let workspace = context["workspace"].as_str().unwrap_or_default();
    assert!(
        workspace.ends_with(scratch.path().file_name().unwrap().to_str().unwrap()),
        "{workspace}"
    );
}

#[test]
fn what_the_model_gets_is_what_build_gives_for_the_context() {
    let scratch = workspace("balanced");
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["--session", "a", "-m", "hello"]);
    // The clock of the prompt shows minutes.
    let mut differs = String::new();
    for _ in 0..3 {
        let context =
            turn(&scratch, &model, &["--session", "a", "-m", "more", "--dry-run", "context"]);
        let context = context.run().ok().stdout;
        let build = on_host(
            &scratch,
            &model,
            &["build", "--context", "-", "--blueprint", "guarded", "--json"],
        );
        let built = build.stdin(context).run().ok().json();
        done(&scratch, &model, &["--session", "a", "-m", "more"]);
        let system = model.asked().last().unwrap().system().concat();
        if built["system"] == system.as_str() {
            return;
        }
        differs = format!("{}\n=====\n{system}", built["system"].as_str().unwrap());
    }
    panic!("the prompts differ: {differs}");
}

#[test]
fn a_runner_that_is_not_installed_says_how_to_get_it() {
    let scratch = workspace("balanced");
    let model = ModelServer::saying(vec![text("Hello.")]);
    for (runner, package) in
        [("claude-code", "@anthropic-ai/claude-code@"), ("pi", "@mariozechner/pi-coding-agent@")]
    {
        let run = turn(&scratch, &model, &["--runner", runner, "-m", "hello"])
            .env("PATH", "/usr/bin:/bin")
            .run();
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(
            run.stderr.contains("is not installed") && run.stderr.contains(package),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_missing_key_is_told_before_anything_starts() {
    let scratch = workspace("balanced");
    let run =
        scratch.command(&["run", "--trust", "-m", "hello"]).env("PATH", "/usr/bin:/bin").run();
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("ANTHROPIC_API_KEY"), "{}", run.stderr);
}

/// The names of the tools a model was offered.
fn offered(asked: &crate::support::model::Asked) -> Vec<&str> {
    let tools = asked.body["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn bootstrap_ends_with_an_identity_that_a_person_approved() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "blueprint = 'guarded'\n[model]\nname = 'm'\n"),
        ("BOOTSTRAP.md", "You are new here. Find out who you are and propose SOUL.md.\n"),
    ]);
    let soul = "I am Alder, calm and exact.\n";
    let model = ModelServer::saying(vec![
        tool("identity_propose", json!({"file": "SOUL.md", "content": soul})),
        text("I proposed who I am."),
        text("Hello."),
    ]);
    done(&scratch, &model, &["--session", "a", "-m", "who are you?"]);
    let asked = model.asked();
    assert!(offered(&asked[0]).contains(&"identity_propose"), "{:?}", offered(&asked[0]));
    let system = asked[0].system().concat();
    assert!(system.starts_with("You are new here."), "{system}");
    assert!(system.contains("Canary token of this session"), "{system}");
    assert!(asked[1].last_message().contains("NEEDS_REVIEW"), "{}", asked[1].last_message());
    assert!(!scratch.join("SOUL.md").exists());

    let waiting = scratch.run(&["approve", "--json"]).ok().json();
    let id = waiting["identity"][0]["id"].as_str().unwrap_or_else(|| panic!("{waiting}"));
    scratch.run(&["approve", "--yes", "--quiet", id]).ok();
    assert_eq!(scratch.read("SOUL.md"), soul);
    on_host(&scratch, &model, &["run", "--quiet", "--session", "b", "-m", "hello"]).run().ok();
    let system = model.asked()[2].system().concat();
    assert!(system.contains("I am Alder, calm and exact."), "{system}");
    assert!(!system.contains("You are new here."), "{system}");
    assert!(!offered(&model.asked()[2]).contains(&"identity_propose"));
}

#[test]
fn every_agent_can_report_to_the_audit_log() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "agent = 'reader'\n[model]\nname = 'm'\n"),
        ("agents/reader/AGENT.md", "---\nid: reader\ntools: [readonly]\n---\nYou read.\n"),
    ]);
    let model = ModelServer::saying(vec![
        tool("audit_report", json!({"event": "read the ledger"})),
        text("Reported."),
    ]);
    done(&scratch, &model, &["-m", "read"]);
    assert_eq!(
        offered(&model.asked()[0]),
        ["read", "list", "search", "audit_report", "result_read"]
    );
    assert!(on_record(&scratch, "ipc.audit_report", "done"));
}
