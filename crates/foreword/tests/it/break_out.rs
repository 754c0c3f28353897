//! The promise of authority, tried by force: no text of lower authority can pass for text of a higher one,
//! whatever it says and wherever it stands; and the bookkeeping promises of the compiler on arbitrary
//! Contexts.
//!
//! `PROPTEST_CASES=5000 cargo test -p foreword --test break_out` makes it a longer run.

#[path = "support/hostile.rs"]
mod hostile;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::support::{context, modules, section, with};
use foreword::{Blueprint, Context, OmissionCause, Prompt};
use hostile::{BENIGN, INSTEAD, Kind, PLACES, Place, TITLES, benign, hostile, put};
use proptest::prelude::*;
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use serde_json::{Value, json};

fn config(cases: u32) -> ProptestConfig {
    let cases = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default().cases,
        None => cases,
    };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The built-in blueprints, and one of a user with sections of its own.
static BLUEPRINTS: LazyLock<Vec<Blueprint>> = LazyLock::new(|| {
    let own = |parent: &str| {
        let text = format!(
            "name = \"own-{parent}\"\nextends = \"{parent}\"\n[[module]]\nname = \"house\"\n\
             file = \"extra.md\"\nheading = \"House style\"\npriority = 45\n"
        );
        Blueprint::from_toml("own.toml", &text, &mut |_| Err(std::io::ErrorKind::NotFound.into()))
            .unwrap()
    };
    Blueprint::builtin_names()
        .map(crate::support::blueprint)
        .chain([own("standard"), own("guarded")])
        .collect()
});

// What a reader of the prompt sees.

/// A title as the reader of the prompt would compare it.
fn fold(text: &str) -> String {
    let plain = text.chars().map(|c| match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap(),
        c => c,
    });
    let spaced: String = plain.map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    spaced.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A heading: the module it stands in, its level, its text.
type Seen = (String, u8, String);

/// The sections of a prompt by their ranges, so that a place in the text has a module.
struct Sections(Vec<(usize, usize, String)>);

impl Sections {
    fn of(prompt: &Prompt) -> Self {
        let sections = prompt.manifest().sections;
        Self(sections.iter().map(|s| (s.range[0], s.range[1], s.module.to_owned())).collect())
    }

    fn at(&self, at: usize) -> String {
        let section = self.0.iter().find(|(from, to, _)| *from <= at && at < *to);
        section.expect("every line belongs to a section").2.clone()
    }
}

/// All that readers see of a prompt.
struct Reading {
    modules: Vec<String>,
    by_line: Vec<Seen>,
    by_commonmark: Vec<Seen>,
    tags: (usize, usize),
}

impl Reading {
    fn of(prompt: &Prompt) -> Self {
        Self {
            modules: modules(prompt),
            by_line: without_values(headings_by_line(prompt)),
            by_commonmark: without_values(headings_by_commonmark(prompt)),
            tags: tags(prompt.text()),
        }
    }
}

/// A Context with what readers see of it in each blueprint.
struct Twin {
    json: Value,
    readings: Vec<Reading>,
}

impl Twin {
    fn of(json: Value) -> Self {
        let context = context(&json);
        let readings = BLUEPRINTS.iter().map(|b| Reading::of(&b.build(&context))).collect();
        Self { json, readings }
    }
}

static BENIGN_TWIN: LazyLock<Twin> = LazyLock::new(|| Twin::of(benign()));

/// (a) Line by line: a line of hashes and a text, white space in front or not.
fn headings_by_line(prompt: &Prompt) -> Vec<Seen> {
    let sections = Sections::of(prompt);
    let mut out = Vec::new();
    let mut at = 0;
    for line in prompt.text().split_inclusive('\n') {
        let body = line.trim();
        let text = body.trim_start_matches('#');
        let level = body.len() - text.len();
        if level > 0 {
            let level = u8::try_from(level.min(9)).unwrap();
            out.push((sections.at(at), level, fold(text)));
        }
        at += line.len();
    }
    out
}

/// (b) By CommonMark: headings at the top level.
fn headings_by_commonmark(prompt: &Prompt) -> Vec<Seen> {
    let sections = Sections::of(prompt);
    let mut out = Vec::new();
    let mut depth = 0;
    let mut open: Option<(usize, HeadingLevel, String)> = None;
    for (event, range) in Parser::new(prompt.text()).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                open = Some((range.start, level, String::new()));
                depth += 1;
            }
            Event::End(TagEnd::Heading(_)) if depth == 1 => {
                depth -= 1;
                if let Some((at, level, text)) = open.take() {
                    out.push((sections.at(at), level as u8, fold(&text)));
                }
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, _, heading)) = &mut open {
                    heading.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, _, heading)) = &mut open {
                    heading.push(' ');
                }
            }
            _ => {}
        }
    }
    out
}

/// (c) By tags: how many open and how many close the untrusted layer, in any case and with any blanks.
fn tags(text: &str) -> (usize, usize) {
    let lower = text.to_lowercase();
    let (mut opened, mut closed) = (0, 0);
    for (at, _) in lower.match_indices('<') {
        let rest = lower[at + 1..].trim_start_matches([' ', '\t']);
        let name = rest.trim_start_matches(['/', ' ', '\t']);
        let name: String = name.chars().take("untrusted_context".len()).collect();
        if name.replace(['-', ' '], "_") == "untrusted_context" {
            if rest.starts_with('/') {
                closed += 1;
            } else {
                opened += 1;
            }
        }
    }
    (opened, closed)
}

/// The titles a blueprint writes for a full benign Context, and the layer titles guarded everywhere.
fn known_titles(benign_headings: &[Seen]) -> BTreeSet<String> {
    benign_headings
        .iter()
        .map(|(_, _, text)| text.clone())
        .filter(|text| text != "skill")
        .chain(TITLES[..5].iter().map(|title| fold(title)))
        .collect()
}

fn only(known: &BTreeSet<String>, seen: &[Seen]) -> Vec<Seen> {
    seen.iter().filter(|(_, _, text)| known.contains(text)).cloned().collect()
}

/// Headings that carry a value of ours behind a label, without the value.
fn without_values(seen: Vec<Seen>) -> Vec<Seen> {
    let cut = |text: String| if text.starts_with("skill ") { "skill".to_owned() } else { text };
    seen.into_iter().map(|(module, level, text)| (module, level, cut(text))).collect()
}

fn starts_with_role(line: &str) -> bool {
    let line = line.trim_start().to_lowercase();
    ["system", "human", "user", "assistant", "developer"].iter().any(|role| {
        line.strip_prefix(role).is_some_and(|rest| rest.trim_start().starts_with([':', '：']))
    })
}

/// The first character that hides, with its place.
fn hidden_character(text: &str) -> Option<(usize, char)> {
    let flags = ["\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}"];
    let text = flags.iter().fold(text.to_owned(), |text, flag| text.replace(flag, "flag"));
    let mut previous = '\n';
    for (at, c) in text.char_indices() {
        let hides = match c {
            '\n' | '\t' => false,
            '\u{200C}' | '\u{200D}' => previous.is_ascii() || previous == '\u{200D}',
            '\u{FE00}'..='\u{FE0F}' => previous.is_ascii_alphabetic() || previous.is_whitespace(),
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' => true,
            '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' => true,
            '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' => true,
            '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}' => true,
            c => c.is_control(),
        };
        if hides {
            return Some((at, c));
        }
        previous = c;
    }
    None
}

/// Compares what readers see in a prompt with what they see in its benign twin.
fn assert_same_structure(
    twin: &Twin,
    place: Place,
    text: &str,
    json: &Value,
) -> Result<(), TestCaseError> {
    let context = context(json);
    for (blueprint, expected) in BLUEPRINTS.iter().zip(&twin.readings) {
        let prompt = blueprint.build(&context);
        let seen = Reading::of(&prompt);
        let told = || {
            let name = blueprint.name();
            format!("{} in {name}: {text:?}\n----\n{}\n----", place.pointer, prompt.text())
        };
        prop_assert_eq!(&seen.modules, &expected.modules, "modules, {}", told());
        for (reader, seen, expected) in [
            ("lines", &seen.by_line, &expected.by_line),
            ("commonmark", &seen.by_commonmark, &expected.by_commonmark),
        ] {
            let known = known_titles(expected);
            prop_assert_eq!(only(&known, seen), only(&known, expected), "{}, {}", reader, told());
            if place.kind == Kind::Below {
                prop_assert_eq!(seen, expected, "{}, all headings, {}", reader, told());
            }
        }

        // Once open and once closed where the layer exists, and nowhere else.
        let layer = ["untrusted-context", "memory"]
            .iter()
            .filter_map(|module| prompt.section(module))
            .filter(|section| section.contains("\n<UNTRUSTED_CONTEXT>\n"))
            .count();
        prop_assert!(layer <= 1);
        prop_assert_eq!(seen.tags, (layer, layer), "tags, {}", told());
        prop_assert_eq!(seen.tags, expected.tags, "tags, {}", told());

        let spoken = prompt.text().lines().find(|line| starts_with_role(line));
        prop_assert_eq!(spoken, None, "role, {}", told());
        prop_assert!(!prompt.text().contains("<|im_"), "special token, {}", told());
        if place.kind == Kind::Below {
            let lower = prompt.text().to_lowercase();
            for marker in ["[inst]", "[/inst]", "<<sys>>", "<system>", "<｜user", "<start_of_turn>"]
            {
                prop_assert!(!lower.contains(marker), "{}, {}", marker, told());
            }
        }
        prop_assert_eq!(hidden_character(prompt.text()), None, "hidden, {}", told());
    }
    Ok(())
}

/// Puts hostile text in a place where the twin has the benign word.
fn assert_harmless(twin: &Twin, place: Place, text: &str) -> Result<(), TestCaseError> {
    assert_same_structure(twin, place, text, &put(twin.json.clone(), place.pointer, text))
}

proptest! {
    #![proptest_config(config(32))]

    #[test]
    fn hostile_text_never_changes_the_sections_a_reader_sees(text in hostile()) {
        for place in PLACES {
            assert_harmless(&BENIGN_TWIN, place, &text)?;
        }
    }

    #[test]
    fn hostile_text_in_files_that_stand_in_for_others(text in hostile()) {
        static TWINS: LazyLock<Vec<Twin>> = LazyLock::new(|| {
            INSTEAD
                .iter()
                .map(|(place, emptied)| {
                    Twin::of(put(put(benign(), emptied, ""), place.pointer, BENIGN))
                })
                .collect()
        });
        for ((place, _), twin) in INSTEAD.into_iter().zip(TWINS.iter()) {
            assert_harmless(twin, place, &text)?;
        }
    }

    #[test]
    fn hostile_text_below_the_built_in_texts(text in hostile()) {
        // The defaults end in lists, which what follows must not continue.
        static TWIN: LazyLock<Twin> = LazyLock::new(|| {
            let mut json = benign();
            for field in ["base", "constitution", "rules", "persona"] {
                json.as_object_mut().unwrap().remove(field);
            }
            Twin::of(json)
        });
        for pointer in ["/capabilities/0/text", "/identityFiles/agent", "/task", "/contextContent"] {
            assert_harmless(&TWIN, Place { pointer, kind: Kind::Document }, &text)?;
        }
    }

    #[test]
    fn hostile_text_in_two_neighbouring_documents(first in hostile(), second in hostile()) {
        for (one, two) in [
            ("/capabilities/0/text", "/capabilities/1"),
            ("/identityFiles/agent", "/identityFiles/soul"),
            ("/base", "/constitution"),
        ] {
            let json = put(put(benign(), one, &first), two, &second);
            let place = Place { pointer: two, kind: Kind::Document };
            let text = format!("{first}\n~~~~~~\n{second}");
            assert_same_structure(&BENIGN_TWIN, place, &text, &json)?;
        }
    }

    #[test]
    fn hostile_values_in_a_template_of_the_operator(text in hostile()) {
        static TWINS: LazyLock<Vec<Twin>> = LazyLock::new(|| {
            [
                "{{parentRole}}\nhas work:\n\n{{objective}}\n\n{{taskId}}\n\nEnd of overlay.",
                "{{objective}}{{taskId}}\n{{parentRole}}\nEnd of overlay.",
                "- {{objective}}\n- {{taskId}} {{parentRole}}\n\nEnd of overlay.",
            ]
            .map(|overlay| Twin::of(with(benign(), json!({"overlay": overlay}))))
            .into()
        });
        for twin in TWINS.iter() {
            for pointer in
                ["/runtimeContext/parentRole", "/runtimeContext/objective", "/runtimeContext/taskId"]
            {
                assert_harmless(twin, Place { pointer, kind: Kind::Below }, &text)?;
                let json = put(twin.json.clone(), pointer, &text);
                let prompt = crate::support::build("roles", &json);
                prop_assert!(
                    prompt.text().ends_with("\nEnd of overlay."),
                    "{:?} in {}\n{}", text, pointer, prompt.text()
                );
            }
        }
    }

    #[test]
    fn hostile_overlay_templates(text in hostile()) {
        static TWIN: LazyLock<Twin> =
            LazyLock::new(|| Twin::of(with(benign(), json!({"overlay": BENIGN}))));
        assert_harmless(&TWIN, Place { pointer: "/overlay", kind: Kind::Document }, &text)?;
    }

    #[test]
    fn hostile_file_names_in_the_note_of_a_cut(name in hostile()) {
        let cut = |name: &str| {
            let long = "A line of the file.\n\n".repeat(40);
            let document = foreword::Document::new(long)
                .from_source(foreword::Source::file(name));
            let mut context = context(&benign());
            context.context_content =
                foreword::Documents(vec![foreword::cut_document(&document, name, 200)]);
            context
        };
        for blueprint in BLUEPRINTS.iter() {
            let (twin, prompt) = (blueprint.build(&cut("a.md")), blueprint.build(&cut(&name)));
            prop_assert_eq!(
                headings_by_line(&prompt), headings_by_line(&twin), "{:?}\n{}", name, prompt.text()
            );
            prop_assert_eq!(
                headings_by_commonmark(&prompt), headings_by_commonmark(&twin), "{:?}", name
            );
            prop_assert_eq!(tags(prompt.text()), tags(twin.text()));
            prop_assert_eq!(hidden_character(prompt.text()), None);
        }
    }

    #[test]
    fn hostile_text_in_every_place_at_once(text in hostile()) {
        let json = PLACES.iter().fold(benign(), |json, place| put(json, place.pointer, &text));
        let place = Place { pointer: "everywhere", kind: Kind::Document };
        assert_same_structure(&BENIGN_TWIN, place, &text, &json)?;
    }
}

// Text that must come through unharmed.

#[test]
fn scripts_and_emoji_survive_byte_for_byte() {
    let texts = [
        "می‌خواهم کتاب‌ها را بخوانم، نمی‌دانم PDF‌ها کجاست",
        "क्‍ष, र्‍य और श्री‌मान हिन्दी में",
        "ශ්‍රී ලංකාව, ন্‌ত, র‍্যাব",
        "👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈 🏴‍☠️ 1️⃣ #️⃣ ☎️ 🇫🇷🇯🇵",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
        "日本語、中文、한국어、葛󠄀城市, Ελληνικά, кириллица, עברית, العربية",
        "a < b && c > d, Vec<String>, <b>bold</b>x, C:\\new\\table, 100% `code`",
    ];
    for text in texts {
        let json = json!({
            "memories": [text],
            "skills": [{"name": "s", "description": "", "body": text}],
            "task": text,
            "contextContent": text,
            "identityFiles": {"soul": text, "user": text},
        });
        let shown = |blueprint: &str, module: &str| {
            let prompt = crate::support::build(blueprint, &json);
            let found = section(&prompt, module).contains(text);
            // One escape is allowed: a closing tag in untrusted text.
            let escaped = section(&prompt, module).contains(&text.replace("</", "&lt;/"));
            assert!(found || escaped, "{text} in {module} of {blueprint}:\n{}", prompt.text());
        };
        for (blueprint, module) in [
            ("standard", "memory"),
            ("semantic", "untrusted-context"),
            ("companion", "memory"),
            ("guarded", "skills"),
            ("semantic", "capabilities"),
            ("standard", "selection"),
            ("standard", "task"),
            ("semantic", "task"),
            ("guarded", "context"),
            ("standard", "context"),
            ("guarded", "identity"),
            ("companion", "soul"),
        ] {
            shown(blueprint, module);
        }
    }
}

#[test]
fn ordinary_markdown_of_the_operator_is_left_alone() {
    let text = "# Our house\n\nWe write *short* notes.\n\n- one\n  - two\n\n1. first\n\n> quoted\n\n\
        ```sh\n# a comment\necho hi\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n\
        Release notes\n-------------\n\n<details>\n<summary>More</summary>\n\nText.\n\n</details>\n\n\
        ## `cargo test` & friends\n\nEnd.";
    for blueprint in BLUEPRINTS.iter() {
        let prompt = blueprint.build(&context(&json!({
            "contextContent": text, "identityFiles": {"agent": text}, "persona": text, "task": text,
        })));
        assert!(prompt.text().contains(text), "{}:\n{}", blueprint.name(), prompt.text());
        // What a blueprint has no place for is named; nothing else is.
        assert!(
            prompt.filtered().iter().all(|f| ["context", "persona"].contains(&f.kind.as_str()))
        );
    }
}

// What is blank to a reader is blank to the compiler.

#[test]
fn a_file_of_hidden_characters_is_an_absent_file() {
    let hidden = "\u{feff}\u{200b}\n\u{200d}\u{e0041}\0 ";
    let blank = |pointer: &str| {
        let base = benign();
        (put(base.clone(), pointer, ""), put(base, pointer, hidden))
    };
    for place in PLACES.iter().filter(|place| place.kind == Kind::Document) {
        let (absent, hidden) = blank(place.pointer);
        for blueprint in BLUEPRINTS.iter() {
            let text = |json: &Value| blueprint.build(&context(json)).text().to_owned();
            assert_eq!(text(&absent), text(&hidden), "{} in {}", place.pointer, blueprint.name());
        }
    }
}

// The bookkeeping promises, on arbitrary Contexts.

fn some_text() -> impl Strategy<Value = String> {
    prop_oneof![
        hostile(),
        any::<String>(),
        Just(String::new()),
        Just(" \n\u{200b}".to_owned()),
        Just("A paragraph of plain words.\n\n## Heading\n\nMore words.\n".repeat(30)),
    ]
}

/// A Context with any of its fields filled, and a budget from nothing to plenty.
fn some_context() -> impl Strategy<Value = Value> {
    let texts = prop::collection::vec((0..PLACES.len(), some_text()), 0..8);
    let files = (some_text(), any::<bool>(), any::<bool>());
    let budget = (
        prop_oneof![1..3000u64, Just(200_000), Just(u64::MAX), Just(6_000_000_000)],
        0..3000u64,
        prop_oneof![Just(0), 0..5000u64, Just(4096)],
        prop::option::of(1..2500u64),
    );
    let choices = (
        prop::sample::select(&["auto", "plan", "act", "review"][..]),
        prop::sample::select(&["full", "minimal", "none"][..]),
        0.0..=1.0f64,
        any::<bool>(),
    );
    (any::<bool>(), texts, files, budget, choices).prop_map(
        |(sparse, texts, (bootstrap, no_soul, cut), (window, history, reserve, limit), choices)| {
            let mut json = benign();
            if sparse {
                for field in [
                    "persona",
                    "base",
                    "constitution",
                    "rules",
                    "canary",
                    "runtimeContext",
                    "now",
                    "git",
                    "env",
                    "agentId",
                    "replyGate",
                    "profile",
                ] {
                    json.as_object_mut().unwrap().remove(field);
                }
            }
            for (at, text) in texts {
                let pointer = PLACES[at].pointer;
                let parent = pointer.rsplit_once('/').unwrap().0;
                if json.pointer(parent).is_some() {
                    json = put(json, pointer, &text);
                }
            }
            json["identityFiles"]["bootstrap"] = bootstrap.into();
            if no_soul {
                json["identityFiles"]["soul"] = "".into();
            }
            if cut {
                json["identityFiles"]["user"] = json!({
                    "text": "Cut.", "cut": {"chars": 3, "lines": [2, 3], "limit": 4},
                });
            }
            json["contextWindow"] = window.into();
            json["historyTokens"] = history.into();
            json["outputReserve"] = reserve.into();
            if let Some(limit) = limit {
                json["maxPromptTokens"] = limit.into();
            }
            let (mode, prompt_mode, taint, gate) = choices;
            json["mode"] = mode.into();
            json["promptMode"] = prompt_mode.into();
            json["taintRatio"] = taint.into();
            json["replyGate"] = gate.into();
            json
        },
    )
}

/// Modules that must stand in every prompt of a blueprint, whatever the Context.
fn always_there(blueprint: &str) -> &'static [&'static str] {
    match blueprint.trim_start_matches("own-") {
        "guarded" => &["identity", "injection-defense", "security"],
        "semantic" => &["constitution", "rules", "task"],
        "roles" => &["base", "persona"],
        "companion" => &["identity"],
        _ => &["constitution", "identity", "security", "injection-defense", "taint", "rules"],
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn the_same_context_gives_the_same_bytes(json in some_context()) {
        for blueprint in BLUEPRINTS.iter() {
            let (one, two) = (blueprint.build(&context(&json)), blueprint.build(&context(&json)));
            prop_assert_eq!(one.text(), two.text());
            prop_assert_eq!(one.manifest_with_digests(), two.manifest_with_digests());
        }
    }

    #[test]
    fn required_modules_are_never_missing(json in some_context()) {
        let context = context(&json);
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context);
            let alone = blueprint.name().ends_with("guarded") && context.is_bootstrap();
            let required = if alone { &["identity"][..] } else { always_there(blueprint.name()) };
            for module in required {
                prop_assert!(
                    prompt.section(module).is_some(), "{} of {}", module, blueprint.name()
                );
            }
        }
    }

    #[test]
    fn every_module_is_accounted_for_exactly_once(json in some_context()) {
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context(&json));
            let manifest = prompt.manifest();
            let mut seen: Vec<&str> = manifest.sections.iter().map(|s| s.module).collect();
            seen.extend(manifest.omitted.iter().map(|o| o.module.as_str()));
            seen.extend(&manifest.inactive);
            seen.sort_unstable();
            let mut all: Vec<&str> = blueprint.modules().map(|(name, _)| name).collect();
            all.sort_unstable();
            prop_assert_eq!(seen, all);
        }
    }

    #[test]
    fn sections_are_ordered_and_joined_by_one_blank_line(json in some_context()) {
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context(&json));
            let manifest = prompt.manifest();
            let mut end = 0;
            for (index, section) in manifest.sections.iter().enumerate() {
                let [from, to] = section.range;
                prop_assert_eq!(from, if index == 0 { 0 } else { end + 2 });
                prop_assert!(from < to);
                if index > 0 {
                    prop_assert_eq!(prompt.text().get(end..from), Some("\n\n"));
                }
                let text = prompt.text().get(from..to);
                prop_assert!(text.is_some(), "not on character boundaries");
                prop_assert_eq!(
                    text, text.map(|t| t.trim_matches('\n')), "{}", section.module
                );
                prop_assert_eq!(prompt.section(section.module), text);
                end = to;
            }
            prop_assert_eq!(end, prompt.text().len());
        }
    }

    #[test]
    fn sources_lie_inside_their_sections(json in some_context()) {
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context(&json));
            for section in prompt.manifest_with_digests().sections {
                let mut end = section.range[0];
                for source in section.sources {
                    let [from, to] = source.range;
                    prop_assert!(end <= from && from < to && to <= section.range[1]);
                    prop_assert!(source.lines[0] >= 1 && source.lines[0] <= source.lines[1]);
                    let text = prompt.text().get(from..to);
                    prop_assert_eq!(source.digest, text.map(|t| foreword::digest(t.as_bytes())));
                    end = to;
                }
            }
        }
    }

    #[test]
    fn tokens_stay_within_what_is_available_unless_it_says_so(json in some_context()) {
        let context = context(&json);
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context);
            let manifest = prompt.manifest();
            let joins = manifest.sections.len().saturating_sub(1);
            let sum: u64 = manifest.sections.iter().map(|s| u64::from(s.tokens)).sum();
            prop_assert_eq!(u64::from(prompt.tokens()), sum + joins as u64);
            let fits = i64::from(prompt.tokens()) <= context.available_tokens();
            prop_assert_eq!(fits, !prompt.is_over_budget(), "{}", blueprint.name());
            if prompt.is_over_budget() {
                let optional: BTreeSet<&str> =
                    blueprint.modules().filter(|(_, s)| s.optional).map(|(name, _)| name).collect();
                prop_assert!(manifest.sections.iter().all(|s| !optional.contains(s.module)));
            }
        }
    }

    #[test]
    fn with_room_for_all_nothing_is_shortened(json in some_context()) {
        let roomy = with(json, json!({"contextWindow": 9_000_000_000u64}));
        let mut roomy = context(&roomy);
        roomy.max_prompt_tokens = None;
        let mut large = roomy.clone();
        large.context_window = 100_000_000;
        for blueprint in BLUEPRINTS.iter() {
            let (roomy, large) = (blueprint.build(&roomy), blueprint.build(&large));
            prop_assert_eq!(roomy.text(), large.text());
            prop_assert!(roomy.omitted().iter().all(|o| o.cause != OmissionCause::Budget));
        }
    }

    #[test]
    fn system_and_turn_context_make_up_the_content(json in some_context()) {
        for blueprint in BLUEPRINTS.iter() {
            let prompt = blueprint.build(&context(&json));
            let parts: Vec<&str> = [prompt.system(), prompt.turn_context()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            prop_assert_eq!(parts.join("\n\n"), prompt.text());
            prop_assert_eq!(prompt.turn_context().is_empty(), !blueprint.has_turn_context());
            let (stable, rest) = prompt.system_at_cache_boundary();
            prop_assert_eq!(format!("{stable}{rest}"), prompt.system());
            prop_assert!(prompt.text().is_char_boundary(prompt.stable_prefix_bytes()));
        }
    }

    #[test]
    fn the_turn_never_changes_the_system_prompt_of_standard(
        json in some_context(), task in some_text(), memory in some_text(), taint in 0.0..=1.0f64,
        minute in 0..60u8,
    ) {
        let mut json = with(json, json!({"contextWindow": 10_000_000, "mode": "auto"}));
        json.as_object_mut().unwrap().remove("maxPromptTokens");
        let changed = with(json.clone(), json!({
            "task": task,
            "memories": [memory, {"text": memory, "kind": "system"}],
            "activity": [memory],
            "taintRatio": taint,
            "now": format!("2027-03-04T05:{minute:02}:00Z"),
            "git": {"branch": memory, "summary": "1 file changed"},
            "historyTokens": 4321,
        }));
        let standard = crate::support::blueprint("standard");
        let (before, after) =
            (standard.build(&context(&json)), standard.build(&context(&changed)));
        prop_assert_eq!(before.system(), after.system());
        prop_assert_eq!(before.stable_prefix_bytes(), after.stable_prefix_bytes());
        prop_assert!(before.stable_prefix_bytes() > 0);
        prop_assert!(!before.has_turn_above_stable() && !after.has_turn_above_stable());
    }

    #[test]
    fn a_context_round_trips_through_json(json in some_context()) {
        let first = context(&json);
        let written = serde_json::to_string(&first).unwrap();
        let second = Context::from_json(&written).unwrap();
        prop_assert_eq!(&written, &serde_json::to_string(&second).unwrap());
        for blueprint in BLUEPRINTS.iter() {
            let (one, two) = (blueprint.build(&first), blueprint.build(&second));
            prop_assert_eq!(one.text(), two.text());
            prop_assert_eq!(one.filtered(), two.filtered());
        }
    }
}

// Readers never panic.

/// A valid text with some of its bytes replaced, removed or doubled.
fn damaged(valid: &'static str) -> impl Strategy<Value = String> {
    let wounds = prop::collection::vec(
        (any::<prop::sample::Index>(), 0..4u8, any::<char>(), 0..20usize),
        1..6,
    );
    wounds.prop_map(move |wounds| {
        let mut chars: Vec<char> = valid.chars().collect();
        for (at, what, c, length) in wounds {
            let at = at.index(chars.len());
            let end = (at + length).min(chars.len());
            match what {
                0 => chars[at] = c,
                1 => chars.insert(at, c),
                2 => drop(chars.drain(at..end)),
                _ => {
                    let again = chars[at..end].to_vec();
                    chars.splice(at..at, again);
                }
            }
            if chars.is_empty() {
                chars.push(c);
            }
        }
        chars.into_iter().collect()
    })
}

static VALID_JSON: LazyLock<&'static str> =
    LazyLock::new(|| String::leak(serde_json::to_string_pretty(&benign()).unwrap()));

const VALID_TOML: &str = "name = \"own\"\nextends = \"standard\"\nturn_context = true\n\
    bootstrap = \"alone\"\nremove = [\"heartbeat\", \"clock\"]\n\n[[module]]\nname = \"house\"\n\
    file = \"a.md\"\nheading = \"House\"\nmax_chars = 100\npriority = 45\nkeep = 3\noptional = false\n\
    when = { channel = [\"x\", \"y\"], mode = \"act\", prompt_mode = \"full\", tool = \"t\" }\n\n\
    [[module]]\nname = \"runtime\"\nkind = \"session\"\n";

fn read_blueprint(text: &str) -> Result<Blueprint, foreword::BlueprintError> {
    Blueprint::from_toml("x.toml", text, &mut |name| match name {
        "loop" => Ok("name = \"loop\"\nextends = \"loop\"\n".to_owned()),
        "own" => Ok(VALID_TOML.to_owned()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    })
}

#[test]
fn the_undamaged_texts_are_valid() {
    Context::from_json(&VALID_JSON).unwrap();
    read_blueprint(VALID_TOML).unwrap();
    assert!(read_blueprint("name = \"x\"\nextends = \"loop\"\n").is_err());
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn reading_a_context_never_panics(text in prop_oneof![any::<String>(), damaged(&VALID_JSON)]) {
        if let Ok(context) = Context::from_json(&text) {
            for blueprint in BLUEPRINTS.iter() {
                blueprint.build(&context);
            }
        }
    }

    #[test]
    fn reading_a_blueprint_never_panics(text in prop_oneof![any::<String>(), damaged(VALID_TOML)]) {
        if let Ok(blueprint) = read_blueprint(&text) {
            blueprint.build(&context(&benign()));
        }
    }
}
