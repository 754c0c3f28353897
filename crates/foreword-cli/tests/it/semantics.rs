//! Selection where something is wrong or unusual: damaged indexes, other embedders, odd tasks.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::{NOW, Scratch, example, strings};
use serde_json::{Value, json};

fn workspace() -> Scratch {
    Scratch::copy_of(&example("semantic"))
}

/// An endpoint that speaks `/v1/embeddings` and counts how often it is asked. It ends with the test.
fn endpoint(dims: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            for line in reader.by_ref().lines().map_while(Result::ok) {
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            counter.fetch_add(1, Ordering::SeqCst);
            let data: Vec<Value> = strings(&body["input"])
                .iter()
                .enumerate()
                .map(|(index, text)| json!({"index": index, "embedding": letters(text, dims)}))
                .collect();
            let answer = json!({"data": data, "model": "letters"}).to_string();
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                answer.len()
            );
            let mut stream = stream;
            let _ = stream.write_all((head + &answer).as_bytes());
        }
    });
    (url, asked)
}

/// How often each letter occurs: as good as many a model.
fn letters(text: &str, dims: usize) -> Vec<f32> {
    let mut counts = vec![0.0; dims];
    for letter in text.bytes().filter(u8::is_ascii_lowercase) {
        counts[usize::from(letter - b'a')] += 1.0;
    }
    counts
}

#[test]
fn an_endpoint_is_asked_once_for_each_build() {
    let (url, asked) = endpoint(26);
    let workspace = workspace();
    let settings = format!(
        "blueprint = 'semantic'\n[embedder]\nname = 'http'\nurl = '{url}'\nmodel = 'letters'\n"
    );
    workspace.write("foreword.toml", settings);
    workspace.trust();
    workspace.run(&["index"]).ok();
    let before = asked.load(Ordering::SeqCst);
    let manifest = workspace.build(&["rename a function"]);
    assert_eq!(asked.load(Ordering::SeqCst) - before, 1);
    let embedder = manifest["selection"]["embedder"].as_str().unwrap();
    assert!(embedder.starts_with("http:") && embedder.ends_with(":26"), "{embedder}");
    assert!(manifest["selection"]["degraded"].is_null());

    // What another embedder made is not compared with.
    workspace.write("foreword.toml", "blueprint = 'semantic'\n");
    let run = workspace.run(&["build", "--json", "--now", NOW, "rename a function"]);
    assert!(run.stderr.contains("the index was made by http:"), "{}", run.stderr);
    assert!(run.json()["selection"]["embedder"].as_str().unwrap().starts_with("static:"));
    let report = workspace.run(&["index", "--json"]).ok().json();
    assert!(report["replaced"].as_str().unwrap().starts_with("it was made by http:"), "{report}");
}

#[test]
fn an_endpoint_has_a_measured_threshold_and_abstains() {
    let (url, _) = endpoint(26);
    let workspace = workspace();
    let settings = |url: &str| {
        format!(
            "blueprint = 'semantic'\n[embedder]\nname = 'http'\nurl = '{url}'\nmodel = 'letters'\n"
        )
    };
    workspace.write("foreword.toml", settings(&url));
    workspace.trust();
    workspace.run(&["index"]).ok();
    let selection = workspace.build(&["xyzzy qqq"])["selection"].clone();
    assert!(selection["minScore"].is_number(), "a threshold was measured: {selection}");
    assert_eq!(selection["abstained"], json!(["tools", "skills"]), "{selection}");
}

#[test]
fn an_endpoint_whose_vectors_changed_their_length_is_told_and_indexed_anew() {
    let workspace = workspace();
    let set = |url: &str| {
        let head = "blueprint = 'semantic'\n[embedder]\nname = 'http'\nmodel = 'letters'\n";
        workspace.write("foreword.toml", format!("{head}url = '{url}'\n"));
        workspace.trust();
    };
    set(&endpoint(26).0);
    workspace.run(&["index"]).ok();
    set(&endpoint(30).0);
    let run = workspace.run(&["build", "--json", "--now", NOW, "rename a function"]);
    assert!(run.stderr.contains("foreword index"), "{}", run.stderr);
    assert_eq!(workspace.run(&["index", "--check"]).status, 1, "it is stale");
    workspace.run(&["index"]).ok();
    let embedder = workspace.build(&["rename a function"])["selection"]["embedder"].clone();
    assert!(embedder.as_str().unwrap().ends_with(":30"), "{embedder}");
}

#[test]
fn clients_of_serve_hear_warnings_and_what_was_embedded_is_not_embedded_again() {
    let workspace = workspace();
    let request = json!({"id": 1, "method": "build", "params": {"task": "fix it", "now": NOW}});
    let lines = format!("{request}\n{request}\n");
    let run = workspace.command(&["serve", "--stdio"]).stdin(lines).run();
    let answers: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let warning = answers[0]["result"]["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("there is no index: "), "{warning}");
    // The files are too young to be trusted and are read again; their vectors are known.
    assert_eq!(answers[1]["result"]["selection"]["embeddingCalls"], 0);
}

#[test]
fn without_a_working_embedder_words_select_and_the_manifest_says_so() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let workspace = workspace();
    let settings = format!("[embedder]\nname = 'http'\nurl = 'http://{gone}'\nmodel = 'm'\n");
    workspace.write("foreword.toml", settings);
    workspace.trust();
    let run = workspace.run(&["build", "--json", "--now", NOW, "open a pull request"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stderr.contains("warning: embeddings unavailable, using keyword search: "),
        "{}",
        run.stderr
    );
    let selection = &run.json()["selection"];
    assert!(selection["degraded"].as_str().unwrap().contains("cannot be reached"), "{selection}");
    assert_eq!(selection["tools"][0]["name"], "pull_request_open", "{selection}");
    assert!(selection["embedder"].is_null());
    let index = workspace.run(&["index"]);
    assert!(index.fails(2).contains("embedder `http` is unavailable"), "{}", index.stderr);

    workspace.write("foreword.toml", "[embedder]\nname = 'use'\n");
    let run = workspace.run(&["build", "--json", "--now", NOW, "open a pull request"]);
    assert!(run.stderr.contains("foreword model install"), "{}", run.stderr);

    workspace.write("foreword.toml", "[embedder]\nname = 'none'\n");
    let manifest = workspace.build(&["open a pull request"]);
    assert_eq!(manifest["selection"]["embeddingCalls"], 0);
    assert!(manifest["selection"]["degraded"].is_null(), "that is what was asked for");
}

#[test]
fn a_workspace_cannot_send_tasks_to_another_machine() {
    let workspace = workspace();
    workspace.write(
        "foreword.toml",
        "[embedder]\nname = 'http'\nurl = 'http://192.0.2.1'\nmodel = 'm'\n",
    );
    let run = workspace.run(&["build", "--json", "--now", NOW, "open a pull request"]);
    let degraded = run.json()["selection"]["degraded"].as_str().unwrap().to_owned();
    assert!(degraded.contains("not on this machine"), "{degraded}");
}

#[test]
fn a_damaged_index_is_told_and_not_believed() {
    let workspace = workspace();
    workspace.run(&["index"]).ok();
    let whole = std::fs::read(workspace.join(".foreword/index.bin")).unwrap();
    let good = workspace.build(&["rename a function"]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&flipped[..], &whole[..whole.len() - 7], b"", b"FWINDEX\0"] {
        workspace.write(".foreword/index.bin", damaged);
        let run = workspace.run(&["build", "--json", "--now", NOW, "rename a function"]);
        assert!(run.stderr.contains("the index is damaged"), "{}", run.stderr);
        assert!(run.stderr.contains("run `foreword index` to rebuild it"), "{}", run.stderr);
        assert_eq!(run.json()["content"], good["content"]);
        assert_eq!(workspace.run(&["index", "--check"]).status, 1);
    }
    workspace.run(&["index"]).ok();
    assert_eq!(std::fs::read(workspace.join(".foreword/index.bin")).unwrap(), whole);
    let mut newer = whole;
    newer[8] = 9;
    workspace.write(".foreword/index.bin", &newer);
    let run = workspace.run(&["build", "--json", "--now", NOW, "rename a function"]);
    assert!(run.stderr.contains("the index has version 9"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn a_full_disk_while_indexing_leaves_the_old_index() {
    let workspace = workspace();
    workspace.run(&["index"]).ok();
    let old = std::fs::read(workspace.join(".foreword/index.bin")).unwrap();
    let tools = workspace.read("tools.toml");
    workspace.write("tools.toml", tools + "\n[[tool]]\nname = \"new\"\ndescription = \"New.\"\n");
    // No file may grow beyond 8 blocks: the write fails as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" index";
    let done = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_foreword")])
        .current_dir(workspace.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("index.bin"), "{said}");
    assert_eq!(std::fs::read(workspace.join(".foreword/index.bin")).unwrap(), old);
    let left: Vec<_> = std::fs::read_dir(workspace.join(".foreword")).unwrap().flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().ends_with(".new")));
    // A build that cannot write it says so, and goes on.
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" build rename";
    let done = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_foreword")])
        .current_dir(workspace.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("the index is stale: 1 text was"), "{said}");
}

#[test]
fn the_safety_rules_of_the_default_workspace_are_in_every_prompt() {
    let workspace = Scratch::copy_of(&example("standard"));
    for task in ["what should I cook for dinner?", "rename a function"] {
        let prompt = workspace.prompt(&[task]);
        assert!(prompt.contains("Leave credentials alone"), "{task}");
    }
}

#[test]
fn names_that_a_mode_starts_with_and_nobody_has_are_told() {
    let workspace = workspace();
    workspace.write(
        "foreword.toml",
        "[modes.act]\nbase_tools = ['edit', 'edti']\nbase_skills = ['debuging']\n",
    );
    let run = workspace.run(&["build", "--now", NOW, "rename a function"]);
    assert!(run.stderr.contains("`modes.act.base_tools` lists `edti`"), "{}", run.stderr);
    let findings = workspace.run(&["lint", "--json"]).json();
    let told: Vec<(&str, u64)> = findings
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["file"] == "foreword.toml")
        .map(|f| (f["message"].as_str().unwrap(), f["line"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("`modes.act.base_tools` names the tool `edti`, which no agent has", 2),
            ("`modes.act.base_skills` names the skill `debuging`, which no agent has", 3),
        ]
    );
}

#[test]
fn odd_tasks_are_tasks() {
    let workspace = workspace();
    workspace.run(&["index"]).ok();
    for task in [" ", "?", "🙂🙂🙂", "\u{202e}evil\u{200b}", "a\tb\nc", "0000"] {
        assert_eq!(workspace.run(&["build", "--now", NOW, task]).ok().status, 0, "{task:?}");
    }
    // A megabyte of one task: cut to the limit of its layer, with a note, in no time.
    let long = "rename the function in every file ".repeat(30_000);
    let start = std::time::Instant::now();
    let run =
        workspace.command(&["build", "--json", "--now", NOW, "--payload", "-"]).stdin(long).run();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    let manifest = run.ok().json();
    assert!(manifest["metadata"]["estimatedTokens"].as_u64().unwrap() < 40_000);
    assert!(manifest["content"].as_str().unwrap().contains("[Left out here: "));
}

#[test]
fn the_layers_have_limits_of_their_own() {
    let workspace = workspace();
    let body = |n: usize| {
        format!(
            "---\nname: deploy-{n}\ndescription: Deploy the service, part {n}.\n---\n\n# Deploy\n\n{}\n",
            "Do the next step of the deploy. ".repeat(100)
        )
    };
    for n in 1..=3 {
        workspace.write(&format!("skills/deploy-{n}/SKILL.md"), body(n));
    }
    workspace.write("prompts/layers/constitution.md", "Be good to people.\n\n".repeat(400));
    workspace.write(
        "foreword.toml",
        "blueprint = 'semantic'\n[assembly]\nmax_capability_tokens = 900\nmax_constitution_tokens = 300\n\
         max_task_tokens = 50\n",
    );
    let task = format!(
        "deploy the service with deploy-1, deploy-2 and deploy-3. {}",
        "please ".repeat(200)
    );
    let manifest = workspace.build(&[&task]);
    let reasons: Vec<String> = manifest["filtered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| format!("{} {}", f["id"].as_str().unwrap(), f["reason"].as_str().unwrap()))
        .collect();
    assert!(
        reasons.iter().any(|r| r.starts_with("deploy-2 over max_capability_tokens")),
        "{reasons:?}"
    );
    assert!(
        reasons.iter().any(|r| r.starts_with("deploy-3 over max_capability_tokens")),
        "{reasons:?}"
    );
    let tokens = |module: &str| manifest["metadata"]["tokensByModule"][module].as_u64().unwrap();
    assert!(tokens("constitution") < 450, "{}", tokens("constitution"));
    assert!(tokens("task") < 90, "{}", tokens("task"));
    assert!(tokens("capabilities") < 1900, "{}", tokens("capabilities"));
}
