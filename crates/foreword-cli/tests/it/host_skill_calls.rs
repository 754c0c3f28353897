//! Skills that a person asks for by name: `/NAME` in `run` and `chat`, and what agents know of them.

use crate::support::Scratch;
use crate::support::host::{on_host, turn};
use crate::support::model::{ModelServer, text, tool};
use serde_json::json;

const DEPLOY: &str = "---\nname: deploy\ndescription: Ship it.\ndisable-model-invocation: true\n---\n\
                      Tag $ARGUMENTS and push the tag.\n";
const QUIET: &str =
    "---\nname: quiet\ndescription: House style.\nuser-invocable: false\n---\nShort lines.\n";

fn workspace(config: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("[model]\nname = 'claude-sonnet-4-20250514'\n{config}\n")),
        ("SOUL.md", "Calm.\n"),
        ("skills/deploy/SKILL.md", DEPLOY),
        ("skills/quiet/SKILL.md", QUIET),
    ])
}

#[test]
fn a_person_asks_for_a_skill_that_no_agent_knows() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![
        tool("skill_list", json!({})),
        tool("skill_read", json!({"name": "deploy"})),
        text("Tagged."),
    ]);
    let report = turn(&scratch, &model, &["-m", "/deploy v1.2"]).run().ok().json();
    let asked = model.asked();
    let first = asked[0].last_message();
    assert!(first.contains("/deploy v1.2\n\nThe person asks for this skill."), "{first}");
    assert!(first.contains("<skill name=\"deploy\" path=\"skills/deploy/SKILL.md\""), "{first}");
    assert!(first.contains("approval=\"trusted with the workspace\""), "{first}");
    assert!(first.contains("> Tag v1.2 and push the tag."), "{first}");
    let system = asked[0].system().concat();
    assert!(system.contains("House style.") && !system.contains("Ship it."), "{system}");
    let list = asked[1].last_message();
    assert!(list.contains("quiet") && !list.contains("deploy"), "{list}");
    assert!(asked[2].last_message().contains("only a person may ask for the skill `deploy`"));
    assert_eq!(report["taintRatio"], 0.0, "{report}");
    // The manifest says why it is not listed.
    let manifest = scratch.build(&["ship it"]);
    let filtered = manifest["filtered"].as_array().unwrap();
    let row = filtered.iter().find(|row| row["id"] == "deploy").unwrap();
    assert_eq!(
        row["reason"],
        "its header says `disable-model-invocation: true`: a person asks for it with `/deploy`"
    );
}

#[test]
fn chat_knows_skills_by_name_after_its_own_commands() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Tagged."), text("No."), text("A path.")]);
    let said = "/skills\n/deploy\n /deploy as text\n/quiet\n/deploi\n/etc/hosts is wrong\n/help\n";
    let run = on_host(&scratch, &model, &["chat", "--trust"]).stdin(said).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let asked = model.asked();
    assert_eq!(asked.len(), 3, "{}", run.stderr);
    assert!(asked[0].last_message().contains("> Tag  and push the tag."));
    assert!(!asked[1].last_message().contains("push the tag"), "a space in front: no call");
    assert!(asked[2].last_message().ends_with("/etc/hosts is wrong"));
    assert!(run.stdout.contains("(only on request: /deploy) Ship it."), "{}", run.stdout);
    assert!(!run.stdout.contains("House style."), "{}", run.stdout);
    assert!(run.stdout.contains("/SKILL     ask for a skill"), "{}", run.stdout);
    for unknown in ["unknown command `/quiet`", "unknown command `/deploi`"] {
        assert!(run.stderr.contains(unknown), "{}", run.stderr);
    }
    // `skill list` is for whoever keeps them, and shows all.
    assert!(scratch.run(&["skill", "list"]).stdout.contains("House style."));
}

#[test]
fn a_skill_that_nobody_stands_for_is_external_and_skills_that_are_off_are_refused() {
    let scratch = workspace("[skills]\nrequire_approval = true\n");
    let model = ModelServer::saying(vec![text("Hm.")]);
    let report = turn(&scratch, &model, &["-m", "/deploy v2"]).run().ok().json();
    let first = model.asked()[0].last_message();
    assert!(first.contains("<external_content source=\"skill deploy"), "{first}");
    assert!(report["taintRatio"].as_f64().unwrap() > 0.0, "{report}");
    let scratch = workspace("[skills]\nallow_skills = false\n");
    let run = turn(&scratch, &model, &["-m", "/deploy v2"]).run();
    assert!(
        run.status != 0 && run.stderr.contains("this agent may not use skills"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_name_that_is_no_skill_is_an_error_and_a_path_is_a_message() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Sent.")]);
    let run = turn(&scratch, &model, &["-m", "/deplyo v1"]).run();
    let said = run.fails(2);
    assert!(said.contains("there is no skill `deplyo` to ask for"), "{said}");
    assert!(said.contains("did you mean `/deploy`?"), "{said}");
    assert!(turn(&scratch, &model, &["-m", "/no-such-thing"]).run().fails(2).contains("no-such"));
    assert_eq!(model.asked().len(), 0);
    for message in ["/etc/hosts is wrong", "/etc is full", "/2 of it", " /deplyo v1", "/ is full"] {
        turn(&scratch, &model, &["-m", message]).run().ok();
        assert!(model.asked().pop().unwrap().last_message().contains(message), "{message}");
    }
    let said = "/no-such-thing\n/etc/hosts is wrong\n";
    let run = on_host(&scratch, &model, &["chat", "--trust"]).stdin(said).run();
    assert!(run.stderr.contains("there is no skill `no-such-thing`"), "{}", run.stderr);
    assert!(!model.asked().iter().any(|asked| asked.raw.contains("no-such-thing")));
}

#[test]
fn a_skill_with_the_name_of_a_command_of_chat_has_a_way() {
    let scratch = workspace("");
    scratch.write("skills/help/SKILL.md", DEPLOY.replace("deploy", "help"));
    let model = ModelServer::saying(vec![text("Tagged.")]);
    let run = on_host(&scratch, &model, &["chat", "--trust"]).stdin("/help\n//help v3\n").run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let asked = model.asked();
    assert_eq!(asked.len(), 1, "{}", run.stderr);
    assert!(asked[0].last_message().contains("> Tag v3 and push the tag."));
    assert!(run.stdout.contains("//SKILL    ask for a skill that has the name"), "{}", run.stdout);
}

#[test]
fn lint_names_a_skill_that_nobody_can_ask_for() {
    let scratch = workspace("");
    let header = "disable-model-invocation: 1\nuser-invocable: no\n---\n";
    scratch.write(
        "skills/deploy/SKILL.md",
        DEPLOY.replace("disable-model-invocation: true\n---\n", header),
    );
    let findings = scratch.run(&["lint", "--json"]).json();
    let findings = findings
        .as_array()
        .cloned()
        .unwrap_or_else(|| findings["findings"].as_array().unwrap().clone());
    let named: Vec<_> = findings.iter().filter(|it| it["rule"] == "unreachable-skill").collect();
    assert_eq!(named.len(), 1, "{findings:?}");
    assert_eq!(named[0]["file"], "skills/deploy/SKILL.md");
}

/// What an agent writes is no person's message.
#[test]
fn an_agent_cannot_ask_for_a_skill_through_another_agent() {
    let scratch = workspace("");
    let config = "agent = 'main'\n[model]\nname = 'claude-sonnet-4-20250514'\n";
    scratch.write("foreword.toml", config);
    scratch
        .write("agents/main/AGENT.md", "---\nid: main\ntools: [coding, agents]\n---\nYou lead.\n");
    let model = ModelServer::start(|number, _| match number {
        0 => tool("spawn_agent", json!({"role": "main", "prompt": "/deploy v3"})),
        _ => text("Done."),
    });
    turn(&scratch, &model, &["-m", "go"]).run().ok();
    assert!(model.asked().iter().all(|asked| !asked.raw.contains("push the tag")));
}
