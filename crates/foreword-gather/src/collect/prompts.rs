//! The layers of an agent: base, capability packs, persona, overlay.

use foreword::{Capability, Document, Line, MissingRef, PromptRef, RunnerKind};
use foreword_workspace::{Agent, AskedBy, SourceFile, Workspace, WorkspaceError};

use crate::collect::surfaces::{CORE_PACK, SURFACES, builtin_pack, surface, with_tool_names};
use crate::error::GatherError;

/// The layers, and the references that were not found.
#[derive(Default)]
pub(crate) struct Layers {
    pub(crate) base: Document,
    pub(crate) capabilities: Vec<Capability>,
    pub(crate) persona: Document,
    pub(crate) overlay: Document,
    pub(crate) missing: Vec<MissingRef>,
}

/// Where a reference of a `prompts` list belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Base,
    Capability,
    Persona,
    Overlay,
}

impl Layer {
    fn of(reference: &str) -> Self {
        match reference.split('/').next() {
            Some("capabilities") => Self::Capability,
            Some("agents") => Self::Persona,
            Some("runtime") => Self::Overlay,
            _ => Self::Base,
        }
    }
}

/// Gathers the layers of an agent, or of no agent in particular. With `lenient`, what is missing or
/// too much is noted and not an error, so that lint can report all of it.
pub(crate) fn gather_layers(
    workspace: &Workspace,
    agent: Option<&Agent>,
    tool_packs: &[(String, AskedBy)],
    runner: Option<RunnerKind>,
    lenient: bool,
) -> Result<Layers, GatherError> {
    let mut layers = Layers::default();
    if let Some(references) = agent.and_then(|agent| agent.prompts.as_ref()) {
        listed(workspace, references, lenient, &mut layers)?;
    } else {
        if let Some(base) = workspace.base()? {
            layers.base = workspace.document(base);
        }
        for (pack, asked_by) in packs_of(agent, tool_packs) {
            match read_pack(workspace, &pack, runner)? {
                Some(capability) => layers.capabilities.push(capability),
                None if lenient => {
                    let path = format!("prompts/capabilities/{pack}.md");
                    layers.missing.push(missing(pack, &asked_by, path));
                }
                None => return Err(GatherError::UnknownPack { name: pack, asked_by }),
            }
        }
        if let Some(agent) = agent
            && let Some(persona) = workspace.persona(&agent.namespace, &agent.id)?
        {
            layers.persona = workspace.document(persona);
        }
    }
    if layers.overlay.is_blank()
        && let Some(overlay) = workspace.sub_agent_overlay()?
    {
        layers.overlay = workspace.document(overlay);
    }
    Ok(layers)
}

/// The explicit list of seed 003. The blueprint decides the order; lint checks the list's own.
fn listed(
    workspace: &Workspace,
    references: &[PromptRef],
    lenient: bool,
    layers: &mut Layers,
) -> Result<(), GatherError> {
    let mut singles: Vec<(Layer, String)> = Vec::new();
    for reference in references {
        let asked_by = AskedBy::new(&reference.file, reference.line as usize);
        let file = match workspace.prompt_ref(&reference.name, &asked_by) {
            Ok(file) => file,
            Err(WorkspaceError::Missing { path, .. }) if lenient => {
                layers.missing.push(missing(reference.name.clone(), &asked_by, path));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let layer = Layer::of(&reference.name);
        let (slot, what) = match layer {
            Layer::Capability => {
                let name = reference.name.rsplit('/').next().unwrap_or_default();
                layers
                    .capabilities
                    .push(Capability { name: Line::new(name), text: workspace.document(file) });
                continue;
            }
            Layer::Base => (&mut layers.base, "base"),
            Layer::Persona => (&mut layers.persona, "persona"),
            Layer::Overlay => (&mut layers.overlay, "overlay"),
        };
        if let Some((_, first)) = singles.iter().find(|(seen, _)| *seen == layer) {
            if lenient {
                continue;
            }
            let (first, second) = (first.clone(), reference.name.clone());
            return Err(GatherError::Twice { what, first, second, asked_by });
        }
        singles.push((layer, reference.name.clone()));
        *slot = workspace.document(file);
    }
    Ok(())
}

/// What lint reports of a file that does not exist.
fn missing(name: String, asked_by: &AskedBy, path: String) -> MissingRef {
    let line = u32::try_from(asked_by.line.unwrap_or(1)).unwrap_or(u32::MAX);
    MissingRef { name, file: asked_by.file.clone(), line, path }
}

/// The packs an agent asks for, else those that go with its tool surfaces and tools, `core` first.
fn packs_of(agent: Option<&Agent>, tool_packs: &[(String, AskedBy)]) -> Vec<(String, AskedBy)> {
    if let Some(agent) = agent
        && let Some(listed) = &agent.capabilities
    {
        return listed.iter().map(|pack| (pack.clone(), agent.asked_by("capabilities"))).collect();
    }
    let mut wanted: Vec<(String, AskedBy)> = Vec::new();
    if let Some(agent) = agent {
        for name in agent.tools.iter().chain(&agent.extensions) {
            if let Some(pack) = surface(name).and_then(|surface| surface.pack) {
                wanted.push((pack.to_owned(), agent.asked_by("tools")));
            }
        }
    }
    wanted.extend_from_slice(tool_packs);
    if let Some((_, asked_by)) = wanted.first() {
        wanted.push((CORE_PACK.to_owned(), asked_by.clone()));
    }
    // `core`, then the order of the surfaces, then packs of the workspace's own by name.
    let place = |pack: &str| match SURFACES.iter().position(|surface| surface.pack == Some(pack)) {
        _ if pack == CORE_PACK => 0,
        Some(index) => index + 1,
        None => SURFACES.len() + 1,
    };
    wanted.sort_by(|(a, _), (b, _)| (place(a), a).cmp(&(place(b), b)));
    wanted.dedup_by(|(a, _), (b, _)| a == b);
    wanted
}

/// A pack of the workspace, else the built-in one.
fn read_pack(
    workspace: &Workspace,
    name: &str,
    runner: Option<RunnerKind>,
) -> Result<Option<Capability>, GatherError> {
    let text = match workspace.file(&format!("prompts/capabilities/{name}.md"))? {
        Some(file) => workspace.document(file),
        None => match builtin_pack(name) {
            Some(text) => workspace.document(SourceFile {
                path: format!("builtin:capabilities/{name}"),
                text: with_tool_names(text, runner),
                first_line: 1,
            }),
            None => return Ok(None),
        },
    };
    Ok(Some(Capability { name: Line::new(name), text }))
}
