//! Settings of other tools that a migration once dropped, or carried as more than they were.

use serde_json::Value;

use crate::migrate::{migrate, row};
use crate::support::Scratch;

fn note<'a>(report: &'a Value, source: &str) -> (&'a str, &'a str) {
    let (outcome, _, note) = row(report, source);
    (outcome, note)
}

#[test]
fn web_fetch_is_not_said_to_reach_every_host() {
    let settings = r#"{"permissions": {"allow": ["WebFetch", "WebFetch(domain:a.example)", "WebFetch(domain:b.example)"],
        "ask": ["WebFetch(domain:c.example)"], "deny": ["WebFetch(domain:b.example)"]}}"#;
    let from = Scratch::new(&[("CLAUDE.md", "x\n"), (".claude/settings.json", settings)]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let (outcome, why) =
        note(&report, ".claude/settings.json: permissions.allow WebFetch: other hosts");
    assert_eq!(outcome, "lost");
    assert!(why.contains("`host.web_hosts`"), "{why}");
    assert_eq!(
        note(&report, ".claude/settings.json: permissions.deny WebFetch(domain:b.example)"),
        ("mapped", "permissions.deny: web_fetch(domain:b.example)")
    );
    let toml = to.read("foreword.toml");
    assert!(toml.contains("deny = [\"web_fetch(domain:b.example)\"]"), "{toml}");
    assert!(toml.contains("ask = [\"web_fetch(domain:c.example)\"]"), "{toml}");
    let decision = |host: &str| {
        let url = format!("https://{host}/");
        to.run(&["permissions", "check", "web_fetch", &url]).stdout
    };
    assert!(decision("b.example").starts_with("deny"), "{}", decision("b.example"));
    assert!(decision("c.example").starts_with("ask"), "{}", decision("c.example"));
}

#[test]
fn settings_of_agents_of_openclaw_have_rows() {
    let settings = r#"{agents: {
        defaults: {model: {primary: "openai/gpt-5.2", fallbacks: ["x/y"]}, heartbeat: {every: "30m"}, workspace: "~/w"},
        list: [{id: "main", tools: {deny: ["exec"]}, identity: {name: "Claw"}}]}}"#;
    let from = Scratch::new(&[("openclaw.json", settings), ("workspace/SOUL.md", "Calm.\n")]);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    let outcome = |key: &str| note(&report, &format!("openclaw.json: agents.{key}")).0;
    assert_eq!(outcome("defaults.model.fallbacks"), "lost");
    assert_eq!(outcome("defaults.heartbeat"), "lost");
    assert_eq!(outcome("defaults.workspace"), "left");
    assert_eq!(outcome("list.identity"), "lost");
    assert_eq!(outcome("list.tools.deny exec"), "mapped");
    assert!(to.read("foreword.toml").contains("deny = [\"bash\"]"));
}

#[test]
fn skills_below_the_root_are_carried() {
    let skill = "---\nname: inner\ndescription: Pack it.\n---\nPack.\n";
    let files = [
        ("CLAUDE.md", "x\n"),
        ("packages/a/.claude/skills/inner/SKILL.md", skill),
        ("packages/a/.claude/settings.json", "{}"),
        (
            "packages/a/.claude/skills/outer/SKILL.md",
            "---\nname: outer\ndescription: B.\n---\nB.\n",
        ),
        (".claude/skills/outer/SKILL.md", "---\nname: outer\ndescription: A.\n---\nA.\n"),
    ];
    let from = Scratch::new(&files);
    let to = Scratch::new(&[]);
    let report = migrate(&to, from.path());
    assert_eq!(to.read("skills/inner/SKILL.md"), skill);
    assert_eq!(row(&report, "packages/a/.claude/skills/inner/").0, "carried");
    assert_eq!(row(&report, "packages/a/.claude/settings.json").0, "left");
    // The skill of the root comes first.
    assert!(to.read("skills/outer/SKILL.md").ends_with("A.\n"));
    assert_eq!(row(&report, "packages/a/.claude/skills/outer").0, "lost");
    migrate(&from, from.path());
    let toml = from.read("foreword.toml");
    assert!(toml.contains("roots = [\".claude/skills\", \"packages/a/.claude/skills\"]"), "{toml}");
    assert!(from.run(&["skill", "list"]).stdout.contains("Pack it."));
}

#[test]
fn lint_reports_a_server_that_no_agent_lists() {
    let config = "agent = 'ada'\n[mcp.servers.files]\ncommand = ['srv']\n[mcp.servers.web]\ncommand = ['srv']\n\
                  [mcp.servers.off]\ncommand = ['srv']\nenabled = false\n";
    let header = |tools: &str| format!("---\nid: ada\n{tools}---\nAda.\n");
    let scratch = Scratch::new(&[("foreword.toml", config)]);
    let messages = |tools: &str| {
        scratch.write("agents/ada/AGENT.md", header(tools));
        let findings = scratch.run(&["lint", "--json"]).json();
        let all = findings.as_array().unwrap().iter();
        let unlisted = all.filter(|finding| finding["rule"] == "unlisted-tool");
        unlisted.map(|it| it["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let web = "no agent has the tools of the MCP server `web`";
    assert_eq!(messages("tools: [coding, mcp__files__get_*]\n"), [web]);
    assert_eq!(messages("tools: [mcp__files, mcp__web]\n"), [""; 0]);
    assert_eq!(messages(""), [""; 0]);
}
