//! What a workspace directory can hold, and what becomes of what it should not hold.

use std::fs::File;

use crate::support::{Foreword, NOW, Scratch, entry, example, section, sources, strings};

#[test]
fn an_empty_directory_gives_a_safe_prompt() {
    let empty = Scratch::new(&[]);
    let manifest = empty.build(&["Hello"]);
    assert_eq!(
        strings(&manifest["metadata"]["modules"]),
        [
            "constitution",
            "identity",
            "security",
            "injection-defense",
            "runtime",
            "clock",
            "taint",
            "rules",
            "task"
        ]
    );
    let security = section(&manifest, "security").unwrap();
    assert!(security.starts_with("## Security Boundaries"));
    assert_eq!(entry(&manifest, "security").unwrap()["detail"], "full");
    for blueprint in ["guarded", "semantic", "roles", "companion"] {
        assert!(empty.prompt(&["-b", blueprint, "Hello"]).len() > 50, "{blueprint}");
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "nothing was written");
}

#[test]
fn claude_md_counts_where_agents_md_is_absent() {
    let workspace = Scratch::new(&[("CLAUDE.md", "Use tabs.\n")]);
    let manifest = workspace.build(&[]);
    assert_eq!(sources(&manifest, "identity"), ["CLAUDE.md"]);
    workspace.write("AGENTS.md", "Use spaces.\n");
    let manifest = workspace.build(&[]);
    assert_eq!(sources(&manifest, "identity"), ["AGENTS.md"]);
    assert!(!manifest["content"].as_str().unwrap().contains("tabs"));
}

#[test]
fn nested_instructions_apply_from_the_root_to_the_nearest() {
    let workspace = Scratch::new(&[
        ("agents/ada/AGENT.md", "You are Ada.\n"),
        ("foreword.toml", "agent = \"ada\"\n"),
        ("AGENTS.md", "Root rules.\n"),
        ("web/CLAUDE.md", "Web rules.\n"),
        ("web/forms/AGENTS.md", "Form rules.\n"),
        ("api/AGENTS.md", "Not on the way.\n"),
        ("CONTEXT.md", "Ferries.\n"),
    ]);
    let context = |args: &[&str]| {
        let manifest = workspace.build(args);
        let paths: Vec<String> =
            sources(&manifest, "context").into_iter().map(str::to_owned).collect();
        paths
    };
    assert_eq!(context(&[]), ["AGENTS.md", "CONTEXT.md"]);
    assert_eq!(
        context(&["--cwd", "web/forms"]),
        ["AGENTS.md", "web/CLAUDE.md", "web/forms/AGENTS.md", "CONTEXT.md"]
    );
    let absolute = workspace.join("web");
    assert_eq!(
        context(&["--cwd", absolute.to_str().unwrap()]),
        ["AGENTS.md", "web/CLAUDE.md", "CONTEXT.md"]
    );
    let run = workspace.run(&["build", "--cwd", "gone"]);
    assert!(run.fails(2).contains("gone"), "{}", run.stderr);
}

#[test]
fn further_skill_roots_add_skills_and_the_first_of_a_name_wins() {
    let shared = Scratch::new(&[
        ("tides/SKILL.md", "---\nname: tides\ndescription: Shared.\n---\nShared body.\n"),
        ("knots.md", "# Knots\n\nTie them.\n"),
    ]);
    let workspace = Scratch::new(&[
        ("skills/tides/SKILL.md", "---\nname: tides\ndescription: Own.\n---\nOwn body.\n"),
        (".claude/skills/charts/SKILL.md", "---\nname: charts\ndescription: C.\n---\nCharts.\n"),
    ]);
    workspace.write(
        "foreword.toml",
        format!("[skills]\nroots = [\".claude/skills\", {:?}]\n", shared.path().to_str().unwrap()),
    );
    workspace.trust();
    let manifest = workspace.run(&["build", "--json", "--now", NOW]).json();
    let index = section(&manifest, "index").unwrap();
    for skill in ["charts: C.", "knots: Tie them.", "tides: Own."] {
        assert!(index.contains(skill), "{skill}: {index}");
    }
    let content = manifest["content"].as_str().unwrap();
    assert!(content.contains("Own body.") && !content.contains("Shared body."));
    let from = sources(&manifest, "selection");
    assert!(from.contains(&".claude/skills/charts/SKILL.md"), "{from:?}");
}

#[test]
fn a_blueprint_of_ones_own_extends_adds_removes_and_asks_when() {
    let workspace = Scratch::new(&[
        ("foreword.toml", "blueprint = \"house.toml\"\n"),
        (
            "house.toml",
            "\
name = \"house\"
extends = \"base.toml\"
remove = [\"clock\"]

[[module]]
name = \"style\"
file = \"docs/style.md\"
heading = \"House style\"
priority = 45
when = { channel = [\"slack\", \"telegram\"], mode = \"act\" }
",
        ),
        ("base.toml", "name = \"base\"\nextends = \"standard\"\nremove = [\"heartbeat\"]\n"),
        ("docs/style.md", "Begin with the answer.\n"),
        ("CONTEXT.md", "Ferries.\n"),
    ]);
    let manifest = workspace.build(&["--channel", "slack", "--mode", "act", "x"]);
    let modules = strings(&manifest["metadata"]["modules"]);
    let place = |name: &str| modules.iter().position(|module| *module == name);
    assert!(place("injection-defense") < place("style") && place("style") < place("context"));
    assert_eq!(place("clock"), None);
    let style = section(&manifest, "style").unwrap();
    assert_eq!(style, "## House style\n\nBegin with the answer.");
    assert_eq!(sources(&manifest, "style"), ["docs/style.md"]);
    assert_eq!(entry(&manifest, "style").unwrap()["authority"], "operator");

    for args in
        [["--channel", "terminal", "--mode", "act"], ["--channel", "slack", "--mode", "plan"]]
    {
        assert_eq!(section(&workspace.build(&args), "style"), None, "{args:?}");
    }
    // The same file, named from outside.
    let path = workspace.join("house.toml");
    let run = workspace.run(&["explain", "-b", path.to_str().unwrap()]);
    assert!(run.ok().stdout.contains("of blueprint house;"));
}

#[test]
fn the_support_bot_example_shows_its_section_where_customers_read() {
    let build = |channel: &str| {
        Foreword::new(&["build", "--json", "--now", NOW, "--channel", channel, "x"])
            .here(&example("support-bot"))
            .run()
            .ok()
            .json()
    };
    assert!(section(&build("slack"), "house-style").unwrap().starts_with("## House style\n"));
    assert_eq!(section(&build("terminal"), "house-style"), None);
}

#[test]
fn a_users_own_file_wins_over_the_agents_and_the_shared_one() {
    let workspace = Scratch::new(&[
        ("USER.md", "Shared user.\n"),
        ("agents/ada/AGENT.md", "You are Ada.\n"),
        ("agents/ada/USER.md", "Ada's user.\n"),
        ("agents/ada/users/mira/USER.md", "Mira, night shift.\n"),
    ]);
    let user = |args: &[&str]| {
        let manifest = workspace.build(args);
        sources(&manifest, "identity").last().copied().unwrap().to_owned()
    };
    assert_eq!(user(&["-a", "ada", "--user", "mira"]), "agents/ada/users/mira/USER.md");
    assert_eq!(user(&["-a", "ada", "--user", "noor"]), "agents/ada/USER.md");
    assert_eq!(user(&[]), "USER.md");
    let run = workspace.run(&["build", "-a", "ada", "--user", "../../x"]);
    assert!(run.fails(2).contains("`../../x` cannot be used"), "{}", run.stderr);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    for file in ["SOUL.md", "CONTEXT.md", "foreword.toml", "tools.toml", "prompts/base.md"] {
        let workspace = Scratch::new(&[]);
        workspace.write(file, b"fine\nbut \xff this\n");
        let run = workspace.run(&["build"]);
        assert!(run.fails(2).contains(&format!("{file}:2: is not UTF-8")), "{}", run.stderr);

        // Sparse: it costs no room, and it must cost no time or memory either.
        let huge = File::create(workspace.join(file)).unwrap();
        huge.set_len(100 << 20).unwrap();
        let run = workspace.run(&["build"]);
        assert!(run.fails(2).contains(&format!("{file}: is 104857600 bytes")), "{}", run.stderr);

        std::fs::remove_file(workspace.join(file)).unwrap();
        std::fs::create_dir(workspace.join(file)).unwrap();
        let run = workspace.run(&["build"]);
        assert!(run.fails(2).contains(&format!("{file}: is a directory")), "{}", run.stderr);
    }
}

#[cfg(unix)]
#[test]
fn links_may_not_leave_the_workspace() {
    use std::os::unix::fs::symlink;
    let outside = Scratch::new(&[("secret.md", "The secret.\n")]);
    let workspace = Scratch::new(&[("shared/soul.md", "Calm.\n")]);

    symlink("shared/soul.md", workspace.join("SOUL.md")).unwrap();
    assert!(workspace.prompt(&[]).contains("Calm."), "inside, a link is fine");

    for (name, target) in [("SOUL.md", "secret.md"), ("docs", "")] {
        let _ = std::fs::remove_file(workspace.join(name));
        symlink(outside.join(target), workspace.join(name)).unwrap();
    }
    let run = workspace.run(&["build"]);
    assert!(
        run.fails(2).contains("SOUL.md: is a link that leaves the workspace"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("The secret."));
    std::fs::remove_file(workspace.join("SOUL.md")).unwrap();

    // Not through a directory either, and not through a blueprint.
    workspace
        .write("own.toml", "name = \"own\"\n[[module]]\nname = \"x\"\nfile = \"docs/secret.md\"\n");
    let run = workspace.run(&["build", "-b", "own.toml"]);
    assert!(run.fails(2).contains("docs: is a link that leaves"), "{}", run.stderr);
}

#[test]
fn a_skill_that_cannot_be_read_is_passed_over_aloud() {
    let workspace = Scratch::new(&[("skills/good/SKILL.md", "# Good\n\nWorks.\n")]);
    workspace.write("skills/bad/SKILL.md", b"\xff\xfe");
    let run = workspace.run(&["build", "--now", NOW]);
    assert_eq!(run.status, 0);
    assert!(run.stderr.starts_with("warning: skills/bad/SKILL.md:1: "), "{}", run.stderr);
    assert!(run.stdout.contains("good"));
    // lint says so too, since nobody reads the warnings of a host's builds.
    let run = workspace.run(&["lint", "--json"]);
    let findings = run.json();
    assert_eq!(findings[0]["file"], "skills/bad/SKILL.md", "{findings}");
    assert_eq!(findings[0]["line"], 1);
}
