//! What must hold for any input, whatever made it.
//!
//! The coverage-guided targets in this directory and the harness that runs with the tests
//! (`crates/foreword/tests/it/fuzz_smoke.rs`) share these functions. Each takes a text and panics where
//! a promise is broken.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use foreword::{
    Blueprint, Choice, Context, Document, Documents, Env, Git, IdentityFiles, Line, Memory, Mode,
    OmissionCause, Payload, RuntimeContext, Skill, SpawnMode, Timestamp, Tool, Untrusted,
};
use foreword_workspace::{Config, SourceFile, Workspace};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// A blueprint as a user might write one, so that file-backed modules are tried too.
const OWN_BLUEPRINT: &str = r#"
name = "own"
extends = "standard"

[[module]]
name = "house-style"
file = "docs/house-style.md"
heading = "House style"
priority = 45

[[module]]
name = "bare"
file = "docs/bare.md"
priority = 46
"#;

/// A word that stands in for every text from outside and is in no prose of ours.
const HARMLESS: &str = "zqzq";

/// Any text as the JSON of a Context: refused with a message, or compiled with every promise kept.
pub(crate) fn context_json(text: &str) {
    let context = match Context::from_json(text) {
        Ok(context) => context,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let json = serde_json::to_string(&context).expect("a Context can be written");
    let again = Context::from_json(&json).expect("what was written can be read");
    for name in Blueprint::builtin_names() {
        let blueprint = Blueprint::builtin(name).expect("it is built in");
        promises(&blueprint, &context);
        assert_eq!(blueprint.build(&context).text(), blueprint.build(&again).text(), "{name}");
    }
}

/// Any text as what a host sends on standard input.
pub(crate) fn payload(text: &str) {
    match Payload::parse(text) {
        Ok(payload) => assert!(payload.message == text || text.trim_start().starts_with('{')),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Any text as a blueprint: refused with a place, or fit to compile with.
pub(crate) fn blueprint_toml(text: &str) {
    let blueprint = Blueprint::from_toml("fuzz.toml", text, &mut |name| match name {
        "again.toml" => Ok(text.to_owned()),
        "own.toml" => Ok(OWN_BLUEPRINT.to_owned()),
        _ => Err(ErrorKind::NotFound.into()),
    });
    match blueprint {
        Ok(blueprint) => promises(&blueprint, &everywhere(HARMLESS)),
        Err(error) => {
            let message = error.to_string();
            let place = message.split(": ").next().unwrap_or_default();
            let line = place.rsplit(':').next().unwrap_or_default();
            assert!(line.parse::<usize>().is_ok_and(|line| line > 0), "no place: {message}");
        }
    }
}

/// Any text as settings: refused with the name of the file, or taken.
pub(crate) fn settings(text: &str) {
    let file = SourceFile { path: "foreword.toml".into(), text: text.into(), first_line: 1 };
    if let Err(error) = Config::parse(&file) {
        assert!(error.to_string().contains("foreword.toml"), "{error}");
    }
}

/// Any text as the YAML header of an agent and of a skill. The parser is private to the workspace
/// crate, so this goes through files below `directory`; put it on a RAM disk for long runs.
pub(crate) fn yaml_header(directory: &Path, text: &str) {
    let file = format!("---\n{text}\n---\nThe body.\n");
    for folder in ["agents/x", "skills/x"] {
        std::fs::create_dir_all(directory.join(folder)).expect("the directory is ours");
    }
    std::fs::write(directory.join("agents/x/AGENT.md"), &file).expect("the directory is ours");
    std::fs::write(directory.join("skills/x/SKILL.md"), &file).expect("the directory is ours");
    let workspace = Workspace::open(directory).expect("an empty workspace opens");
    if let Err(error) = workspace.agent("x") {
        assert!(error.to_string().contains("AGENT.md"), "{error}");
    }
    let scan = workspace.skills().expect("a bad skill does not hide the others");
    assert!(scan.skills.len() + scan.problems.len() > 0, "the skill vanished");
}

/// Any text in every field of a Context: a parser of the prompt sees the same sections as it does
/// with a harmless word in its place.
pub(crate) fn fences(text: &str) {
    fences_of(text, &everywhere(text), &everywhere(HARMLESS));
    fences_of(text, &selecting(everywhere(text)), &selecting(everywhere(HARMLESS)));
}

/// The same Context with its first tool and skill selected, so that the others stand there by name.
fn selecting(mut context: Context) -> Context {
    let selected = |name: &Line| foreword::Selected { name: name.clone(), ..Default::default() };
    context.selection = Some(foreword::Selection {
        tools: context.tools.iter().take(1).map(|tool| selected(&tool.name)).collect(),
        skills: context.skills.iter().take(1).map(|skill| selected(&skill.name)).collect(),
        ..Default::default()
    });
    context
}

fn fences_of(text: &str, hostile: &Context, harmless: &Context) {
    let own =
        Blueprint::from_toml("own.toml", OWN_BLUEPRINT, &mut |_| Err(ErrorKind::NotFound.into()))
            .expect("it is right");
    let blueprints = Blueprint::builtin_names().filter_map(Blueprint::builtin).chain([own]);
    for blueprint in blueprints {
        promises(&blueprint, hostile);
        let seen = blueprint.build(hostile);
        let expected = blueprint.build(harmless);
        let name = blueprint.name();
        if !text.chars().any(|c| c.is_alphanumeric() || c.is_ascii_punctuation()) {
            continue; // Nothing that can be seen: whole sections may be absent.
        }
        let titles: Vec<String> =
            headings(expected.text()).into_iter().filter(|t| !t.contains(HARMLESS)).collect();
        let known: BTreeSet<&String> = titles.iter().collect();
        let mut found = headings(seen.text());
        found.retain(|title| known.contains(title));
        assert_eq!(found, titles, "{name}: other sections, with {text:?} in\n{}", seen.text());
        for tag in ["<untrusted_context", "</untrusted_context", "<external_content"] {
            let count = |prompt: &str| prompt.to_lowercase().matches(tag).count();
            assert_eq!(count(seen.text()), count(expected.text()), "{name}: {tag}");
        }
        let stranger = seen.text().lines().find(|line| changes_speaker(line));
        assert_eq!(stranger, None, "{name}: a line speaks for someone else");
    }
}

/// The promises of every prompt, whatever the Context.
fn promises(blueprint: &Blueprint, context: &Context) {
    let prompt = blueprint.build(context);
    let text = prompt.text();
    let name = blueprint.name();
    assert_eq!(text, blueprint.build(context).text(), "{name}: the same Context, other bytes");

    let manifest = prompt.manifest_with_digests();
    assert!(serde_json::to_string(&manifest).is_ok(), "{name}: the manifest cannot be written");
    let mut accounted: Vec<&str> = manifest.sections.iter().map(|s| s.module).collect();
    accounted.extend(manifest.omitted.iter().map(|omitted| omitted.module.as_str()));
    accounted.extend(&manifest.inactive);
    accounted.sort_unstable();
    let mut modules: Vec<&str> = blueprint.modules().map(|(module, _)| module).collect();
    modules.sort_unstable();
    assert_eq!(accounted, modules, "{name}: not every module is accounted for once");
    for (module, _) in blueprint.modules().filter(|(_, spec)| !spec.optional) {
        let lost = manifest
            .omitted
            .iter()
            .find(|o| o.module == module && o.cause == OmissionCause::Budget);
        assert_eq!(lost, None, "{name}: a required section was dropped");
    }

    let mut end = 0;
    for section in &manifest.sections {
        let [from, to] = section.range;
        assert!(from >= end && to > from, "{name}: {} overlaps", section.module);
        assert!(text.get(from..to).is_some(), "{name}: {} cuts a character", section.module);
        assert_eq!(text.get(end..from).map(str::trim), Some(""), "{name}: bytes of nobody");
        for source in &section.sources {
            let [first, last] = source.range;
            assert!(from <= first && first <= last && last <= to, "{name}: a source elsewhere");
        }
        end = to;
    }
    assert_eq!(end, text.len(), "{name}: bytes of nobody at the end");
    assert!(prompt.stable_prefix_bytes() <= text.len());
    let within = i64::from(prompt.tokens()) <= context.available_tokens();
    assert!(within || prompt.is_over_budget() || text.is_empty(), "{name}: over budget, unsaid");
    let hidden = text.chars().find(|c| is_always_hidden(*c));
    assert_eq!(hidden, None, "{name}: a hidden character");
}

/// The headings a reader of Markdown sees at the top level, folded to letters and digits.
fn headings(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { .. }) if depth == 0 => {
                heading = Some(String::new());
                depth += 1;
            }
            Event::End(TagEnd::Heading(_)) => {
                depth = depth.saturating_sub(1);
                found.extend(heading.take().map(|text| fold(&text)));
            }
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut heading {
                    heading.push(' ');
                }
            }
            _ => {}
        }
    }
    found
}

fn fold(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// `System:` and the like at the start of a line, or a special token of a chat format.
fn changes_speaker(line: &str) -> bool {
    let lower = line.trim_start().to_lowercase();
    let speaks = ["system", "human", "user", "assistant", "developer"].iter().any(|role| {
        lower.strip_prefix(role).is_some_and(|rest| rest.trim_start().starts_with([':', '：']))
    });
    speaks || lower.contains("<|im_start") || lower.contains("<|system")
}

/// Characters that no text needs in any script. Joiners and selectors depend on their place.
fn is_always_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200B}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
            | '\u{E0001}' | '\u{E0020}')
}

/// A Context with one text in every field that takes any.
fn everywhere(text: &str) -> Context {
    let line = || Line::new(text);
    let document = || Document::new(text);
    let memory = || Memory {
        id: Some(line()),
        text: Untrusted::new(text),
        date: Some(line()),
        ..Memory::default()
    };
    let mut context = Context {
        agent_type: line().into(),
        agent_id: Some(line()),
        namespace: line(),
        user_id: Some(line()),
        model: Some(line()),
        channel: line(),
        workspace: Some(line()),
        sandbox_type: line().into(),
        identity_files: IdentityFiles {
            agent: document(),
            soul: document(),
            identity: document(),
            user: document(),
            heartbeat: document(),
            tools: document(),
            ..IdentityFiles::default()
        },
        context_content: Documents(vec![document(), document()]),
        context_window: 1 << 40,
        // Inferring it would read the text, and the rules of the mode would differ.
        mode: Choice::Fixed(Mode::Act),
        task: document(),
        now: Timestamp::parse("2026-02-26T14:30:00Z"),
        canary: Some(line()),
        skills: vec![
            Skill {
                name: line(),
                description: line(),
                body: Untrusted::new(text),
                path: Some(line()),
                folder: Some(line()),
                ..Skill::default()
            },
            Skill { name: Line::new("raw"), ..Skill::from_markdown(text) },
        ]
        .into(),
        tools: vec![Tool { name: line(), description: line(), ..Tool::default() }].into(),
        capabilities: vec![foreword::Capability { name: line(), text: document() }],
        persona: document(),
        base: document(),
        constitution: document(),
        rules: document(),
        overlay: Document::new(format!("{text}\n{{{{objective}}}} {{{{parentRole}}}}\n")),
        runtime_context: Some(RuntimeContext {
            mode: SpawnMode::SubAgent,
            parent_role: Some(line()),
            objective: Some(line()),
            task_id: Some(line()),
        }),
        memories: vec![memory()],
        activity: vec![memory()],
        git: Some(Git { branch: line(), summary: line() }),
        env: Some(Env { cwd: line(), os: line() }),
        reply_gate: true,
        ..Context::default()
    };
    context.files.insert("docs/house-style.md".into(), document());
    context.files.insert("docs/bare.md".into(), document());
    context.name_skills();
    context
}
