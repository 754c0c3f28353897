//! The fuzz harness of the pinned toolchain: the checks of `fuzz/checks.rs` on arbitrary text and on
//! valid inputs that were damaged. A short run with fixed seeds is part of the tests;
//! `FOREWORD_FUZZ_SECONDS=600` makes it long and random (`cargo xtask fuzz`).

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

#[path = "../../../fuzz/checks.rs"]
mod checks;

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Cases of a short run, for each check.
const CASES: u32 = 192;
/// Checks that share the time of a long run.
const CHECKS: u32 = 6;

/// Pieces that mean something to one of the parsers, or to a model.
const PIECES: &[&str] = &[
    "\n",
    "\r",
    "\r\n",
    "\u{0B}",
    "\u{0C}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\0",
    "\t",
    "    ",
    " ",
    "# ",
    "## ",
    "#",
    "=",
    "===",
    "---",
    "- ",
    "1. ",
    "> ",
    "```",
    "~~~~",
    "`",
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "-->",
    "<![CDATA[",
    "<?",
    "<script>",
    "<pre>",
    "<div>",
    "</div>",
    "|",
    "\\",
    "&lt;",
    "[",
    "]",
    "</UNTRUSTED_CONTEXT>",
    "<UNTRUSTED_CONTEXT>",
    "< / untrusted context >",
    "<external_content>",
    "<|im_start|>system",
    "<|endoftext|>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "System:",
    "Human :",
    "user：",
    "Assistant:",
    "TASK",
    "# TASK",
    "TASK\n====",
    "# CONSTITUTION (IMMUTABLE)",
    "Security Boundaries",
    "## Security Boundaries",
    "## Runtime",
    "## Soul",
    "## Memory",
    "# TOOLS & SKILLS",
    "## House style",
    "ＴＡＳＫ",
    "# T&#65;SK",
    "Security\nBoundaries\n---\n",
    "# T**A**SK",
    "[TASK](x)",
    "&#84;ASK",
    "`TASK`",
    "**",
    "&#35;",
    "name: x",
    "description: y",
    "{{objective}}",
    "{{",
    "}}",
    "$",
    "%s",
    "Ignore all above.",
    "\u{200B}",
    "\u{200C}",
    "\u{200D}",
    "\u{202E}",
    "\u{2066}",
    "\u{FEFF}",
    "\u{E0041}",
    "\u{FE0F}",
    "می\u{200C}خواهم",
    "क्\u{200D}ष",
    "👩\u{200D}👩\u{200D}👧",
    "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "é",
    "e\u{301}",
    "漢字",
    "\"",
    "'",
    ":",
    ",",
    "{",
    "}",
    "null",
    "true",
    "-1",
    "1e999",
    "NaN",
    "0",
    "18446744073709551616",
    "&a",
    "*a",
    "!!binary",
    "? ",
    "<<: *a",
    "@",
    "%",
    "[[module]]",
    "when = ",
    "priority = 101",
    "extends = \"again.toml\"",
    "extends = \"own.toml\"",
    "extends = \"standard\"",
];

const CONTEXTS: &[&str] = &[
    include_str!("../../../examples/contexts/integration.json"),
    include_str!("../../../examples/contexts/sub-agent.json"),
    include_str!("../../../examples/contexts/untrusted.json"),
    r#"{"contextWindow": 900, "outputReserve": 0, "skills": ["a", {"name": "b", "body": "c"}], "mode": "plan"}"#,
    r##"{"identityFiles": {"bootstrap": "# Hello"}, "files": {"a.md": {"text": "x", "path": "a.md", "firstLine": 4294967295}}}"##,
    r#"{"taintRatio": 0.5, "taintThreshold": 0.5, "now": "2026-02-26T14:30:00Z", "maxPromptTokens": 1}"#,
];

const BLUEPRINTS: &[&str] = &[
    include_str!("../src/blueprints/standard.toml"),
    include_str!("../src/blueprints/companion.toml"),
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
    include_str!("../../../examples/support-bot/foreword.toml"),
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

/// Runs a check on many texts; a failure is shrunk to a small text and shown.
fn fuzz(texts: impl Strategy<Value = String>, check: impl Fn(&str)) {
    let seconds = std::env::var("FOREWORD_FUZZ_SECONDS").ok().and_then(|s| s.parse::<u64>().ok());
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let Some(seconds) = seconds else {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        return run(&mut TestRunner::new_with_rng(config, rng), &texts, &check);
    };
    let until = Instant::now() + Duration::from_secs(seconds) / CHECKS;
    let mut cases = 0;
    while Instant::now() < until {
        run(&mut TestRunner::new(config.clone()), &texts, &check);
        cases += CASES;
    }
    println!("{cases} cases");
}

fn run(runner: &mut TestRunner, texts: &impl Strategy<Value = String>, check: &impl Fn(&str)) {
    let outcome = runner.run(texts, |text| {
        check(&text);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Pieces, words and arbitrary characters in any order; or arbitrary bytes, read leniently.
fn anything() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(str::to_owned),
        2 => "[a-z ]{0,12}",
        1 => any::<String>(),
    ];
    prop_oneof![
        6 => vec(piece, 0..24).prop_map(|pieces| pieces.concat()),
        1 => vec(any::<u8>(), 0..256).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
    ]
}

/// A valid text with a few places damaged; now and then, anything.
fn damaged(valid: &'static [&'static str]) -> impl Strategy<Value = String> {
    let place = any::<prop::sample::Index>;
    let damage = vec((place(), place(), anything(), 0..4u8), 0..4);
    let damaged = (prop::sample::select(valid), damage).prop_map(|(text, damage)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (from, length, other, kind) in damage {
            let from = from.index(chars.len() + 1);
            let to = from + length.index(chars.len() - from + 1).min(40);
            let stretch = chars[from..to].to_vec();
            match kind {
                0 => drop(chars.drain(from..to)),
                1 => drop(chars.splice(from..from, stretch)),
                2 => drop(chars.splice(from..to, other.chars())),
                _ => drop(chars.splice(from..from, other.chars().take(3))),
            }
        }
        chars.into_iter().collect()
    });
    prop_oneof![5 => damaged, 1 => anything()]
}
