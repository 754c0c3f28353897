//! The checks of `fuzz/checks.rs` on arbitrary text and on valid inputs that were damaged.
//! `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/checks.rs"]
mod checks;

#[path = "../../../../fuzz/harness.rs"]
mod harness;

use harness::{anything, damaged, fuzz};

const CONTEXTS: &[&str] = &[
    include_str!("../../../../examples/contexts/integration.json"),
    include_str!("../../../../examples/contexts/sub-agent.json"),
    include_str!("../../../../examples/contexts/untrusted.json"),
    r#"{"contextWindow": 900, "outputReserve": 0, "skills": ["a", {"name": "b", "body": "c"}], "mode": "plan"}"#,
    r##"{"identityFiles": {"bootstrap": "# Hello"}, "files": {"a.md": {"text": "x", "path": "a.md", "firstLine": 4294967295}}}"##,
    r#"{"taintRatio": 0.5, "taintThreshold": 0.5, "now": "2026-02-26T14:30:00Z", "maxPromptTokens": 1}"#,
];

const BLUEPRINTS: &[&str] = &[
    include_str!("../../src/blueprints/standard.toml"),
    include_str!("../../src/blueprints/companion.toml"),
    "name = \"own\"\nextends = \"own.toml\"\nremove = [\"task\"]\n",
    "name = \"a\"\n[[module]]\nname = \"x\"\nfile = \"x.md\"\nheading = \"X\"\nmax_chars = 10\nkeep = 3\nwhen = { tool = \"read\" }\n",
];

const HEADERS: &[&str] = &[
    "name: x\ndescription: \"What it does\"\n",
    "id: x\nnamespace: coding\ntools: [read, write]\ncapabilities:\n  - tasks\nblueprint: roles\nmodel: m\n",
    "prompts:\n  - base\n  - capabilities/tasks\nallow_skills: true\n",
    "a: &a [1]\nb: [*a, *a]\n",
];

const SETTINGS: &[&str] = &[
    "",
    "[assembly]\n[modes.plan]\nbase_tools = [\"read\"]\n[skills]\nroots = [\".claude/skills\"]\n",
    include_str!("../../../../examples/support-bot/foreword.toml"),
];

const PAYLOADS: &[&str] = &[
    r#"{"message":"hello","history":[{"role":"user","content":"x"}],"taintRatio":0.15,"profile":"paranoid"}"#,
    "plain text",
];

#[test]
fn any_context_json() {
    fuzz(damaged(CONTEXTS), checks::context_json);
}

#[test]
fn any_blueprint() {
    fuzz(damaged(BLUEPRINTS), checks::blueprint_toml);
}

#[test]
fn any_header() {
    let directory = tempfile::tempdir().unwrap();
    fuzz(damaged(HEADERS), |text| checks::yaml_header(directory.path(), text));
}

#[test]
fn any_settings() {
    fuzz(damaged(SETTINGS), checks::settings);
}

#[test]
fn any_payload() {
    fuzz(damaged(PAYLOADS), checks::payload);
}

#[test]
fn any_text_in_every_field() {
    fuzz(anything(), checks::fences);
}

/// Headings that a Markdown parser reads as one of our titles though the line spells it differently:
/// each got past a comparison of the line itself.
#[test]
fn titles_in_disguise() {
    for text in [
        "# T&#65;SK",
        "# T&#x41;S&#75;",
        "Security\nBoundaries\n---\n",
        "# T**A**SK",
        "# [TASK](x)",
        "# [T](x)A[SK](y)",
        "# `TASK`",
        "# T<b>ASK</b>",
        "# T<!-- -->ASK",
        "# &#84;ASK",
    ] {
        checks::fences(text);
    }
}
