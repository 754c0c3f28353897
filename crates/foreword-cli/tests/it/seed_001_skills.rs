//! Seed 001, skills: its other half, section by section, against the built binary: stores, screening,
//! proposals, what reaches the prompt, and the security model.
//!
//! Elsewhere: section 2, 3.1, 3.2 and 7.5 (the prompt half, `crates/foreword/tests/it/seed_001_skills_prompt.rs`);
//! 4.2 and 5 (IPC, runners and MCP come with the host); two processes and killed ones
//! (`crates/foreword-skills/tests/it/killed.rs`); what the audit log finds (`crates/foreword-store/tests/`).

use crate::support::{Run, Scratch, keys, section, strings};
use serde_json::{Value, json};

/// The skill of section 9.
const CHECKLIST: &str = "# Deploy\n\nHow we ship.\n\n1. Run tests\n2. Build\n3. Tag the release\n";

/// A text that uses a piece of code, in a fence as a skill would have it.
fn with_code(language: &str, code: &str) -> String {
    format!("# Helper\n\nHelps with a task.\n\n```{language}\n{code}\n```\n")
}

/// The same, claiming every permission it could name.
fn with_permissions(text: &str) -> String {
    format!(
        "---\nname: helper\ndescription: Helps.\nallowed-tools: Bash Read Write WebFetch exec eval network\n---\n{text}"
    )
}

/// Proposes a text under a name, as an agent would through the host.
fn propose(workspace: &Scratch, name: &str, text: &str) -> Run {
    let args = ["skill", "propose", "-", "--json", "--name", name, "--agent", "cosmo"];
    workspace.command(&args).stdin(text).run()
}

/// What became of a proposal that was not refused.
fn proposed(workspace: &Scratch, name: &str, text: &str) -> Value {
    propose(workspace, name, text).ok().json()
}

fn verdict(workspace: &Scratch, text: &str) -> String {
    propose(workspace, "helper", text).json()["verdict"].as_str().unwrap().to_owned()
}

/// Action, subject and outcome of every entry of the audit log, oldest first.
fn audited(workspace: &Scratch) -> Vec<String> {
    let log = workspace.run(&["audit", "log", "--json"]).ok().json();
    let line = |e: &Value| format!("{} {} {}", e["action"], e["subject"], e["outcome"]);
    log.as_array().unwrap().iter().map(|entry| line(entry).replace('"', "")).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

mod s1_1_provider_contract {
    use super::*;

    #[test]
    fn list_gives_name_and_path() {
        let ws = Scratch::new(&[
            ("skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews tea.\n---\nBrew.\n"),
            ("skills/flat.md", "# Flat\n\nA flat one.\n"),
        ]);
        let list = ws.run(&["skill", "list", "--json"]).ok().json();
        let found: Vec<_> =
            list.as_array().unwrap().iter().map(|s| (text(s, "name"), text(s, "path"))).collect();
        assert_eq!(found, [("brew", "skills/brew/SKILL.md"), ("flat", "skills/flat.md")]);
    }

    #[test]
    fn read_gives_the_full_markdown() {
        let whole = "---\nname: brew\ndescription: Brews tea.\n---\n\n# Brew\n\nSlowly.\n";
        let ws = Scratch::new(&[("skills/brew/SKILL.md", whole)]);
        assert_eq!(ws.run(&["skill", "read", "brew"]).ok().stdout, whole);
    }

    #[test]
    fn propose_adds_a_new_skill_and_updates_one() {
        let ws = Scratch::new(&[]);
        let first = proposed(&ws, "deploy", CHECKLIST);
        let second = proposed(&ws, "deploy", &CHECKLIST.replace("Build", "Build twice"));
        assert_ne!(first["commit"], second["commit"]);
        assert!(ws.read("skills/deploy/SKILL.md").contains("Build twice"));
    }

    #[test]
    fn approve_takes_in_a_pending_proposal() {
        let ws = Scratch::new(&[]);
        let pending = proposed(&ws, "helper", &with_code("js", "process.exit(1)"));
        assert!(!ws.join("skills/helper").exists());
        let done =
            ws.run(&["skill", "approve", "--yes", text(&pending, "id"), "--json"]).ok().json();
        assert_eq!(done["id"], pending["id"]);
        assert!(ws.read("skills/helper/SKILL.md").contains("process.exit(1)"));
        // Whoever approved it answers for it, not screening.
        let list = ws.run(&["skill", "list", "--json"]).ok().json();
        assert!(text(&list[0], "by").starts_with("user:"), "{list}");
    }

    #[test]
    fn reject_discards_a_pending_proposal() {
        let ws = Scratch::new(&[]);
        let pending = proposed(&ws, "helper", &with_code("js", "process.exit(1)"));
        ws.run(&["skill", "reject", text(&pending, "id"), "--reason", "not needed"]).ok();
        assert!(!ws.join("skills/helper").exists());
        assert_eq!(ws.run(&["skill", "proposals", "--json"]).ok().json(), json!([]));
        assert_eq!(ws.run(&["skill", "approve", "--yes", text(&pending, "id")]).status, 1);
    }

    #[test]
    fn revert_undoes_a_committed_skill() {
        let ws = Scratch::new(&[]);
        let first = proposed(&ws, "deploy", CHECKLIST);
        proposed(&ws, "tea", "# Tea\n\nBrew it.\n");
        ws.run(&["skill", "revert", "--yes", text(&first, "commit")]).ok();
        assert!(!ws.join("skills/deploy").exists());
        assert!(ws.join("skills/tea/SKILL.md").exists(), "a later commit is left alone");
    }

    #[test]
    fn log_is_the_trail_with_options() {
        let ws = Scratch::new(&[]);
        let commit = proposed(&ws, "deploy", CHECKLIST)["commit"].clone();
        proposed(&ws, "tea", "# Tea\n\nBrew it.\n");
        let all = ws.run(&["skill", "log", "--json"]).ok().json();
        assert_eq!(all.as_array().unwrap().len(), 4, "{all}");
        let one = ws.run(&["skill", "log", "deploy", "-n", "1", "--json"]).ok().json();
        assert_eq!(one.as_array().unwrap().len(), 1);
        assert_eq!((text(&one[0], "skill"), text(&one[0], "action")), ("deploy", "approve"));
        assert_eq!(one[0]["commit"], commit);
    }

    /// A screener sees the content and the permissions it declares; `screen` shows its verdict.
    #[test]
    fn screen_takes_content_and_declared_permissions() {
        let ws = Scratch::new(&[]);
        let evil = with_permissions(&with_code("js", "eval(input)"));
        let run =
            ws.command(&["skill", "screen", "-", "--policy", "agent", "--json"]).stdin(evil).run();
        assert_eq!(run.status, 1);
        assert_eq!(run.json()["verdict"], "REJECT");
    }

    /// A capability that `allowed-tools` does not cover is a finding, wherever a skill is judged.
    #[test]
    fn what_declared_permissions_do_not_cover_is_a_finding() {
        let main = |tools: &str| {
            format!(
                "---\nname: tea\ndescription: Brews tea.\nallowed-tools: {tools}\n---\n\nRun scripts/tea.sh.\n"
            )
        };
        let ws = Scratch::new(&[
            ("tea/SKILL.md", &main("Read")),
            ("tea/scripts/tea.sh", "brew pot\nffmpeg -i a b\n"),
        ]);
        let finding = "[undeclared-capability] Its files can do what `allowed-tools` does not cover (runs: brew, ffmpeg)";
        let screened = ws.run(&["skill", "screen", "tea"]).ok().stdout;
        assert!(screened.contains(finding), "{screened}");
        let proposed = ws.run(&["skill", "propose", "tea", "--json"]).ok().json();
        let shown = ws.run(&["skill", "proposals", text(&proposed, "id")]).ok().stdout;
        assert!(shown.contains(finding), "{shown}");
        ws.run(&["skill", "reject", text(&proposed, "id")]).ok();
        let imported = ws.run(&["skill", "import", "tea"]).ok().stdout;
        assert!(imported.contains(finding), "{imported}");
        ws.write("tea/SKILL.md", main("Read Bash(brew:*) Bash(ffmpeg:*)"));
        let screened = ws.run(&["skill", "screen", "tea"]).ok().stdout;
        assert!(!screened.contains("undeclared-capability"), "{screened}");
        // What an agent wrote beyond what it declares waits for a person.
        let declared = |name: &str, tools: &str| {
            let header = format!("name: {name}\ndescription: Runs tests.\nallowed-tools: {tools}");
            let content = format!("---\n{header}\n---\n\nRun:\n\n```sh\ncargo test\n```\n");
            text(&super::proposed(&ws, name, &content), "verdict").to_owned()
        };
        assert_eq!(declared("within", "Bash(cargo:*)"), "AUTO_APPROVE");
        assert_eq!(declared("beyond", "Read"), "NEEDS_REVIEW");
    }
}

mod s1_2_patterns {
    use super::*;

    /// Each is refused in a fence, is nowhere on disk afterwards, and no declared permission helps.
    fn refuses(patterns: &[(&str, &str)]) {
        let ws = Scratch::new(&[]);
        for (language, code) in patterns {
            let plain = with_code(language, code);
            for content in [plain.clone(), with_permissions(&plain)] {
                let run = propose(&ws, "helper", &content);
                let result = run.json();
                assert_eq!(text(&result, "verdict"), "REJECT", "{content}\n{result}");
                assert_eq!(run.status, 1);
                assert!(result.get("commit").is_none(), "{result}");
            }
        }
        assert!(!ws.join("skills/helper").exists());
        assert_eq!(ws.run(&["skill", "proposals", "--all", "--json"]).ok().json(), json!([]));
        assert_eq!(audited(&ws), vec!["skill.propose helper refused"; 2 * patterns.len()]);
    }

    /// Each waits for a person, declared or not.
    fn reviews(patterns: &[(&str, &str)]) {
        let ws = Scratch::new(&[]);
        for (language, code) in patterns {
            let plain = with_code(language, code);
            for content in [plain.clone(), with_permissions(&plain)] {
                let result = proposed(&ws, "helper", &content);
                assert_eq!(text(&result, "verdict"), "NEEDS_REVIEW", "{content}\n{result}");
                assert!(result.get("commit").is_none(), "{result}");
            }
        }
        assert!(!ws.join("skills/helper").exists());
        let waiting = ws.run(&["skill", "proposals", "--json"]).ok().json();
        assert_eq!(waiting.as_array().unwrap().len(), 2 * patterns.len());
        assert_eq!(audited(&ws), vec!["skill.propose helper pending"; 2 * patterns.len()]);
    }

    #[test]
    fn shell_execution_is_refused() {
        refuses(&[
            ("js", "exec(\"ls -la\")"),
            ("js", "spawn(\"ls\", [\"-la\"])"),
            ("js", "execSync(\"ls\")"),
        ]);
    }

    #[test]
    fn a_pipe_to_a_shell_is_refused() {
        refuses(&[("sh", "cat setup.txt | bash"), ("sh", "cat setup.txt | sh")]);
    }

    #[test]
    fn code_execution_is_refused() {
        refuses(&[
            ("js", "eval(input)"),
            ("js", "new Function(\"return 1\")()"),
            ("js", "const f = Function(\"return 1\");"),
        ]);
    }

    #[test]
    fn encoding_evasion_is_refused() {
        refuses(&[("js", "atob(text)"), ("js", "Buffer.from(text, \"base64\").toString()")]);
    }

    #[test]
    fn dangerous_imports_are_refused() {
        refuses(&[
            ("js", "const cp = require(\"child_process\");"),
            ("js", "import net from \"net\";"),
            ("js", "const udp = require('dgram');"),
            ("js", "import cluster from 'node:cluster';"),
            ("js", "import { Worker } from \"worker_threads\";"),
        ]);
    }

    #[test]
    fn network_access_is_refused() {
        refuses(&[
            ("js", "const page = await fetch(url);"),
            ("js", "const request = new XMLHttpRequest();"),
        ]);
    }

    #[test]
    fn filesystem_writes_need_review() {
        reviews(&[
            ("js", "fs.writeFileSync(\"notes.txt\", text)"),
            ("js", "await fs.promises.unlink(path)"),
            ("js", "fs.appendFile(path, line, done)"),
        ]);
    }

    #[test]
    fn environment_access_needs_review() {
        reviews(&[("js", "const home = process.env.HOME;")]);
    }

    #[test]
    fn process_control_needs_review() {
        reviews(&[("js", "process.exit(1)")]);
    }

    #[test]
    fn cryptography_needs_review() {
        reviews(&[
            ("js", "const crypto = require(\"crypto\");"),
            ("js", "crypto.createHash(\"sha256\").update(text)"),
        ]);
    }

    /// What the seed's patterns got wrong: a rule against a thing is not a use of it.
    #[test]
    fn a_prohibition_is_not_a_use() {
        let ws = Scratch::new(&[]);
        let rules = "# Review\n\nHow we review code.\n\n- Never use eval() or new Function().\n\
                     - Do not call exec() on what a user typed.\n";
        assert_eq!(verdict(&ws, rules), "AUTO_APPROVE");
    }

    #[test]
    fn a_use_in_disguise_is_a_use() {
        let ws = Scratch::new(&[]);
        for code in ["ｅｖａｌ(input)", "e\u{200b}val(input)"] {
            assert_eq!(verdict(&ws, &with_code("js", code)), "REJECT", "{code:?}");
        }
    }
}

mod s1_2_workflow {
    use super::*;

    #[test]
    fn reject_is_logged_not_stored_and_an_error() {
        let ws = Scratch::new(&[]);
        let run = propose(&ws, "helper", &with_code("js", "eval(input)"));
        assert_eq!(run.status, 1);
        assert!(run.stderr.starts_with("error: rejected by screening: "), "{}", run.stderr);
        assert!(!ws.join("skills/helper").exists() && !ws.join(".foreword/skills.git").exists());
        assert_eq!(audited(&ws), ["skill.propose helper refused"]);
    }

    #[test]
    fn needs_review_is_kept_for_a_person_across_processes() {
        let ws = Scratch::new(&[]);
        let id = proposed(&ws, "helper", &with_code("js", "process.exit(1)"))["id"].clone();
        let shown = ws.run(&["skill", "proposals", id.as_str().unwrap()]).ok().stdout;
        assert!(shown.contains("+process.exit(1)"), "{shown}");
        assert!(shown.contains("by agent:cosmo, NEEDS_REVIEW"), "{shown}");
    }

    #[test]
    fn auto_approve_is_written_committed_and_logged() {
        let ws = Scratch::new(&[]);
        let result = proposed(&ws, "deploy", CHECKLIST);
        assert_eq!(text(&result, "verdict"), "AUTO_APPROVE");
        assert!(ws.read("skills/deploy/SKILL.md").ends_with(CHECKLIST));
        let list = ws.run(&["skill", "list", "--json"]).ok().json();
        assert_eq!((&list[0]["commit"], text(&list[0], "by")), (&result["commit"], "screening"));
        assert_eq!(audited(&ws), ["skill.propose deploy pending", "skill.approve deploy done"]);
    }

    #[test]
    fn every_decision_is_logged() {
        let ws = Scratch::new(&[]);
        let code = with_code("js", "process.exit(1)");
        let first = proposed(&ws, "one", &code);
        let second = proposed(&ws, "two", &code);
        ws.run(&["skill", "reject", text(&first, "id")]).ok();
        let done =
            ws.run(&["skill", "approve", "--yes", text(&second, "id"), "--json"]).ok().json();
        ws.run(&["skill", "revert", "--yes", text(&done, "commit")]).ok();
        assert_eq!(
            audited(&ws),
            [
                "skill.propose one pending",
                "skill.propose two pending",
                "skill.reject one done",
                "skill.approve two pending",
                "skill.approve two done",
                "skill.revert two pending",
                "skill.revert two done",
            ]
        );
    }

    /// Revert is by git history: a commit a later one builds on is not torn out from under it.
    #[test]
    fn a_revert_that_a_later_commit_stands_in_the_way_of_is_refused() {
        let ws = Scratch::new(&[]);
        let first = proposed(&ws, "deploy", CHECKLIST);
        proposed(&ws, "deploy", &CHECKLIST.replace("Build", "Build twice"));
        let run = ws.run(&["skill", "revert", "--yes", text(&first, "commit")]);
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(ws.read("skills/deploy/SKILL.md").contains("Build twice"));
        assert_eq!(audited(&ws).last().unwrap().split(' ').next_back(), Some("refused"));
    }
}

mod s1_2_storage {
    use super::*;

    #[test]
    fn skills_are_markdown_in_the_directory_of_skills() {
        let ws = Scratch::new(&[]);
        proposed(&ws, "deploy", CHECKLIST);
        assert_eq!(
            ws.read("skills/deploy/SKILL.md"),
            format!("---\nname: deploy\ndescription: \"How we ship.\"\n---\n\n{CHECKLIST}")
        );
    }

    #[test]
    fn the_repository_is_in_foreword_and_not_around_the_users_files() {
        let ws = Scratch::new(&[]);
        proposed(&ws, "deploy", CHECKLIST);
        assert!(ws.join(".foreword/skills.git/HEAD").exists());
        assert!(!ws.join(".git").exists() && !ws.join("skills/.git").exists());
    }

    #[test]
    fn names_go_through_safe_paths() {
        let ws = Scratch::new(&[("outside.md", "Mine.\n")]);
        let bad = [
            "../outside",
            "/tmp/outside",
            "a/../../outside",
            "..",
            "nul",
            "UPPER",
            "dot.",
            "a b",
            "ｄｅｐ",
            "C:x",
            "a\\b",
            "-x-",
            "",
        ];
        for name in bad {
            let run = ws
                .command(&["skill", "propose", "-", &format!("--name={name}")])
                .stdin(CHECKLIST)
                .run();
            run.fails(2);
        }
        assert_eq!(ws.read("outside.md"), "Mine.\n");
        assert!(
            !ws.join("skills").exists()
                || std::fs::read_dir(ws.join("skills")).unwrap().next().is_none()
        );
        assert_eq!(audited(&ws).len(), bad.len(), "each is on record");
        // Reading climbs nowhere either.
        ws.run(&["skill", "read", "../outside"]).fails(2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_directory_is_not_written_through() {
        let ws = Scratch::new(&[
            ("elsewhere/SKILL.md", "Mine.\n"),
            ("skills/keep.md", "# Keep\n\nKeep.\n"),
        ]);
        std::os::unix::fs::symlink(ws.join("elsewhere"), ws.join("skills/deploy")).unwrap();
        let run = propose(&ws, "deploy", CHECKLIST);
        assert_ne!(run.status, 0, "{}", run.stdout);
        assert_eq!(ws.read("elsewhere/SKILL.md"), "Mine.\n");
    }
}

mod s1_3_read_only {
    use foreword_skills::{
        Act, LogOptions, ProposalRequest, ReadOnlyStore, SkillError, SkillStore,
    };
    use foreword_workspace::Workspace;

    use super::*;

    /// The store for hosts that let nobody propose. The command line has no need of it; its own test
    /// is `a_read_only_store_reads_and_says_no_to_the_rest` in `crates/foreword-skills`.
    #[test]
    fn the_read_only_variant_reads_and_refuses_the_rest() {
        let ws = Scratch::new(&[("skills/brew.md", "# Brew\n\nSlowly.\n")]);
        let mut store: Box<dyn SkillStore> =
            Box::new(ReadOnlyStore::new(Workspace::open(ws.path()).unwrap()));
        assert_eq!(store.list().unwrap()[0].name, "brew");
        assert_eq!(store.read("brew").unwrap().content, "# Brew\n\nSlowly.\n");
        assert!(store.log(&LogOptions::default()).unwrap().is_empty());
        let act = Act { at: 0, by: "agent:cosmo".into() };
        let refused = [
            store.propose(ProposalRequest::default(), &act).map(drop),
            store.approve("x", &act).map(drop),
            store.reject("x", None, &act),
            store.revert("x", &act).map(drop),
        ];
        for result in refused {
            assert!(matches!(result, Err(SkillError::ReadOnly { .. })), "{result:?}");
        }
        assert!(!ws.join(".foreword").exists());
    }
}

mod s3_3_mid_session_refresh {
    use super::*;

    #[test]
    fn what_was_approved_is_in_the_next_prompt_without_a_restart() {
        let ws = Scratch::new(&[]);
        assert!(!ws.prompt(&[]).contains("Run tests"));
        proposed(&ws, "deploy", CHECKLIST);
        assert!(ws.prompt(&[]).contains("> 1. Run tests"));
    }

    #[test]
    fn what_waits_or_was_refused_is_not() {
        let ws = Scratch::new(&[]);
        let pending = proposed(&ws, "helper", &with_code("js", "process.exit(7)"));
        propose(&ws, "evil", &with_code("js", "eval(input)"));
        let prompt = ws.prompt(&[]);
        assert!(!prompt.contains("process.exit(7)") && !prompt.contains("eval(input)"));
        ws.run(&["skill", "approve", "--yes", text(&pending, "id")]).ok();
        assert!(ws.prompt(&[]).contains("process.exit(7)"));
    }

    #[test]
    fn what_was_reverted_is_gone_from_the_next_one() {
        let ws = Scratch::new(&[]);
        let commit = proposed(&ws, "deploy", CHECKLIST)["commit"].as_str().unwrap().to_owned();
        ws.run(&["skill", "revert", "--yes", &commit]).ok();
        assert!(!ws.prompt(&[]).contains("Run tests"));
    }
}

mod s4_1_shapes {
    use super::*;

    #[test]
    fn skill_read_is_an_object_with_content() {
        let ws = Scratch::new(&[("skills/brew.md", "# Brew\n\nSlowly.\n")]);
        let read = ws.run(&["skill", "read", "brew", "--json"]).ok().json();
        assert_eq!(keys(&read), ["content", "name", "path"]);
    }

    #[test]
    fn skill_list_has_name_path_and_a_description_where_there_is_one() {
        let ws = Scratch::new(&[
            ("skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews tea.\n---\nBrew.\n"),
            ("skills/empty/SKILL.md", "---\nname: empty\n---\n"),
        ]);
        let run = ws.run(&["skill", "list", "--json"]);
        assert_eq!(run.status, 0);
        let list = run.json();
        let brew = &list[0];
        assert_eq!(keys(brew), ["description", "name", "path", "status"]);
        assert_eq!((text(brew, "description"), text(brew, "status")), ("Brews tea.", "local"));
    }

    #[test]
    fn skill_propose_gives_id_verdict_and_reason_whatever_the_verdict() {
        let ws = Scratch::new(&[]);
        let mut ids = Vec::new();
        for (name, content, expected) in [
            ("deploy", CHECKLIST.to_owned(), "AUTO_APPROVE"),
            ("helper", with_code("js", "process.exit(1)"), "NEEDS_REVIEW"),
            ("evil", with_code("js", "eval(input)"), "REJECT"),
        ] {
            let result = propose(&ws, name, &content).json();
            assert_eq!(text(&result, "verdict"), expected);
            assert!(!text(&result, "reason").is_empty());
            assert!(result["findings"].is_array());
            ids.push(text(&result, "id").to_owned());
        }
        ids.dedup();
        assert_eq!(ids.len(), 3, "each has an id of its own");
    }

    #[test]
    fn the_reason_of_a_proposal_is_kept() {
        let ws = Scratch::new(&[]);
        let args =
            ["skill", "propose", "-", "--name", "deploy", "--reason", "Codify deploy workflow"];
        ws.command(&args).stdin(CHECKLIST).run().ok();
        let log = ws.run(&["skill", "log", "--json"]).ok().json();
        assert!(
            log.as_array().unwrap().iter().all(|e| text(e, "reason") == "Codify deploy workflow")
        );
    }

    #[test]
    fn every_skill_action_that_changes_or_refuses_is_in_the_audit_log() {
        let ws = Scratch::new(&[]);
        ws.write("elsewhere/tea/SKILL.md", "---\nname: tea\ndescription: Brews.\n---\nBrew.\n");
        proposed(&ws, "deploy", CHECKLIST);
        propose(&ws, "evil", &with_code("js", "eval(input)"));
        propose(&ws, "../x", CHECKLIST).fails(2);
        ws.run(&["skill", "import", "elsewhere"]).ok();
        ws.write("skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Ours.\n---\nOurs.\n");
        ws.run(&["skill", "approve", "--yes", "--local"]).ok();
        assert_eq!(
            audited(&ws),
            [
                "skill.propose deploy pending",
                "skill.approve deploy done",
                "skill.propose evil refused",
                "skill.propose ../x refused",
                "skill.import tea pending",
                "skill.import tea done",
                "skill.take-in deploy pending",
                "skill.take-in deploy done",
            ]
        );
        ws.run(&["audit", "verify"]).ok();
    }
}

mod s6_default_skill {
    use super::*;

    /// The six core rules, by the words that carry each.
    const RULES: [&[&str]; 6] = [
        &["code", "commands", "sandbox"],
        &["connection", "tools"],
        &["credentials", "keys"],
        &["<external_content>", "untrusted"],
        &["instructions inside external content", "do not carry them out"],
        &["tell the user", "manipulation"],
    ];

    #[test]
    fn the_templates_come_with_it_and_it_is_in_their_prompt() {
        for template in ["standard", "guarded"] {
            let ws = Scratch::new(&[]);
            assert_eq!(ws.run(&["init", "-q", "--template", template]).status, 0);
            let skill = ws.read("skills/default/SKILL.md");
            let numbered: Vec<String> = skill
                .lines()
                .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
                .map(str::to_lowercase)
                .collect();
            assert_eq!(numbered.len(), RULES.len(), "{skill}");
            // The loop of a person who starts with `standard` may have no sandbox.
            let skipped = usize::from(template == "standard");
            for (rule, words) in numbered.iter().zip(RULES).skip(skipped) {
                assert!(
                    words.iter().all(|word| rule.contains(word)),
                    "{rule} lacks one of {words:?}"
                );
            }
            for heading in ["## Handling content", "## Using tools"] {
                assert!(skill.contains(heading), "{skill}");
            }
            let prompt = ws.prompt(&[]);
            let first = match template {
                "standard" => "Run code and commands only with the tools you were given",
                _ => "Run code and commands inside the sandbox or not at all.",
            };
            assert!(prompt.contains(first), "{template}");
        }
    }

    /// It is text about dangers, and must not be taken for one.
    #[test]
    fn it_passes_its_own_screening() {
        let ws = Scratch::new(&[]);
        ws.run(&["init", "-q", "--template", "guarded"]);
        for policy in ["agent", "import"] {
            let run = ws
                .run(&["skill", "screen", "--policy", policy, "skills/default/SKILL.md", "--json"])
                .ok();
            assert_eq!(run.json()["verdict"], "AUTO_APPROVE", "{policy}: {}", run.stdout);
        }
    }
}

mod s7_security_model {
    use super::*;

    #[test]
    fn propose_is_blocked_above_the_taint_threshold_of_the_profile() {
        let ws = Scratch::new(&[]);
        for (profile, at, above) in
            [("paranoid", "0.10", "0.11"), ("balanced", "0.30", "0.31"), ("yolo", "0.60", "0.61")]
        {
            ws.write("foreword.toml", format!("profile = \"{profile}\"\n"));
            let run = |ratio: &str| {
                let args = ["skill", "propose", "-", "--name", profile, "--taint-ratio", ratio];
                ws.command(&args).stdin(CHECKLIST).run()
            };
            run(above).fails(1);
            assert!(!ws.join(&format!("skills/{profile}")).exists());
            run(at).ok();
        }
        let refused: Vec<String> =
            audited(&ws).into_iter().filter(|line| line.ends_with(" refused")).collect();
        assert_eq!(
            refused,
            [
                "skill.propose paranoid refused",
                "skill.propose balanced refused",
                "skill.propose yolo refused"
            ]
        );
    }

    #[test]
    fn a_tainted_session_cannot_even_leave_a_proposal() {
        let ws = Scratch::new(&[]);
        let args = ["skill", "propose", "-", "--name", "x", "--taint-ratio", "0.9"];
        ws.command(&args).stdin(with_code("js", "process.exit(1)")).run().fails(1);
        assert_eq!(ws.run(&["skill", "proposals", "--all", "--json"]).ok().json(), json!([]));
    }

    #[test]
    fn the_trail_is_tamper_evident() {
        let ws = Scratch::new(&[]);
        proposed(&ws, "deploy", CHECKLIST);
        let verified = ws.run(&["audit", "verify", "--json"]).ok().json();
        assert_eq!(
            (&verified["ok"], &verified["entries"], &verified["anchors"]),
            (&json!(true), &json!(2), &json!(1))
        );
        for file in ["foreword.db", "foreword.db-wal", "foreword.db-shm"] {
            let _ = std::fs::remove_file(ws.join(&format!(".foreword/{file}")));
        }
        ws.run(&["audit", "verify"]).fails(1);
    }

    /// An agent may add to the skills; what a person has approved it cannot replace by itself.
    #[test]
    fn what_a_person_approved_needs_a_person_to_change() {
        let ws = Scratch::new(&[("skills/deploy.md", "# Deploy\n\nBy hand.\n")]);
        ws.run(&["skill", "approve", "--yes", "--local"]).ok();
        let result = proposed(&ws, "deploy", CHECKLIST);
        assert_eq!(text(&result, "verdict"), "NEEDS_REVIEW");
        assert!(ws.read("skills/deploy.md").contains("By hand."));
    }
}

/// "I need a deploy checklist", from the proposal to the prompt of the next turn.
mod s9_flow {
    use super::*;

    fn flow(blueprint: &str) {
        let ws = Scratch::new(&[("foreword.toml", &format!("blueprint = \"{blueprint}\"\n"))]);
        let before = ws.build(&[]);
        assert!(section(&before, "skills").is_none_or(|s| !s.contains("deploy-checklist")));

        let args = [
            "skill",
            "propose",
            "-",
            "--name",
            "deploy-checklist",
            "--reason",
            "Codify deploy workflow",
            "--agent",
            "cosmo",
            "--json",
        ];
        let result =
            ws.command(&args).stdin("# Deploy\n\n1. Run tests\n2. Build...\n").run().ok().json();
        assert_eq!(text(&result, "verdict"), "AUTO_APPROVE");
        assert_eq!(text(&result, "skill"), "deploy-checklist");
        assert!(ws.join("skills/deploy-checklist/SKILL.md").exists());
        let log = ws.run(&["skill", "log", "--json"]).ok().json();
        assert_eq!((text(&log[0], "action"), text(&log[0], "by")), ("approve", "screening"));
        assert_eq!((text(&log[1], "action"), text(&log[1], "by")), ("propose", "agent:cosmo"));

        let after = ws.build(&[]);
        let content = text(&after, "content");
        assert!(content.contains("deploy-checklist"), "{blueprint}: {content}");
        assert!(content.contains("> 1. Run tests"), "{blueprint}: {content}");
        let commit = &text(&result, "commit")[..12];
        assert!(
            content.contains(&format!("approved by screening in {commit}")),
            "{blueprint}: {content}"
        );
        assert!(after["filtered"].as_array().unwrap().is_empty(), "{}", after["filtered"]);
    }

    #[test]
    fn from_the_proposal_to_the_next_turn_in_standard() {
        flow("standard");
    }

    #[test]
    fn from_the_proposal_to_the_next_turn_in_guarded() {
        flow("guarded");
    }
}

mod s10_principles {
    use super::*;

    /// Immutable bootstrap: no proposal reaches a file outside the directory of skills.
    #[test]
    fn the_operators_files_are_never_changed() {
        let files =
            [("AGENTS.md", "House rules.\n"), ("SOUL.md", "Calm.\n"), ("BOOTSTRAP.md", "Hello.\n")];
        let ws = Scratch::new(&files);
        for name in ["agents", "AGENTS", "../AGENTS", "soul", "bootstrap", "AGENTS.md"] {
            propose(&ws, name, CHECKLIST);
        }
        for (file, before) in files {
            assert_eq!(ws.read(file), before);
        }
    }

    /// Observable: the tokens of the skills, and who answers for each.
    #[test]
    fn skills_are_counted_and_their_files_named() {
        let ws = Scratch::new(&[("foreword.toml", "blueprint = \"guarded\"\n")]);
        proposed(&ws, "deploy", CHECKLIST);
        let manifest = ws.build(&[]);
        assert!(manifest["metadata"]["tokensByModule"]["skills"].as_u64().unwrap() > 0);
        assert!(strings(&manifest["metadata"]["modules"]).contains(&"skills"));
        assert!(
            crate::support::sources(&manifest, "skills").contains(&"skills/deploy/SKILL.md"),
            "{manifest}"
        );
    }

    /// A long skill and a short one, and a budget that has room for the short one alone.
    fn tight(blueprint: &str) -> Value {
        let ws = Scratch::new(&[]);
        let long = "Compare the totals of both columns row by row.\n".repeat(400);
        proposed(&ws, "long", &format!("# Long\n\nA long one.\n\n{long}"));
        proposed(&ws, "deploy", CHECKLIST);
        let roomy = ws.build(&["-b", blueprint]);
        let tokens = roomy["metadata"]["estimatedTokens"].as_u64().unwrap();
        ws.write("foreword.toml", format!("[limits]\nmax_prompt_tokens = {}\n", tokens - 1000));
        ws.build(&["-b", blueprint])
    }

    /// Graceful degradation: the section shrinks to its index, which names every skill.
    #[test]
    fn a_tight_budget_leaves_the_index_in_guarded() {
        let manifest = tight("guarded");
        assert_eq!(crate::support::entry(&manifest, "skills").unwrap()["detail"], "minimal");
        let skills = section(&manifest, "skills").unwrap();
        assert!(skills.ends_with("- deploy: How we ship.\n- long: A long one."), "{skills}");
        assert!(section(&manifest, "security").is_some());
    }

    /// And in `standard` what fits is given in full, and what does not is named.
    #[test]
    fn a_tight_budget_leaves_out_one_body_in_standard_and_says_which() {
        let manifest = tight("standard");
        let content = text(&manifest, "content");
        assert!(content.contains("- long: A long one.") && content.contains("> 1. Run tests"));
        assert!(!content.contains("> Compare the totals"), "{content}");
        let filtered = &manifest["filtered"];
        assert_eq!((text(&filtered[0], "kind"), text(&filtered[0], "id")), ("skill", "long"));
    }
}
