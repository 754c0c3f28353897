//! What the test files share: Contexts from JSON, prompts from built-in blueprints.
#![allow(dead_code, reason = "every test file uses its own part of this")]

use foreword::{Blueprint, Context, Detail, Manifest, Prompt, Section, SectionEntry};
use serde_json::{Value, json};

/// A Context read as any caller would have it read.
pub(crate) fn context(json: &Value) -> Context {
    Context::from_json(&json.to_string()).expect("a valid context")
}

/// `base` with the top-level fields of `changes` put in or replaced.
pub(crate) fn with(mut base: Value, changes: Value) -> Value {
    if let (Value::Object(base), Value::Object(changes)) = (&mut base, changes) {
        base.extend(changes);
    }
    base
}

pub(crate) fn blueprint(name: &str) -> Blueprint {
    Blueprint::builtin(name).expect("a built-in blueprint")
}

pub(crate) fn build(blueprint_name: &str, json: &Value) -> Prompt {
    blueprint(blueprint_name).build(&context(json))
}

/// The names of the modules that stand in a prompt, in order.
pub(crate) fn modules(prompt: &Prompt) -> Vec<String> {
    prompt.metadata().modules.iter().map(|&name| name.to_owned()).collect()
}

/// Does a module stand in the prompt?
pub(crate) fn has(prompt: &Prompt, module: &str) -> bool {
    prompt.section(module).is_some()
}

/// The text of a module that must be there.
pub(crate) fn section<'p>(prompt: &'p Prompt, module: &str) -> &'p str {
    prompt.section(module).unwrap_or_else(|| panic!("no section {module}"))
}

/// Why a module was left out.
pub(crate) fn omission<'p>(prompt: &'p Prompt, module: &str) -> Option<&'p str> {
    prompt.omitted().iter().find(|o| o.module == module).map(|o| o.reason.as_str())
}

pub(crate) fn is_inactive(prompt: &Prompt, module: &str) -> bool {
    prompt.manifest().inactive.contains(&module)
}

pub(crate) fn entry<'m, 'p>(manifest: &'m Manifest<'p>, module: &str) -> &'m SectionEntry<'p> {
    manifest.sections.iter().find(|s| s.module == module).expect("the section")
}

pub(crate) fn detail(prompt: &Prompt, module: &str) -> Detail {
    entry(&prompt.manifest(), module).detail
}

/// Asserts that the parts stand in the text, each after the one before it.
pub(crate) fn assert_in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        match text[from..].find(part) {
            Some(at) => from += at + part.len(),
            None => panic!("`{part}` does not stand after byte {from} of:\n{text}"),
        }
    }
}

/// The `makeContext` of seed 000's tests.
pub(crate) fn seed_context(changes: Value) -> Value {
    with(
        json!({
            "agentType": "pi-agent-core",
            "workspace": "/tmp",
            "skills": [],
            "profile": "paranoid",
            "sandboxType": "subprocess",
            "taintRatio": 0,
            "taintThreshold": 0.10,
            "identityFiles": {"agent": "", "soul": "", "identity": "", "user": "", "bootstrap": ""},
            "contextContent": "",
            "contextWindow": 200000,
            "historyTokens": 0,
        }),
        changes,
    )
}

/// Identity files as the seed writes them out.
pub(crate) fn identity(agent: &str, soul: &str, bootstrap: &str) -> Value {
    json!({"agent": agent, "soul": soul, "identity": "", "user": "", "bootstrap": bootstrap})
}

/// A module of the tests' own with fixed texts.
pub(crate) struct Fixed {
    pub(crate) name: &'static str,
    pub(crate) spec: foreword::Spec,
    pub(crate) full: &'static str,
    pub(crate) minimal: Option<&'static str>,
}

impl foreword::Module for Fixed {
    fn name(&self) -> &'static str {
        self.name
    }

    fn spec(&self) -> foreword::Spec {
        self.spec
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, _context: &Context, section: &mut Section<'_>) {
        section.prose(self.full);
    }

    fn render_minimal(&self, _context: &Context, section: &mut Section<'_>) -> bool {
        self.minimal.is_some_and(|text| {
            section.prose(text);
            true
        })
    }
}

/// The seed's `fakeMod`: so many tokens of four characters, required or optional.
pub(crate) fn fake(name: &'static str, tokens: usize, optional: bool) -> Fixed {
    let (authority, volatility) = (foreword::Authority::Operator, foreword::Volatility::Stable);
    let spec = if optional {
        foreword::Spec::optional(50, authority, volatility)
    } else {
        foreword::Spec::required(0, authority, volatility)
    };
    Fixed { name, spec, full: filler(tokens), minimal: None }
}

/// A text of exactly so many tokens by [`FourCharacters`].
pub(crate) fn filler(tokens: usize) -> &'static str {
    String::leak("x".repeat(tokens * 4))
}

/// A blueprint of the given modules and nothing else that speaks.
pub(crate) fn blueprint_of(modules: Vec<Fixed>) -> Blueprint {
    let text = "name = \"test\"\n[[module]]\nname = \"heartbeat\"\n";
    let empty =
        Blueprint::from_toml("test.toml", text, &mut |_| Err(std::io::ErrorKind::NotFound.into()))
            .expect("a valid blueprint");
    modules.into_iter().fold(empty, |blueprint, module| {
        blueprint
            .with_module(&(std::sync::Arc::new(module) as std::sync::Arc<dyn foreword::Module>))
    })
}

/// The seed's rule of thumb, one token for four characters, so that its numbers can be kept.
pub(crate) struct FourCharacters;

impl foreword::TokenCounter for FourCharacters {
    fn id(&self) -> &str {
        "four-characters"
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(text.chars().count().div_ceil(4)).expect("a short text")
    }
}
