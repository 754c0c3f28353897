//! Our validator beside the reference one, `skills-ref` 0.1.1: the same verdict on every folder.
//!
//! `cargo xtask test` installs it and says in `FOREWORD_SKILLS_REF` which Python has it. Without
//! that the comparison is left out, and says so.

use foreword_skills::validate_folder;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Prints, for each folder in `argv[1]/*/*`, the errors of the reference as a line of JSON.
const JUDGE: &str = r#"
import json, pathlib, sys
from skills_ref.validator import validate
for case in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for folder in case.iterdir():
        try:
            errors = validate(folder)
        except Exception as error:
            errors = [repr(error)[:200]]
        print(json.dumps([case.name, [ascii(error) for error in errors]]))
"#;

struct Case {
    folder: String,
    file: &'static str,
    content: Vec<u8>,
}

fn case(folder: &str, content: impl AsRef<[u8]>) -> Case {
    Case { folder: folder.into(), file: "SKILL.md", content: content.as_ref().to_vec() }
}

/// A skill in the folder `tea` whose header holds these lines.
fn header(lines: &str) -> Case {
    case("tea", format!("---\n{lines}\n---\n\n# Tea\n"))
}

/// A skill that is valid but for these lines, which are added to its header.
fn with(lines: &str) -> Case {
    header(&format!("name: tea\ndescription: Brews tea.\n{lines}"))
}

/// A skill whose folder and header have this name.
fn named(name: &str) -> Case {
    case(name, format!("---\nname: {name}\ndescription: Brews tea.\n---\n"))
}

fn described(description: &str) -> Case {
    header(&format!("name: tea\ndescription: {description}"))
}

fn by_hand() -> Vec<Case> {
    let mut cases = vec![
        with(""),
        with("license: MIT\ncompatibility: Needs water\nallowed-tools: Bash(git:*) Read"),
        with("metadata:\n  author: me\n  version: \"1.0\"\n  year: 2026"),
        with("metadata:\n  a:\n    b: c"),
        with("metadata: plain"),
        with("metadata:"),
        with("metadata:\n  - a\n  - b"),
        with("allowed-tools:\n  - Read\n  - Write"),
        with("license:"),
        with("license:\n  - a"),
        with("compatibility:"),
        with("compatibility:\n  - a"),
        with(&format!("compatibility: {}", "x".repeat(500))),
        with(&format!("compatibility: {}", "x".repeat(501))),
        with("author: me"),
        with("version: 1"),
        with("Name: tea"),
        with("allowed_tools: Read"),
        with("# a comment\n"),
        with("license: MIT # mine"),
        // YAML beyond the format.
        with("metadata: {a: b}"),
        with("metadata: {}"),
        with("allowed-tools: [Read]"),
        with("allowed-tools: []"),
        with("license: '[MIT]'"),
        with("license: &l MIT"),
        with("license: *l"),
        with("license: !!str MIT"),
        with("license: MIT\nlicense: MIT"),
        with("metadata:\n  a: b\n  a: c"),
        with("metadata:\n  <<: x"),
        with("metadata:\n  a:\n    b: c\n  d:\n      e: f"),
        with("metadata:\n  a:\n    b: c\n  d:\n    e: f"),
        with("metadata:\n    a: b\nlicense:\n  c: d"),
        with("metadata:\n\ta: b"),
        with("metadata:\n  a: b\n c: d"),
        with("? license\n: MIT"),
        with("...\nlicense: MIT"),
        with("..."),
        with("%YAML 1.2"),
        with("license: @mit"),
        with("license: `mit`"),
        with("license: %mit"),
        with("license: 'mit"),
        with("license: \"mi\\qt\""),
        with("license: \"mi\\x41t\""),
        with("license: mi\u{0}t"),
        with("license: mi\u{7}t"),
        with("license: mi\u{7f}t"),
        with("license: mi\u{85}t"),
        with("license: mi\u{2028}t"),
        with("license: mi\u{feff}t"),
        with("license: mi\u{fffe}t"),
        with("license: \u{1f375}"),
        with("license: null"),
        with("license: ~"),
        with("license: true"),
        with("license: 1.5"),
        with("license: 2026-01-01"),
        with("license: ="),
        with("license: a: b"),
        with("license: a:b"),
        with("license: a #b"),
        with("license: -a"),
        with("license: - a"),
        with("license: ? a"),
        with("license: ,a"),
        with("license: a\n  b"),
        with("license: a\nb"),
        with("license: |\n  a\n  b"),
        with("license: >-\n  a\n\n  b"),
        with("license: |2\n   a"),
        with("license: |\na"),
        with("\"license\": MIT"),
        with("license : MIT"),
        with("license:MIT"),
        with(" license: MIT"),
        with("license:\tMIT"),
        with("license: MIT\t"),
        with("7: a"),
        with(": a"),
        // The name.
        header("description: Brews tea."),
        header("name:\ndescription: Brews tea."),
        header("name: ''\ndescription: Brews tea."),
        header("name: '  '\ndescription: Brews tea."),
        header("name:\n  - tea\ndescription: Brews tea."),
        header("name:\n  a: tea\ndescription: Brews tea."),
        header("name: ' tea '\ndescription: Brews tea."),
        header("name: \"tea\\n\"\ndescription: Brews tea."),
        header("name: \"\\x1ctea\"\ndescription: Brews tea."),
        header("name: |\n  tea\ndescription: Brews tea."),
        header("name: coffee\ndescription: Brews tea."),
        header("name: ｔｅａ\ndescription: Brews tea."),
        named("7"),
        named("1e5"),
        named("true"),
        named("null"),
        named("con"),
        named("a-b-c"),
        named("-tea"),
        named("tea-"),
        named("te--a"),
        named("Tea"),
        named("te_a"),
        named("te a"),
        named("te.a"),
        named("tea!"),
        named("tee-kännchen"),
        named("ТЕА"),
        named("чай"),
        named("泡茶"),
        named("चाय"),
        named("ǆ"),
        named("ǅ"),
        named("ß"),
        named("ⅷ"),
        named("²"),
        named("①"),
        named("ⓐ"),
        named("🅐"),
        named("ﬁx"),
        named("e\u{301}"),
        named("x\u{301}"),
        named("ὀδυσσεύς"),
        named("a\u{200d}b"),
        named(&"a".repeat(64)),
        named(&"a".repeat(65)),
        named(&"泡".repeat(64)),
        // The description.
        header("name: tea"),
        described(""),
        described("''"),
        described("' '"),
        described("\n  - a"),
        described("\n  a: b"),
        described("7"),
        described("null"),
        described("Use when: asked"),
        described("'Use when: asked'"),
        described("Use it # always"),
        described("|\n  Brews\n  tea."),
        described(">\n  Brews\n  tea."),
        described("Brews\n  tea."),
        described(&"x".repeat(1024)),
        described(&"x".repeat(1025)),
        described(&"茶".repeat(1024)),
        described(&"茶".repeat(1025)),
        described(&format!("|\n  {}", "x".repeat(1023))),
        described(&format!("|\n  {}", "x".repeat(1024))),
        described(&format!("|-\n  {}", "x".repeat(1024))),
        described(&format!("'{} '", "x".repeat(1024))),
        described("one --- two"),
        described("'one --- two'"),
        described("----"),
        // Where the header starts and ends.
        case("tea", ""),
        case("tea", "\n"),
        case("tea", "# Tea\n"),
        case("tea", "---"),
        case("tea", "------"),
        case("tea", "---\n---\n"),
        case("tea", "---\n# x\n---\n"),
        case("tea", "---\nname: tea\ndescription: x\n"),
        case("tea", "---\nname: tea\ndescription: x\n---"),
        case("tea", "---\nname: tea\ndescription: x\n--- \nbody"),
        case("tea", "---\nname: tea\ndescription: x\n----\nbody"),
        case("tea", "---\nname: tea\ndescription: x\n ---\nbody"),
        case("tea", "---\nname: tea\ndescription: x---\nbody"),
        case("tea", "--- \nname: tea\ndescription: x\n---\n"),
        case("tea", "----\nname: tea\ndescription: x\n---\n"),
        case("tea", "---name: tea\ndescription: x\n---\n"),
        case("tea", "--- # x\nname: tea\ndescription: x\n---\n"),
        case("tea", " ---\nname: tea\ndescription: x\n---\n"),
        case("tea", "\n---\nname: tea\ndescription: x\n---\n"),
        case("tea", "\u{feff}---\nname: tea\ndescription: x\n---\n"),
        case("tea", "---\r\nname: tea\r\ndescription: x\r\n---\r\nbody\r\n"),
        case("tea", "---\rname: tea\rdescription: x\r---\rbody\r"),
        case("tea", "---\n  name: tea\n  description: x\n---\n"),
        case("tea", "---\n  name: tea\n description: x\n---\n"),
        case("tea", "---\n- name: tea\n---\n"),
        case("tea", "---\njust words\n---\n"),
        case("tea", "---\n{name: tea, description: x}\n---\n"),
        case("tea", "---\nname: tea\ndescription: x\n---\nnul \0 and \u{1b} in the body\n"),
        case("tea", b"---\nname: tea\ndescription: caf\xe9\n---\n"),
        case("tea", b"---\nname: tea\ndescription: x\n---\ncaf\xe9\n"),
        case("tea", b"\xff\xfe-\0-\0-\0\n\0"),
        case("tea", format!("---\nname: tea\ndescription: {}\n---\n", "[".repeat(2000))),
        case(
            "tea",
            format!("---\nname: tea\ndescription: x\nmetadata: {}a\n---\n", "- ".repeat(2000)),
        ),
    ];
    for file in ["skill.md", "Skill.md", "README.md", "SKILL.MD", "SKILL.txt"] {
        cases.push(Case { file, ..with("") });
    }
    cases
}

/// Combinations of keys and values, many of them odd.
fn combined() -> Vec<Case> {
    let keys = ["name", "description", "license", "metadata", "allowed-tools", "x"];
    let values = [
        "tea",
        "",
        "''",
        "\"\"",
        "|",
        "|\n  tea",
        "|-\n  tea\n\n",
        ">+\n  tea\n\n",
        "\n  tea",
        "\n  - tea\n  - te: a\n    b: c",
        "\n- tea\n- tea",
        "\n  te: a\n  'b': c\n",
        "\n  te:\n    - a\n  b:\n    c: d",
        "tea\n  : x",
        "'te''a'",
        "'te\n  a'",
        "\"te\\\n  a\"",
        "\"te\\u0061\"",
        "te\\a",
        "*tea",
        "&tea",
        "!tea a",
        "! tea",
        "{tea",
        "tea}",
        "[tea",
        "tea]",
        "tea, tea",
        "te'a",
        "te\"a",
        "'tea' tea",
        "\"tea\" # tea",
        "# tea",
        "#tea",
        "tea#",
        "tea:",
        "tea :",
        ":tea",
        ": tea",
        "-",
        "--",
        "- tea",
        "?",
        "? tea",
        "|tea",
        "> tea",
        "%tea",
        "@tea",
        "~",
        "<<",
        "=",
        "..",
        "...",
        "tea\n...",
        "tea\n... x",
        "tea\n\n  tea",
        "tea\n\ttea",
        "tea\n  # tea\n  tea",
        "tea\n# tea",
        "\u{a0}tea",
        "tea\u{3000}",
        "te\u{85}a",
        "te\u{2028}a",
        "te\u{2029}  a",
        "'te\u{2028}a'",
        "\u{200b}",
        "0x1f",
        "1_000",
        "12:30:45",
        ".inf",
        "yes",
        "!!int 7",
        "!!null",
        "tea\\",
        "\"tea\\",
        "\"\\N\\L\\P\\_\\e\\0\"",
        "\"\\/\"",
        "\"\\'\"",
        "te\ta",
        "tea\t# tea",
        "tea # te\ta",
        "'te\ta'\t",
        "'te\ta'",
        "\"te\ta\"",
        "|\n  te\ta\n \t\n",
        "|\t\n  tea",
        "|\n  tea\n\t",
        "tea\n\t",
        "tea\n\t# tea",
        "tea\n  # te\ta\n",
        "\n  -\ttea",
        "\n  - te#\ta",
    ];
    let mut cases = Vec::new();
    for key in keys {
        for value in values {
            let rest: Vec<String> = [("name", "tea"), ("description", "Brews tea.")]
                .iter()
                .filter(|(other, _)| *other != key)
                .map(|(other, value)| format!("{other}: {value}"))
                .collect();
            cases.push(header(&format!("{key}: {value}\n{}", rest.join("\n"))));
            cases.push(header(&format!("{}\n{key}: {value}", rest.join("\n"))));
        }
    }
    cases
}

/// Where we are stricter, because our parser of YAML is: nothing may be added here.
fn differing() -> Vec<Case> {
    vec![
        with("license: 'MIT'# mine"),
        with("license: \"\\ud83c\""),
        with("license: \"MIT\n\tmine\""),
    ]
}

fn reference(python: &OsString, root: &Path) -> BTreeMap<String, Vec<String>> {
    let output = Command::new(python).args(["-c", JUDGE]).arg(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How many cases the reference finds valid, and those on which the verdicts differ.
fn compare(python: &OsString, cases: &[Case]) -> (usize, Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    for (number, case) in cases.iter().enumerate() {
        let folder = scratch.path().join(format!("{number:04}")).join(&case.folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(case.file), &case.content).unwrap();
    }
    let verdicts = reference(python, scratch.path());
    assert_eq!(verdicts.len(), cases.len());
    let mut differing = Vec::new();
    let mut valid = 0;
    for (number, case) in cases.iter().enumerate() {
        let number = format!("{number:04}");
        let ours = validate_folder(&scratch.path().join(&number).join(&case.folder));
        let theirs = &verdicts[&number];
        valid += usize::from(theirs.is_empty());
        if ours.is_empty() != theirs.is_empty() {
            let content = String::from_utf8_lossy(&case.content);
            let content: String = content.chars().take(200).collect();
            differing.push(format!("{content:?}\n  ours: {ours:?}\n  theirs: {theirs:?}"));
        }
    }
    (valid, differing)
}

#[test]
fn both_validators_have_the_same_verdicts() {
    let required = foreword_testing::required_variable("FOREWORD_SKILLS_REF", "skills-ref");
    let Some(python) = required else { return };
    let cases: Vec<Case> = by_hand().into_iter().chain(combined()).collect();
    let (valid, found) = compare(&python, &cases);
    assert!(valid > 40 && cases.len() - valid > 40, "{valid} of {} are valid", cases.len());
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), cases.len(), found.join("\n"));

    let known = differing();
    let (_, found) = compare(&python, &known);
    assert_eq!(found.len(), known.len(), "these agree now, take them out: {found:#?}");
}
