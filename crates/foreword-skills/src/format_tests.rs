use super::*;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn faults(text: &str) -> Vec<String> {
    validate(text, Some("tea")).iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_document_is_read() {
    let text = "---\nname: tea\ndescription: >\n  Brews\n  tea.\nlicense: MIT\n\
                compatibility: Needs water\nmetadata:\n  author: me\n  version: 1.0\n\
                allowed-tools: Bash(git add *), Read Write\n---\n\n# Tea\n";
    let document = SkillDocument::parse(text, Some("tea"));
    assert_eq!(
        document,
        SkillDocument {
            name: Some("tea".into()),
            description: Some("Brews tea.".into()),
            license: Some("MIT".into()),
            compatibility: Some("Needs water".into()),
            metadata: BTreeMap::from([
                ("author".into(), "me".into()),
                ("version".into(), "1.0".into())
            ]),
            allowed_tools: vec!["Bash(git add *)".into(), "Read".into(), "Write".into()],
            commands: Vec::new(),
            body: "# Tea\n".into(),
            body_first_line: 14,
            faults: Vec::new(),
        }
    );
}

#[test]
fn what_people_have_is_read_as_far_as_it_goes() {
    let text = "\u{feff}---\r\nname: Tea Time\r\nversion: 2\r\nallowed-tools: [Read, 'Bash(ls)']\r\n\
                ---\r\nBrew.\r\n";
    let document = SkillDocument::parse(text, None);
    assert_eq!(document.name.as_deref(), Some("Tea Time"));
    assert_eq!(document.description, None);
    assert_eq!(document.allowed_tools, ["Read", "Bash(ls)"]);
    assert_eq!((document.body.as_str(), document.body_first_line), ("Brew.\r\n", 6));
    assert!(!document.faults.is_empty());
}

#[test]
fn a_text_that_cannot_be_taken_apart_is_all_body() {
    for text in ["", "# Tea\n", "---\nname: tea\n", "---\n- a\n---\nBrew.\n"] {
        let document = SkillDocument::parse(text, None);
        assert_eq!((&document.name, &document.description), (&None, &None));
        assert_eq!(document.faults.len(), 1, "{:?}", document.faults);
        assert!(text.ends_with(&document.body));
    }
    assert_eq!(SkillDocument::parse("---\nname: tea\n", None).body, "---\nname: tea\n");
}

#[test]
fn a_header_that_is_no_yaml_is_read_line_by_line_and_is_a_fault() {
    let text = "---\nname: tea\ndescription: Use for: tea\ntools: [Read]\n---\nBrew.\n";
    let document = SkillDocument::parse(text, Some("tea"));
    assert_eq!(document.name.as_deref(), Some("tea"));
    assert_eq!(document.description.as_deref(), Some("Use for: tea"));
    assert_eq!(document.faults.len(), 1, "{:?}", document.faults);
}

#[test]
fn hooks_and_install_steps_are_commands() {
    let text = "---\nname: tea\nhooks:\n  PreToolUse:\n    - command: sh x.sh\n      type: command\n\
                metadata: {openclaw: {install: [{kind: node, package: twclaw}]}}\n---\nBrew.\n";
    let commands = SkillDocument::parse(text, None).commands;
    let found: Vec<_> = commands.iter().map(|c| (c.field.as_str(), c.text.as_str())).collect();
    assert_eq!(found, [("hooks", "sh x.sh"), ("metadata", "twclaw")]);
}

#[test]
fn every_fault_has_its_line_and_says_what_to_do() {
    for (text, expected) in [
        ("", vec!["line 1: there is no header: the file must start with a line of `---`"]),
        (
            "\u{feff}---\n---\n",
            vec!["line 1: the file starts with a byte order mark: the header must come first"],
        ),
        ("---\nname: tea\n", vec!["line 1: the header starts here and is never closed"]),
        ("---\n---\n", vec!["line 2: the header is empty"]),
        ("---\nwords\n---\n", vec!["line 2: expected lines of `key: value`"]),
        ("---\n# x\n---\n\nname: tea\n", vec!["line 3: the header is empty"]),
        (
            "---\nlicense: MIT\n---\n",
            vec!["line 1: the header has no `name`", "line 1: the header has no `description`"],
        ),
        (
            "---\nname: coffee\ndescription:\nauthor: me\n---\n",
            vec![
                "line 2: the name `coffee` differs from the name of its folder or file, `tea`",
                "line 3: `description` is empty",
                "line 4: unknown field `author`; the format has name, description, \
                 license, compatibility, metadata, allowed-tools",
            ],
        ),
        (
            "---\nname: tea\nname: tea\ndescription:\n  - a\ncompatibility:\n  a: b\n---\n",
            vec![
                "line 3: `name` appears twice",
                "line 4: `description` must be text",
                "line 6: `compatibility` must be text",
            ],
        ),
        (
            "---\nname: tea\ndescription: x\nmetadata: {a: [b]}\n---\n",
            vec![
                "line 4: the format has no `[…]` and `{…}`: write one item per line, or quote \
                 the text",
                "line 4: the format has no `[…]` and `{…}`: write one item per line, or quote \
                 the text",
            ],
        ),
        (
            "---\nname: tea\ndescription: x\n\tlicense: MIT\n---\n",
            vec!["line 3: while scanning a plain scalar, found a tab"],
        ),
        (
            "---\nname: tea\ndescription: x\nlicense: M\u{1}T\n---\n",
            vec!["line 4: the header contains the control character U+0001"],
        ),
    ] {
        assert_eq!(faults(text), expected, "{text:?}");
    }
    let long = format!("---\nname: tea\ndescription: {}\n---\n", "x".repeat(1025));
    assert_eq!(faults(&long), ["line 3: `description` is 1025 characters long, more than 1024"]);
}

#[test]
fn hostile_headers_are_refused_quickly() {
    let mut bomb = String::from("---\nname: tea\na: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (previous, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        bomb += &format!("{next}: &{next} [{}]\n", vec![format!("*{previous}"); 10].join(","));
    }
    let block: String = (0..300).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    for hostile in [
        bomb + "---\n",
        format!("---\na: {}\n---\n", "[".repeat(30_000)),
        format!("---\na: {}{}\n---\n", "[".repeat(30_000), "]".repeat(30_000)),
        format!("---\na: {}\n---\n", "{a: ".repeat(15_000)),
        format!("---\n{}x\n---\n", "- ".repeat(30_000)),
        format!("---\n{}x\n---\n", "? ".repeat(30_000)),
        format!("---\n{block}---\n"),
        format!("---\na: [{}]\n---\n", "x,".repeat(30_000)),
        format!("---\na: {}\n---\n", "&a ".repeat(20_000)),
        format!("---\n{}\n---\n", "a: b\n".repeat(12_000)),
        format!("---\nname: {}\n---\n", "x".repeat(10 << 20)),
        "---\n".to_owned() + &"x: y\n".repeat(2 << 20),
        "-".repeat(10 << 20),
        format!("---\n{}\n", "\u{85}".repeat(5 << 20)),
    ] {
        let start = Instant::now();
        let document = SkillDocument::parse(&hostile, Some("tea"));
        let took = start.elapsed();
        let start: String = hostile.chars().take(30).collect();
        assert!(took < Duration::from_secs(1), "{took:?}: {start:?}");
        assert!(!document.faults.is_empty());
        assert!(document.faults.iter().all(|fault| fault.to_string().len() < 300));
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(
        header in "(\\PC|[\n\t\r:\\-\\[\\]{}&*!|>#'\"%@`]|name: |metadata:|\n- |---){0,60}"
    ) {
        for text in [header.clone(), format!("---\n{header}\n---\nbody")] {
            let document = SkillDocument::parse(&text, Some("tea"));
            prop_assert!(text.ends_with(&document.body));
            let lines = text.split_inclusive('\n').count().max(1);
            prop_assert!(document.faults.iter().all(|f| (1..=lines + 1).contains(&f.line)));
        }
    }
}
