//! The built-in modules. To add one: a file here, and a line in [`MODULES`].

mod base;
mod canary;
mod capabilities;
mod companion;
mod constitution;
mod context;
mod file;
mod heartbeat;
mod identity;
mod index;
mod injection_defense;
mod memory;
mod overlay;
mod persona;
mod reply_gate;
mod rules;
mod runtime;
mod runtime_context;
mod security;
mod skills;
mod taint;
mod task;
mod tool_use;
mod tools_and_skills;
mod turn;
mod untrusted_context;

use std::sync::Arc;

use crate::blueprints::parse::Entry;
use crate::compile::module::Module;

pub(crate) use overlay::OVERLAY_VALUES;

type Make = fn() -> Arc<dyn Module>;

/// Every module a blueprint can name.
const MODULES: &[(&str, Make)] = &[
    ("identity", || Arc::new(identity::Identity)),
    ("injection-defense", || Arc::new(injection_defense::InjectionDefense)),
    ("injection-defense-stable", || Arc::new(injection_defense::StableInjectionDefense)),
    ("security", || Arc::new(security::Security)),
    ("security-known", || Arc::new(security::KnownSecurity)),
    ("context", || Arc::new(context::WorkspaceContext)),
    ("skills", || Arc::new(skills::Skills)),
    ("heartbeat", || Arc::new(heartbeat::Heartbeat)),
    ("runtime", || Arc::new(runtime::Runtime)),
    ("reply-gate", || Arc::new(reply_gate::ReplyGate)),
    ("canary", || Arc::new(canary::Canary)),
    ("constitution", || Arc::new(constitution::ConstitutionLayer)),
    ("foundation", || Arc::new(constitution::Foundation)),
    ("rules", || Arc::new(rules::Rules)),
    ("runtime-context", || Arc::new(runtime_context::RuntimeContextLayer)),
    ("untrusted-context", || Arc::new(untrusted_context::UntrustedContext)),
    ("tools-and-skills", || Arc::new(tools_and_skills::ToolsAndSkills)),
    ("task-layer", || Arc::new(task::TaskLayer)),
    ("base", || Arc::new(base::Base)),
    ("capabilities", || Arc::new(capabilities::Capabilities)),
    ("persona", || Arc::new(persona::Persona)),
    ("overlay", || Arc::new(overlay::Overlay)),
    ("companion-identity", || Arc::new(companion::Identity)),
    ("soul", || Arc::new(companion::Soul)),
    ("tool-guidelines", || Arc::new(companion::ToolGuidelines)),
    ("tool-use", || Arc::new(tool_use::ToolUse)),
    ("available-skills", || Arc::new(companion::AvailableSkills)),
    ("recalled-memory", || Arc::new(companion::RecalledMemory)),
    ("companion-runtime", || Arc::new(companion::Runtime)),
    ("index", || Arc::new(index::Index)),
    ("session", || Arc::new(runtime::Session)),
    ("selection", || Arc::new(turn::Selection)),
    ("memory", || Arc::new(memory::Memory)),
    ("clock", || Arc::new(turn::Clock)),
    ("taint", || Arc::new(taint::Taint)),
    ("task", || Arc::new(task::Task)),
];

/// The names of the built-in modules.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(name, _)| *name)
}

pub(crate) fn is_known(kind: &str) -> bool {
    kinds().any(|known| known == kind)
}

/// The module an entry of a blueprint stands for.
pub(crate) fn instantiate(entry: &Entry) -> Option<Arc<dyn Module>> {
    if let Some(path) = &entry.file {
        return Some(Arc::new(file::FileSection::new(
            path,
            entry.heading.as_deref(),
            entry.optional.unwrap_or(true),
            entry.max_chars,
        )));
    }
    let kind = entry.kind.as_deref().unwrap_or(&entry.name);
    MODULES.iter().find(|(name, _)| *name == kind).map(|(_, make)| make())
}
