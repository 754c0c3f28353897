//! The tables in docs/layers.md are generated from the code. `UPDATE_DOCS=1` writes them anew.

use std::fmt::Write as _;

use foreword::{Authority, Blueprint, Spec};
use foreword_gather::{Request, gather, surfaces};

use crate::support::{example, generated};

/// Which layer of the contract a module of `roles` is, where its text comes from and how many there are.
fn layer(module: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match module {
        "base" => ("0 platform base", "`prompts/base.md`, or the first entry of `prompts:`", "1"),
        "capabilities" => ("1 capability packs", "`prompts/capabilities/*.md`", "0 to n"),
        "persona" => ("2 persona", "`prompts/agents/<namespace>/<agent>.md`", "exactly 1"),
        "overlay" => ("3 runtime context", "`prompts/runtime/sub-agent.md`", "sub-agents only"),
        _ => return None,
    })
}

fn contract() -> String {
    let mut out = String::from(
        "| layer | module | from | how many | authority | when the budget is tight |\n|---|---|---|---|---|---|\n",
    );
    let roles = Blueprint::builtin("roles").unwrap();
    let mut layers = 0;
    for (module, Spec { authority, optional, .. }) in roles.modules() {
        let Some((layer, from, count)) = layer(module) else {
            assert_eq!(module, "canary", "a module of `roles` that the contract does not know");
            continue;
        };
        assert!(layer.starts_with(&layers.to_string()), "{layer} stands in place {layers}");
        assert!(authority <= Authority::Operator, "{module} may not instruct");
        let tight = if optional { "may be left out" } else { "always kept" };
        let authority = authority.as_str();
        writeln!(out, "| {layer} | `{module}` | {from} | {count} | {authority} | {tight} |")
            .unwrap();
        layers += 1;
    }
    assert_eq!(layers, 4);
    out
}

fn packs() -> String {
    let mut out = String::from("| `tools:` entry | tools | capability pack |\n|---|---|---|\n");
    for surface in surfaces() {
        let tools: Vec<String> =
            surface.tools.iter().map(|(name, _)| format!("`{name}`")).collect();
        let pack = surface.pack.map(|pack| format!("`{pack}`")).unwrap_or_default();
        writeln!(out, "| `{}` | {} | {pack} |", surface.name, tools.join(", ")).unwrap();
    }
    out
}

fn agents() -> String {
    let mut out =
        String::from("| agent | packs, in order | persona | tools |\n|---|---|---|---|\n");
    for agent in ["cosmo", "planner", "task-manager", "coordinator", "worker"] {
        let request = Request { agent: Some(agent.into()), neutral: true, ..Request::default() };
        let context = gather(&example("roles"), &request).unwrap().context;
        let packs: Vec<String> =
            context.capabilities.iter().map(|pack| format!("`{}`", pack.name.inspect())).collect();
        let tools: Vec<String> =
            context.tools.iter().map(|tool| format!("`{}`", tool.name.inspect())).collect();
        let persona = format!("agents/{}/{agent}", context.namespace.inspect());
        assert!(example("roles").join(format!("prompts/{persona}.md")).exists());
        let (packs, tools) = (packs.join(", "), tools.join(", "));
        writeln!(out, "| `{agent}` | {packs} | `{persona}` | {tools} |").unwrap();
    }
    out
}

#[test]
fn the_page_on_layers_says_what_the_code_does() {
    let parts = [("layers", contract()), ("packs", packs()), ("agents", agents())];
    generated::check("layers.md", &parts);
}
