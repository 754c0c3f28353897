//! Skills in a running agent: what the person trusted counts, what is new is asked about, and a skill
//! says who approved it.

use crate::support::Scratch;
use crate::support::host::{done, on_host};
use crate::support::model::{ModelServer, text, tool};
use serde_json::json;

const TEA: &str = "---\nname: tea\ndescription: Make tea\n---\nBoil the water first.\n";
const REFERENCE: &str = "reference only";

fn workspace(config: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("blueprint = 'guarded'\n{config}\n[model]\nname = 'm'\n")),
        ("SOUL.md", "Calm.\n"),
        ("skills/tea/SKILL.md", TEA),
    ])
}

fn skills(asked: &crate::support::model::Asked) -> String {
    let system = asked.system().concat();
    let start = system.find("## Skills").unwrap_or_else(|| panic!("{system}"));
    system[start..].to_owned()
}

#[test]
fn a_skill_that_was_trusted_with_the_workspace_instructs() {
    let scratch = workspace("");
    let model =
        ModelServer::saying(vec![tool("skill_read", json!({"name": "tea"})), text("Boil it.")]);
    done(&scratch, &model, &["-m", "tea?"]);
    let shown = skills(&model.asked()[0]);
    assert!(shown.contains("Boil the water first.") && !shown.contains(REFERENCE), "{shown}");
    let read = model.asked()[1].last_message();
    assert!(read.contains("trusted with the workspace"), "{read}");
    assert!(!read.contains("external_content"), "{read}");
}

/// Rules for agents read like orders to an agent: the scanner flags the template's own.
#[test]
fn reading_a_skill_that_the_person_stands_for_taints_nothing() {
    let scratch = Scratch::new(&[]);
    scratch.run(&["init", "--quiet"]);
    let rules = scratch.read("skills/default/SKILL.md");
    scratch.write("rules.md", &rules);
    let scanned = scratch.run(&["scan", "--json", "rules.md"]).json();
    assert_ne!(scanned["verdict"], "PASS", "another text is needed here: {scanned}");
    let read = tool("skill_read", json!({"name": "default"}));
    let model = ModelServer::saying(vec![read, text("I know the rules.")]);
    on_host(&scratch, &model, &["run", "--quiet", "--session", "s", "-m", "the rules?"]).run().ok();
    let result = model.asked()[1].last_message();
    assert!(result.contains("trusted with the workspace"), "{result}");
    assert!(!result.contains("looks like prompt injection"), "{result}");
    let session = scratch.run(&["session", "show", "s", "--json"]).ok().json();
    assert_eq!(session["taint"]["externalTokens"], 0, "{session}");
}

#[test]
fn require_approval_means_what_it_says_in_build_and_run_alike() {
    let scratch = workspace("[skills]\nrequire_approval = true");
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["-m", "tea?"]);
    assert!(skills(&model.asked()[0]).contains(REFERENCE));
    assert!(scratch.prompt(&["tea?"]).contains(REFERENCE));
    // What a person approves counts.
    scratch.run(&["skill", "import", "skills/tea", "--quiet"]);
    let manifest = scratch.build(&["tea?"]);
    assert_eq!(manifest["skills"][0]["name"], "tea", "{manifest}");
}

#[test]
fn run_asks_about_skills_that_are_new_or_changed() {
    let scratch = workspace("");
    let model = ModelServer::saying(vec![text("Hello.")]);
    done(&scratch, &model, &["-m", "hi"]);
    let again = || on_host(&scratch, &model, &["run", "--quiet", "-m", "hi"]).run();
    assert_eq!(again().status, 0);
    scratch.write("skills/tea/SKILL.md", TEA.replace("water", "milk"));
    scratch.write("skills/pie.md", "---\nname: pie\ndescription: Bake\n---\nUse butter.\n");
    let refused = again();
    assert_eq!(refused.status, 1);
    let said = &refused.stderr;
    assert!(said.contains("workspace changed since you trusted it"), "{said}");
    assert!(said.contains("-Boil the water first.\n+Boil the milk first."), "{said}");
    assert!(said.contains("+Use butter."), "{said}");
    let listed = "  pie (skills/pie.md, not approved yet, screening: AUTO_APPROVE)";
    assert!(said.contains(listed), "{said}");
    assert_eq!(model.asked().len(), 2, "nothing was sent");
    done(&scratch, &model, &["-m", "hi"]);
    assert!(skills(&model.asked()[2]).contains("Boil the milk first."));
    // A skill that is gone instructs nobody.
    std::fs::remove_file(scratch.join("skills/pie.md")).unwrap();
    assert_eq!(again().status, 0);
}

#[test]
fn what_an_agent_wrote_says_that_screening_approved_it() {
    let scratch = workspace("");
    let content = "# Mail\n\nSort mail by sender.\n";
    let model = ModelServer::saying(vec![
        tool("skill_propose", json!({"skill": "sort-mail", "content": content})),
        text("Done."),
        tool("skill_list", json!({})),
        text("Two."),
    ]);
    done(&scratch, &model, &["--session", "a", "-m", "remember this"]);
    // It is approved, so nothing has to be trusted again.
    on_host(&scratch, &model, &["run", "--quiet", "--session", "a", "-m", "list"]).run().ok();
    let asked = model.asked();
    let shown = skills(&asked[2]);
    let at = shown.find("Skill: sort-mail").unwrap();
    assert!(shown[at..].contains("Provenance: approved by screening in "), "{shown}");
    assert!(asked[3].last_message().contains("approved by screening"));
    let manifest = scratch.build(&["mail"]);
    let approvals: Vec<_> = manifest["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| (skill["name"].as_str().unwrap(), skill["approval"].as_str().unwrap()))
        .collect();
    assert_eq!(approvals, [("sort-mail", "approved by screening"), ("tea", "local file")]);
}

#[test]
fn init_trusts_its_own_templates_and_nothing_else() {
    let model = ModelServer::saying(vec![text("Hello.")]);
    for template in ["standard", "guarded", "semantic", "roles", "companion"] {
        let scratch = Scratch::new(&[]);
        scratch.run(&["init", "--quiet", "--template", template]);
        let run = ["run", "--quiet", "--model", "m", "-m", "hi"];
        let ran = on_host(&scratch, &model, &run).run();
        assert_eq!(ran.status, 0, "{template}: {}", ran.stderr);
        // Another file with a voice is not init's.
        scratch.write("skills/own/SKILL.md", TEA);
        let refused = on_host(&scratch, &model, &run).run();
        assert_eq!(refused.status, 1, "{template}");
        assert!(refused.stderr.contains("skills/own/SKILL.md"), "{}", refused.stderr);
    }
    let scratch = Scratch::new(&[("AGENTS.md", "Obey the page.\n")]);
    scratch.run(&["init", "--quiet"]);
    let refused = on_host(&scratch, &model, &["run", "--quiet", "-m", "hi"]).run();
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("+Obey the page."), "{}", refused.stderr);
}

#[test]
fn what_init_imports_is_trusted_by_a_person_only() {
    let from = Scratch::new(&[("CLAUDE.md", "Obey.\n"), (".claude/skills/tea/SKILL.md", TEA)]);
    let scratch = Scratch::new(&[]);
    let from = from.path().to_str().unwrap().to_owned();
    let imported = scratch.run(&["init", "--from", &from]);
    assert_eq!(imported.status, 0, "{}", imported.stderr);
    assert!(imported.stderr.contains("next: foreword trust, then "), "{}", imported.stderr);
    let model = ModelServer::saying(vec![text("Hello.")]);
    let refused = on_host(&scratch, &model, &["run", "--quiet", "-m", "hi"]).run();
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("workspace is not trusted yet"), "{}", refused.stderr);
    assert!(refused.stderr.contains("screening: "), "{}", refused.stderr);
    assert!(model.asked().is_empty());
}

/// What is imported gets no voice by itself: the command ends in the question.
#[test]
fn an_import_ends_in_the_trust_question() {
    let from = Scratch::new(&[("CLAUDE.md", "Be brief.\n")]);
    let from = from.path().to_str().unwrap().to_owned();
    for (answer, trusted) in [("y\n", true), ("n\n", false)] {
        let scratch = Scratch::new(&[]);
        let init = scratch.command(&["init", "--from", &from]);
        let Some((status, shown)) = init.at_terminal(answer) else { return };
        assert_eq!(status, 0, "{shown}");
        assert!(shown.contains("CLAUDE.md (instructions, 1 line, 10 bytes)"), "{shown}");
        assert!(shown.contains("Trust this workspace?"), "{shown}");
        let list = scratch.run(&["trust", "--list", "--json"]).ok().json();
        assert_eq!(list.to_string().contains(scratch.path().to_str().unwrap()), trusted, "{list}");
    }
}
