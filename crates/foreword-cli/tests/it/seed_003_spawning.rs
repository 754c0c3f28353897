//! Seed 003, spawning: the runtime context of sub-agents, chains, limits, and the end of a whole tree.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::support::Scratch;
use crate::support::host::{done, turn};
use crate::support::model::{Answer, Asked, ModelServer, text, tool};
use serde_json::{Value, json};

fn workspace(config: &str) -> Scratch {
    let agent =
        |tools: &str, who: &str| format!("---\ntools: [{tools}]\n---\nYou are the {who}.\n");
    Scratch::new(&[
        (
            "foreword.toml",
            &format!("blueprint = 'roles'\nagent = 'coordinator'\n{config}\n[model]\nname = 'm'\n"),
        ),
        ("agents/coordinator/AGENT.md", &agent("tasks, spawning, web", "coordinator")),
        ("agents/worker/AGENT.md", &agent("coding, tasks, todo, spawning, web", "worker")),
        ("agents/planner/AGENT.md", &agent("readonly", "planner")),
        (
            "agents/pickle/AGENT.md",
            "---\nblueprint: companion\ntools: [readonly]\n---\nYou are Pickle.\n",
        ),
        ("SOUL.md", "Warm and curious.\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("mail.txt", &"The parcel arrives on Monday at noon. ".repeat(40)),
    ])
}

fn is(asked: &Asked, who: &str) -> bool {
    asked.system().concat().contains(&format!("You are the {who}."))
}

fn spawn(args: Value) -> Answer {
    tool("spawn_agent", args)
}

#[test]
fn only_a_sub_agent_is_told_that_it_is_one() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, asked| match number {
        0 => spawn(json!({"role": "worker", "cwd": "src", "prompt": "fix it", "runtimeContext":
            {"mode": "sub-agent", "objective": "Fix the login", "taskId": "TASK-7"}})),
        2 => spawn(json!({"role": "worker", "cwd": ".", "prompt": "fix it too"})),
        _ if is(asked, "worker") => text("Fixed."),
        _ => text("All is done."),
    });
    let report = done(&scratch, &model, &["-m", "get it fixed"]);
    assert_eq!(report["answer"], "All is done.");
    let asked = model.asked();
    let sub = asked[1].system().concat();
    for value in ["You were started by another agent", "coordinator", "Fix the login", "TASK-7"] {
        assert!(sub.contains(value), "{value}: {sub}");
    }
    assert!(is(&asked[1], "worker") && is(&asked[3], "worker"));
    assert!(!asked[3].system().concat().contains("TASK-7"));
    assert_ne!(asked[3].system(), asked[1].system(), "no overlay without sub-agent mode");
    assert!(asked[2].last_message().contains("Fixed."));
}

#[test]
fn a_planner_has_neither_shell_nor_pen() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("A plan.")]);
    done(&scratch, &model, &["--agent", "planner", "-m", "plan it"]);
    let asked = &model.asked()[0];
    let tools: Vec<&str> = asked.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(tools, ["read", "list", "search", "audit_report", "result_read"]);
    let system = asked.system().concat();
    assert!(!system.contains("`bash`") && !system.contains("`edit`"), "{system}");
}

#[test]
fn the_stages_of_a_chain_pass_on_their_answers() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, asked| match number {
        0 => tool(
            "chain_run",
            json!({"stages": [
            {"role": "planner", "prompt": "plan it"}, {"role": "worker", "prompt": "carry it out"}]}),
        ),
        _ if is(asked, "planner") => text("First the tests."),
        _ if is(asked, "worker") => text("Carried out."),
        _ => text("Finished."),
    });
    done(&scratch, &model, &["-m", "plan and do"]);
    let asked = model.asked();
    assert!(is(&asked[1], "planner") && is(&asked[2], "worker"));
    let said = asked[2].last_message();
    assert!(said.contains("carry it out") && said.contains("First the tests."), "{said}");
    let overlay = "You were started by another agent";
    assert!(!asked[1].system().concat().contains(overlay), "stages are top-level unless told");
    assert!(!asked[2].system().concat().contains(overlay));
    assert!(asked[3].last_message().contains("Carried out."));
}

#[test]
fn a_chain_starts_only_whole_and_keeps_what_was_done() {
    let scratch = workspace("");
    let stages = |last: Value| json!({"stages": [{"role": "planner", "prompt": "plan it"}, last]});
    let wrong = [
        json!({"role": "nobody", "prompt": "x"}),
        json!({"role": "worker", "prompt": " "}),
        json!({"role": "worker", "prompt": "x", "cwd": "/etc"}),
    ];
    for last in wrong {
        let model = ModelServer::saying(vec![tool("chain_run", stages(last)), text("Hm.")]);
        done(&scratch, &model, &["-m", "plan and do"]);
        let asked = model.asked();
        assert_eq!(asked.len(), 2, "nobody was started");
        assert!(asked[1].last_message().contains("stage 2"), "{}", asked[1].last_message());
    }
    let model = ModelServer::start(move |number, asked| match number {
        0 => tool("chain_run", stages(json!({"role": "worker", "prompt": "carry it out"}))),
        _ if is(asked, "planner") => text("First the tests."),
        _ if is(asked, "worker") => Answer::Raw(400, Vec::new(), "{}".to_owned()),
        _ => text("Finished."),
    });
    done(&scratch, &model, &["-m", "plan and do"]);
    let said = model.asked().last().unwrap().last_message();
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["stages"][0]["answer"], "First the tests.");
    assert_eq!((&said["failed"]["stage"], &said["failed"]["role"]), (&json!(2), &json!("worker")));
    assert!(said["failed"]["reason"].as_str().unwrap().contains("the agent `worker` failed"));
}

#[test]
fn depth_and_number_are_limited() {
    let scratch = workspace("[host]\nmax_depth = 2\nmax_agents = 3");
    // Everybody starts another worker, for ever.
    let model = ModelServer::start(|_, asked| {
        if asked.last_message().contains("levels deep")
            || asked.last_message().contains("host.max_agents")
        {
            return text("I stop here.");
        }
        if asked.last_message().contains("I stop here") || asked.last_message().contains("answer") {
            return text("So do I: I stop here.");
        }
        spawn(json!({"role": "worker", "cwd": ".", "prompt": "go on"}))
    });
    done(&scratch, &model, &["-m", "go"]);
    let said: Vec<String> = model.asked().iter().map(Asked::last_message).collect();
    assert!(said.iter().any(|said| said.contains("2 levels deep")), "{said:?}");

    let wide = ModelServer::start(|number, asked| match number {
        _ if is(asked, "worker") => text("Done."),
        0..20 => spawn(json!({"role": "worker", "cwd": ".", "prompt": "one more"})),
        _ => text("Enough."),
    });
    done(&scratch, &wide, &["-m", "go"]);
    assert_eq!(wide.asked().iter().filter(|asked| is(asked, "worker")).count(), 3);
    let out = ["../..", "/etc", "nowhere"].map(|cwd| {
        let model = ModelServer::saying(vec![
            spawn(json!({"role": "worker", "cwd": cwd, "prompt": "x"})),
            text("No."),
        ]);
        done(&scratch, &model, &["-m", "go"]);
        model.asked()[1].last_message()
    });
    for said in out {
        assert!(
            said.contains("not a directory of this workspace") || said.contains("cannot work in"),
            "{said}"
        );
    }
}

#[test]
fn the_taint_of_a_sub_agent_flows_back() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 2048]);
            let body = "The parcel arrives on Monday at noon. ".repeat(20);
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let scratch = workspace(&format!("[host]\nweb_hosts = ['{address}']"));
    let model = ModelServer::start(move |number, asked| match number {
        0 => spawn(json!({"role": "worker", "cwd": ".", "prompt": "look it up"})),
        1 => tool("web_fetch", json!({"url": format!("http://{address}/")})),
        2 => text("It arrives on Monday at noon, so be there on Monday at noon."),
        3 => spawn(json!({"role": "worker", "cwd": ".", "prompt": "and again"})),
        _ => Answer::Text(format!("It was: {}", asked.last_message().len())),
    });
    let report = done(&scratch, &model, &["-m", "when does it arrive?"]);
    assert!(report["taintRatio"].as_f64().unwrap() > 0.1, "{report}");
    let asked = model.asked();
    assert!(asked[3].last_message().contains("external_content"), "{}", asked[3].last_message());
    assert!(asked[4].last_message().contains("was not done"), "{}", asked[4].last_message());
}

#[test]
fn a_companion_that_is_spawned_gets_the_minimal_prompt() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, asked| match number {
        0 => spawn(json!({"role": "pickle", "cwd": ".", "prompt": "say hello"})),
        _ if asked.system().concat().contains("You are Pickle.") => text("Hello."),
        _ => text("Pickle says hello."),
    });
    done(&scratch, &model, &["-m", "let pickle say hello"]);
    let pickle = model.asked()[1].system().concat();
    assert!(pickle.contains("You are Pickle.") && !pickle.contains("## Personality"), "{pickle}");
    done(&scratch, &model, &["--agent", "pickle", "-m", "hello"]);
    let full = model.asked().last().unwrap().system().concat();
    assert!(full.contains("## Personality"), "{full}");
}

#[test]
fn cancelling_ends_the_whole_tree() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, _| match number {
        0 => spawn(json!({"role": "worker", "cwd": ".", "prompt": "take your time"})),
        1 => tool("bash", json!({"command": "sleep 987654"})),
        _ => text("Never."),
    });
    let mut host = turn(&scratch, &model, &["-m", "go"]).spawn();
    let sleeping = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
            .any(|line| line.starts_with(b"sleep\0987654"))
    };
    let end = Instant::now() + Duration::from_secs(60);
    while !sleeping() {
        assert!(Instant::now() < end, "the sub-agent never started its command");
        std::thread::sleep(Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &host.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let status = host.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    let end = Instant::now() + Duration::from_secs(10);
    while sleeping() {
        assert!(Instant::now() < end, "a process of the sub-agent is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_agent_cannot_slip_files_to_those_it_starts() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, _| match number {
        0 => tool("bash", json!({"command": "echo 'EVIL SOUL' > IDENTITY.md; ls"})),
        1 => spawn(json!({"role": "planner", "cwd": ".", "prompt": "plan it"})),
        _ => text("It was refused."),
    });
    done(&scratch, &model, &["--agent", "worker", "-m", "go"]);
    let asked = model.asked();
    let refused = asked[2].last_message();
    assert!(refused.contains("changed since you trusted this workspace: IDENTITY.md"), "{refused}");
    assert!(asked.iter().all(|asked| !asked.system().concat().contains("EVIL SOUL")));
    assert!(!scratch.join("IDENTITY.md").exists(), "it was moved away");
}

#[test]
fn agents_that_one_answer_starts_work_at_the_same_time() {
    let scratch = workspace("");
    let met = Arc::new((Mutex::new(0), Condvar::new()));
    let model = ModelServer::start(move |number, asked| {
        if number == 0 {
            let work = json!({"role": "worker", "cwd": ".", "prompt": "fix it"});
            let calls =
                vec![("spawn_agent".to_owned(), work.clone()), ("spawn_agent".to_owned(), work)];
            return Answer::Tools(String::new(), calls);
        }
        if !is(asked, "worker") {
            return text("All is done.");
        }
        let (count, arrived) = &*met;
        let mut count = count.lock().unwrap();
        *count += 1;
        arrived.notify_all();
        let (count, _) =
            arrived.wait_timeout_while(count, Duration::from_secs(20), |count| *count < 2).unwrap();
        text(if *count == 2 { "Fixed together." } else { "Fixed alone." })
    });
    let report = done(&scratch, &model, &["--model", "big", "-m", "get it fixed"]);
    assert_eq!(report["answer"], "All is done.");
    let asked = model.asked();
    let results = asked.last().unwrap().last_message();
    assert_eq!(results.matches("Fixed together.").count(), 2, "{results}");
    // Without a model of their own, agents work with the one they were started by.
    assert!(asked.iter().all(|asked| asked.body["model"] == "big"), "{asked:?}");
}

#[test]
fn an_agent_with_a_model_of_its_own_keeps_it() {
    let scratch = workspace("");
    scratch.write(
        "agents/planner/AGENT.md",
        "---\nmodel: small\ntools: [readonly]\n---\nYou are the planner.\n",
    );
    let model = ModelServer::start(|number, asked| match number {
        0 => spawn(json!({"role": "planner", "cwd": ".", "prompt": "plan it"})),
        _ if is(asked, "planner") => text("A plan."),
        _ => text("Done."),
    });
    done(&scratch, &model, &["--model", "big", "-m", "plan"]);
    let models: Vec<Value> = model.asked().iter().map(|a| a.body["model"].clone()).collect();
    assert_eq!(models, ["big", "small", "big"]);
}

#[test]
fn the_stages_of_a_chain_inherit_the_model() {
    let scratch = workspace("");
    let stage = |role: &str| json!({"role": role, "prompt": "do your part"});
    let stages = json!({"stages": [stage("planner"), stage("worker")]});
    let model = ModelServer::start(move |number, _| match number {
        0 => tool("chain_run", stages.clone()),
        _ => text("Done."),
    });
    done(&scratch, &model, &["--model", "big", "-m", "go"]);
    let models: Vec<Value> = model.asked().iter().map(|a| a.body["model"].clone()).collect();
    assert_eq!(models, ["big"; 4]);
}

#[test]
fn a_task_holds_what_the_packs_tell_agents_to_write() {
    let scratch = workspace("");
    let model = ModelServer::start(|number, asked| match number {
        0 => {
            let task = json!({"title": "Log in", "description": "The form is in src.", "note": "Start here."});
            tool("task_create", task)
        }
        1 => {
            let first: Value = serde_json::from_str(&asked.last_message()).unwrap();
            let task = json!({
                "title": "Test it", "acceptanceCriteria": ["a test fails today", "it passes"],
                "dependencies": [first["id"]],
            });
            tool("task_create", task)
        }
        2 => {
            let second: Value = serde_json::from_str(&asked.last_message()).unwrap();
            tool("task_update", json!({"id": second["id"], "state": "done", "note": "Ran it."}))
        }
        3 => tool("task_create", json!({"title": "Lost", "dependencies": ["zzzz"]})),
        _ => text("Done."),
    });
    done(&scratch, &model, &["-m", "plan the login"]);
    let asked = model.asked();
    let updated: Value = serde_json::from_str(&asked[3].last_message()).unwrap();
    let detail = updated["detail"].as_str().unwrap();
    assert!(
        detail
            .starts_with("Acceptance criteria:\n- a test fails today\n- it passes\n\nDepends on: "),
        "{detail}"
    );
    assert!(detail.ends_with(": Ran it.") && detail.contains("\n\nNote by "), "{detail}");
    assert!(asked[4].last_message().contains("zzzz"), "{}", asked[4].last_message());
}
