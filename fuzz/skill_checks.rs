//! What must hold for any text that is to become a skill, or a skill's name.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword-skills/tests/it/fuzz_smoke.rs`) share these functions. Each takes a text and panics
//! where a promise is broken.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use foreword_guard::{Finding, Policy, Verdict, rule_names};
use foreword_skills::{
    MAX_NAME_CHARS, Screeners, SkillDocument, SkillName, complete_header, name_faults, validate,
};
use foreword_workspace::split_header;

/// The most findings of one text: a hundred of the rules, one of the injection scanner.
const MAX_FINDINGS: usize = 101;
/// The longest excerpt, in characters; the last of them may be written out as `\u{e0041}`.
const MAX_EXCERPT: usize = 130;

/// Any text as a skill: taken apart without a loss, judged with a place, completed without a change.
pub(crate) fn skill_format(text: &str) {
    let document = SkillDocument::parse(text, None);
    assert_eq!(document.faults, validate(text, None), "two judgements of one text");
    let lines = line_count(text);
    for fault in &document.faults {
        assert!(!fault.message.is_empty());
        assert!((1..=lines).contains(&fault.line), "{fault}, of {lines} lines");
    }
    assert!(text.ends_with(&document.body), "the body is not the end of the text");
    // A body that is empty begins behind the last line.
    let last = lines + usize::from(document.body.is_empty());
    assert!((1..=last).contains(&document.body_first_line), "{}", document.body_first_line);

    let whole = complete_header(text, "tea", "Brews: tea.");
    assert!(whole.ends_with(&document.body), "completing changed the body");
    assert_eq!(
        complete_header(&whole, "tea", "Brews: tea."),
        whole,
        "completing twice is not once"
    );
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    if split_header(bare).is_ok_and(|split| split.header.is_none()) {
        assert_eq!(validate(&whole, Some("tea")), [], "a header of ours is not valid: {whole:?}");
        let read = SkillDocument::parse(&whole, Some("tea"));
        let said = (read.name.as_deref(), read.description.as_deref());
        assert_eq!(said, (Some("tea"), Some("Brews: tea.")));
    }
}

/// Any text as a name: refused in words that are safe to show, or one plain folder everywhere.
pub(crate) fn skill_name(text: &str) {
    match SkillName::new(text) {
        Ok(name) => {
            let name = name.as_str();
            assert_eq!(name, text, "a name is taken as it is or not at all");
            assert_eq!(name_faults(name), [], "the format refuses it");
            assert!((1..=MAX_NAME_CHARS).contains(&name.len()));
            assert!(
                name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            );
            let parts: Vec<Component<'_>> = Path::new(name).components().collect();
            assert_eq!(parts, [Component::Normal(name.as_ref())]);
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.chars().count() < 400, "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
    for fault in name_faults(text) {
        let message = fault.to_string();
        assert!(!message.chars().any(char::is_control), "{message:?}");
    }
}

/// Any text before the screeners: the same findings each time, few enough to read, each with a place
/// in the text; and no permission makes a verdict milder.
pub(crate) fn screening(text: &str) {
    let screeners = Screeners::default();
    let lines = line_count(text);
    for policy in [Policy::Agent, Policy::Import] {
        let screening = screeners.screen(policy, text, &[]);
        assert_eq!(screening, screeners.screen(policy, text, &[]), "another verdict on one text");
        let all = ["Bash".to_owned(), "*".to_owned()];
        assert!(screeners.screen(policy, text, &all).verdict >= screening.verdict);
        let strictest = screening.findings.iter().map(|finding| finding.verdict).max();
        assert_eq!(screening.verdict, strictest.unwrap_or(Verdict::AutoApprove));
        assert!(!screening.reason.is_empty());
        assert!(screening.findings.len() <= MAX_FINDINGS, "{} findings", screening.findings.len());
        for finding in &screening.findings {
            plausible(finding, lines);
        }
        let file = screeners.screen_file(policy, text.as_bytes(), None);
        assert!(file.verdict >= screening.verdict, "its form makes a file less suspicious");
    }
}

fn plausible(finding: &Finding, lines: usize) {
    let Finding { rule, line, excerpt, message, .. } = finding;
    let others = [
        "flooded",
        "injection-scan",
        "harmful-instruction",
        "harmful-program",
        "suspicious-address",
        "combined-signs",
    ];
    let known = rule_names().chain(others).any(|name| name == rule);
    assert!(known, "{rule} is no rule");
    let line = usize::try_from(*line).expect("a line fits");
    assert!((1..=lines).contains(&line), "{rule} in line {line} of {lines}");
    assert!(excerpt.chars().count() <= MAX_EXCERPT, "{excerpt}");
    let hidden = excerpt.chars().find(|c| c.is_control() || is_hidden(*c));
    assert_eq!(hidden, None, "{excerpt:?}");
    assert!(!message.is_empty());
}

/// A file of every kind that holds code.
const PROGRAMS: [&str; 27] = [
    "a.sh",
    "a.py",
    "a.js",
    "a.ts",
    "a.tsx",
    "a.ps1",
    "a.rb",
    "a.go",
    "a.php",
    "a.lua",
    "a.pl",
    "a.R",
    "a.hs",
    "a.erl",
    "a.vbs",
    "a.applescript",
    "a.m",
    "a.bat",
    "a.ipynb",
    "a.yml",
    "a.html",
    "a.toml",
    "a.service",
    "Dockerfile",
    "Makefile",
    "requirements.txt",
    "package.json",
];

/// Any text as a program of a skill, in every language that is parsed: the same verdict each time, each
/// finding with a place in the program, and no milder than the skill without it.
pub(crate) fn code_screening(text: &str) {
    let screeners = Screeners::default();
    let body = "---\nname: tea\ndescription: Brews tea.\n---\n# Tea\n\nRun the program.\n";
    let skill = |program: Option<&str>| {
        let mut files = BTreeMap::from([("SKILL.md".to_owned(), body.as_bytes().to_vec())]);
        files.extend(program.map(|name| (name.to_owned(), text.as_bytes().to_vec())));
        screeners.screen_skill(Policy::Import, &files, Some("tea"))
    };
    let without = skill(None).verdict;
    for name in PROGRAMS {
        let screening = skill(Some(name));
        assert_eq!(screening, skill(Some(name)), "another verdict on one program, {name}");
        assert!(screening.verdict >= without, "a program makes its skill less suspicious, {name}");
        let lines = line_count(text).max(line_count(body));
        for finding in &screening.findings {
            let line = usize::try_from(finding.line).expect("a line fits");
            assert!((1..=lines).contains(&line), "{name}: {} in line {line}", finding.rule);
            assert!(finding.excerpt.chars().count() <= MAX_EXCERPT, "{}", finding.excerpt);
        }
    }
}

/// Any text, many times over: four times the text takes about four times as long.
pub(crate) fn screening_time(text: &str) {
    if text.trim().is_empty() {
        return;
    }
    let screeners = Screeners::default();
    let long = |bytes: usize| text.repeat(bytes / text.len() + 1);
    let (small, large) = (long(16 << 10), long(64 << 10));
    let took = |text: &str, policy| {
        let start = Instant::now();
        std::hint::black_box(screeners.screen(policy, text, &[]));
        start.elapsed()
    };
    for policy in [Policy::Agent, Policy::Import] {
        // Another process may have had the machine meanwhile: what counts is the best of a few.
        let fine = (0..4)
            .any(|_| took(&large, policy) < took(&small, policy) * 8 + Duration::from_millis(100));
        assert!(fine, "64 KiB of it take more than 8 times as long as 16 KiB");
    }
}

/// Lines as editors count them: after LF, CRLF and CR.
fn line_count(text: &str) -> usize {
    let crlf = text.matches("\r\n").count();
    text.matches(['\n', '\r']).count() - crlf + 1
}

/// Characters that are nothing to see wherever they stand.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
        | '\u{E0000}'..='\u{E0FFF}')
}
