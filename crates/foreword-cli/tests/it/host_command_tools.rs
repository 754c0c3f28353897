//! Tools of the workspace that are programs: what a prompt lists is what can be called.

use crate::support::host::{done, on_host};
use crate::support::model::{Asked, ModelServer, text, tool};
use crate::support::{Scratch, strings};
use serde_json::{Value, json};

const TOOLS: &str = "[[tool]]\nname = 'greet'\ndescription = 'Greet somebody by name.'\n\
    command = ['./greet.sh', '--to', '{who}', '{tone}']\ntimeout = 10\n\
    [tool.parameters]\nrequired = ['who']\n\
    [tool.parameters.properties]\nwho = { type = 'string', minLength = 1 }\n\
    tone = { enum = ['warm', 'formal'] }\n\
    [[tool]]\nname = 'count'\ndescription = 'Count the words of a text.'\n\
    command = ['wc', '-w']\nmax_output = 1000\n\
    [[tool]]\nname = 'calendar_add'\ndescription = 'Add an event.'\n";

const GREET: &str =
    "#!/bin/sh\necho \"$FOREWORD_TOOL in $(basename \"$PWD\"): $*\" | tee greeted.txt\n";

fn workspace() -> Scratch {
    let scratch = Scratch::new(&[
        ("foreword.toml", "[model]\nname = 'claude-sonnet-4-20250514'\n"),
        ("SOUL.md", "Calm.\n"),
        ("tools.toml", TOOLS),
        ("greet.sh", GREET),
    ]);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(scratch.join("greet.sh"), mode).unwrap();
    scratch
}

fn offered(asked: &Asked) -> Vec<String> {
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// "Yes" lets agents run programs, so the question names them as they are started.
#[test]
fn the_trust_question_lists_the_programs_of_tools() {
    let scratch = workspace();
    let more = "[[tool]]\nname = 'tidy'\ncommand = ['sh', '-c', 'rm -f *.tmp; echo \"{what}\"']\n";
    scratch.write("tools.toml", format!("{TOOLS}{more}"));
    let run = scratch.run(&["trust", "--yes"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let listed = "tools.toml lets agents run these programs in the sandbox:\n  \
        greet: ./greet.sh --to {who} {tone}\n  \
        count: wc -w\n  \
        tidy: sh -c 'rm -f *.tmp; echo \"{what}\"'\n";
    assert!(run.stderr.contains(listed), "{}", run.stderr);
    assert!(!run.stderr.contains("  calendar_add"), "{}", run.stderr);
    // Another command is another question, which shows the difference.
    scratch.write("tools.toml", TOOLS.replace("['wc', '-w']", "['wc', '-c']"));
    let refused = scratch.run(&["trust"]);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("+command = ['wc', '-c']"), "{}", refused.stderr);
}

#[test]
fn a_command_runs_in_the_sandbox_with_checked_arguments() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        tool("greet", json!({"who": "Ada; rm -rf .", "tone": "warm"})),
        tool("greet", json!({"who": "", "tone": "warm"})),
        tool("greet", json!({"whom": "Ada"})),
        tool("count", json!({"text": "one two"})),
        tool("calendar_add", json!({})),
        text("Done."),
    ]);
    done(&scratch, &model, &["-m", "greet Ada"]);
    let asked = model.asked();
    let said = |at: usize| asked[at].last_message();
    let folder = scratch.path().canonicalize().unwrap();
    let folder = folder.file_name().unwrap().to_str().unwrap();
    assert_eq!(said(1), format!("greet in {folder}: --to Ada; rm -rf . warm\n"));
    assert_eq!(scratch.read("greeted.txt"), said(1));
    assert_eq!(said(2), "invalid call to `greet`: who: has 0 characters, it must have at least 1");
    assert_eq!(said(3), "invalid call to `greet`: arguments: `who` is missing");
    // The whole call as JSON on standard input: one word for wc.
    assert_eq!(said(4).trim(), "2");
    assert_eq!(said(5), "you have no tool `calendar_add`");
    let offered = offered(&asked[0]);
    assert!(offered.contains(&"greet".to_owned()) && !offered.contains(&"calendar_add".to_owned()));
    let greet = asked[0].body["tools"].as_array().unwrap().iter().find(|t| t["name"] == "greet");
    assert_eq!(greet.unwrap()["input_schema"]["required"], json!(["who"]));
    let system = asked[0].system().concat();
    assert!(system.contains("greet") && !system.contains("calendar_add"), "{system}");
}

#[test]
fn a_default_is_what_the_program_gets_and_what_rules_see() {
    let scratch = workspace();
    let tools = "[[tool]]\nname = 'deploy'\ndescription = 'Deploy.'\ncommand = ['echo', 'to', '{to}']\n\
        [tool.parameters.properties]\nto = { type = 'string', default = 'staging' }\n";
    scratch.write("tools.toml", tools);
    let calls = || {
        ModelServer::saying(vec![
            tool("deploy", json!({})),
            tool("deploy", json!({"to": "here"})),
            text("Done."),
        ])
    };
    let model = calls();
    done(&scratch, &model, &["-m", "deploy it"]);
    assert_eq!(model.asked()[1].last_message(), "to staging\n");
    assert_eq!(model.asked()[2].last_message(), "to here\n");
    let settings = scratch.read("foreword.toml");
    scratch
        .write("foreword.toml", format!("{settings}[permissions]\ndeny = ['deploy(staging*)']\n"));
    let model = calls();
    done(&scratch, &model, &["-m", "deploy it"]);
    let refused = model.asked()[1].last_message();
    assert!(refused.contains("deploy(staging*)"), "{refused}");
    assert_eq!(model.asked()[2].last_message(), "to here\n");
}

#[test]
fn a_tool_that_nothing_carries_out_is_left_out_and_named_once() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![text("Hello."), text("Hello.")]);
    let run = on_host(&scratch, &model, &["run", "--trust", "-m", "hello"]).run();
    assert_eq!(run.status, 0, "{}", run.stderr);
    let warning = "left out tool that has no implementation: `calendar_add`; add a `command` in \
                   tools.toml or run `foreword lint` for details";
    assert_eq!(run.stderr.matches(warning).count(), 1, "{}", run.stderr);
    let built = on_host(&scratch, &model, &["build", "--runner", "native", "--json", "hello"]);
    let manifest = built.run().json();
    let filtered = manifest["filtered"].as_array().unwrap();
    assert!(
        filtered.iter().any(|it| it["kind"] == "tool" && it["id"] == "calendar_add"),
        "{filtered:?}"
    );
    // A loop of one's own may have it.
    let own = scratch.build(&["hello"]);
    assert!(own["content"].as_str().unwrap().contains("calendar_add"), "{own}");
}

#[test]
fn lint_names_tools_that_cannot_be_called_and_names_that_are_none() {
    let scratch = workspace();
    scratch
        .write("agents/ada/AGENT.md", "---\nid: ada\ntools: [coding, great, greet]\n---\nAda.\n");
    let run = scratch.run(&["lint", "--json"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let findings = run.json();
    let of = |rule: &str| {
        let all = findings.as_array().unwrap().iter();
        all.filter(|finding| finding["rule"] == rule).cloned().collect::<Vec<_>>()
    };
    let uncallable = of("uncallable-tool");
    assert_eq!(uncallable.len(), 1, "{findings}");
    assert_eq!(uncallable[0]["severity"], "warning");
    assert_eq!(uncallable[0]["file"], "tools.toml");
    assert_eq!(uncallable[0]["line"], 17);
    let unlisted = of("unlisted-tool");
    let messages: Vec<&Value> = unlisted.iter().map(|finding| &finding["message"]).collect();
    assert_eq!(messages, ["no agent has the tool `count`", "no agent has the tool `calendar_add`"]);
    assert!(unlisted.iter().all(|finding| finding["severity"] == "warning"), "{findings}");
    let unknown = of("unknown-tool");
    assert_eq!(unknown.len(), 1, "{findings}");
    assert_eq!(unknown[0]["severity"], "error");
    assert_eq!(unknown[0]["line"], 3);
    let hint = unknown[0]["hint"].as_str().unwrap();
    assert!(hint.starts_with("did you mean `greet`?"), "{hint}");
}

#[test]
fn a_built_in_tool_takes_no_command() {
    let scratch = Scratch::new(&[("tools.toml", "[[tool]]\nname = 'bash'\ncommand = ['x']\n")]);
    let run = scratch.run(&["build", "hello"]);
    assert!(run.fails(2).contains("tools.toml:2: `bash` is built in"), "{}", run.stderr);
}

/// The same tool, called by the program of somebody else under the name that it has there.
fn in_another_loop(runner: &str, program: &str, name: &'static str) {
    if foreword_testing::npm_program(program).is_none() {
        return;
    }
    let scratch = workspace();
    let model = ModelServer::start(move |number, _| match number {
        0 => tool(name, json!({"who": "Ada", "tone": "formal"})),
        1 => tool(name, json!({"who": "Ada", "tone": "rude"})),
        _ => text("Done."),
    });
    let path = foreword_testing::npm_path().into_string().unwrap();
    let args = ["run", "-q", "--trust", "--json", "--runner", runner, "-m", "greet Ada"];
    on_host(&scratch, &model, &args).env("PATH", &path).run().ok();
    assert!(scratch.read("greeted.txt").contains("--to Ada formal"));
    let asked = model.asked();
    let body = |at: usize| asked[at].body["messages"].to_string();
    assert!(body(1).contains("--to Ada formal"), "{}", body(1));
    assert!(body(2).contains("one of"), "{}", body(2));
    let system = asked[0].system().concat();
    assert!(system.contains(name) && !system.contains("calendar_add"), "{system}");
    let offered = offered(&asked[0]);
    assert!(offered.iter().any(|tool| tool == name), "{offered:?}");
}

#[test]
fn claude_code_calls_a_command_of_the_workspace() {
    in_another_loop("claude-code", "claude", "mcp__foreword__greet");
}

#[test]
fn pi_calls_a_command_of_the_workspace() {
    in_another_loop("pi", "pi", "greet");
}

#[test]
fn a_session_lists_its_commands_like_every_tool() {
    let scratch = workspace();
    let model = ModelServer::saying(vec![
        tool("session_status", json!({})),
        tool("tool_describe", json!({"name": "greet"})),
        text("Done."),
    ]);
    done(&scratch, &model, &["-m", "hello"]);
    let asked = model.asked();
    let status: Value = serde_json::from_str(&asked[1].last_message()).unwrap();
    assert!(strings(&status["tools"]).contains(&"greet"), "{status}");
    assert!(asked[2].last_message().contains("minLength"), "{}", asked[2].last_message());
}

#[test]
fn a_skill_with_files_says_where_they_are_and_its_scripts_run_from_there() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "[model]\nname = 'claude-sonnet-4-20250514'\n"),
        (
            "skills/report/SKILL.md",
            "---\nname: report\ndescription: Write a report.\n---\nRun `sh scripts/make.sh`.\n",
        ),
        ("skills/report/scripts/make.sh", "echo \"report in $(pwd)\"\ncat ../report/data.txt\n"),
        ("skills/report/data.txt", "42\n"),
        ("skills/plain/SKILL.md", "---\nname: plain\ndescription: Be plain.\n---\nBe plain.\n"),
    ]);
    let model = ModelServer::saying(vec![
        tool("skill_read", json!({"name": "report"})),
        tool("bash", json!({"command": "cd skills/report && sh scripts/make.sh"})),
        text("Done."),
    ]);
    done(&scratch, &model, &["-m", "write a report"]);
    let asked = model.asked();
    let prompt = asked[0].system().concat() + &asked[0].last_message();
    assert!(
        prompt.contains("Its files are in skills/report; run its scripts from there."),
        "{prompt}"
    );
    assert!(!prompt.contains("Its files are in skills/plain"), "{prompt}");
    let read: Value = serde_json::from_str(&asked[1].last_message()).unwrap();
    assert_eq!(read["folder"], "skills/report");
    let ran = asked[2].last_message();
    assert!(ran.ends_with("skills/report\n42\n"), "{ran}");
}

/// Report 15, number 22: a program that is not there is named before an agent calls it, and when it does.
#[test]
fn a_program_that_cannot_start_is_named() {
    let scratch = workspace();
    let more = "[[tool]]\nname = 'gone'\ncommand = ['./bin/gone.sh']\n\
                [[tool]]\nname = 'plain'\ncommand = ['./plain.sh']\n";
    scratch.write("tools.toml", format!("{TOOLS}{more}"));
    scratch.write("plain.sh", "#!/bin/sh\n");
    let lint = scratch.run(&["lint"]);
    for line in [
        "warning [uncallable-tool] the program `./bin/gone.sh` of the tool `gone` does not exist",
        "warning [uncallable-tool] the program `./plain.sh` of the tool `plain` is not executable",
    ] {
        assert!(lint.stdout.contains(line), "{}", lint.stdout);
    }
    assert!(!lint.stdout.contains("greet.sh"), "{}", lint.stdout);
    let model =
        ModelServer::saying(vec![tool("gone", json!({})), tool("plain", json!({})), text("No.")]);
    done(&scratch, &model, &["-m", "go"]);
    let asked = model.asked();
    let said = asked[1].last_message();
    assert!(said.contains("gone cannot run: there is no program `"), "{said}");
    assert!(said.contains("/bin/gone.sh` in the sandbox"), "{said}");
    assert!(asked[2].last_message().contains("plain.sh` is not executable"));
}
