//! A workspace and a request in, a Context and its blueprint out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foreword::{Blueprint, Context, Documents, Env, Git, IdentityFiles, Line, MissingRef, Profile};
use foreword_workspace::{
    Agent, AskedBy, Config, EmbedderSettings, Layer, UsedFile, Workspace, WorkspaceError,
};

use crate::assembler::Assembler;
use crate::collect::blueprint;
use crate::collect::prompts::{Layers, gather_layers};
use crate::collect::skills::{GatheredSkills, gather_skills};
use crate::collect::text::document_within;
use crate::collect::tools::{
    GatheredTools, THE_HOST, ToolSource, add_standing_tools, gather_tools,
};
use crate::error::GatherError;
use crate::git::GitFacts;
use crate::request::Request;
use crate::select::embedders;
use crate::warning::{Warning, summed};

/// A Context ready to compile, and what a person should know about how it was gathered.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// Everything the prompt depends on.
    pub context: Context,
    /// The blueprint to compile it with.
    pub blueprint: Blueprint,
    /// The name of the blueprint's file, or `builtin:NAME`.
    pub blueprint_file: String,
    /// What was passed over.
    pub warnings: Vec<Warning>,
    /// Every file of the workspace that was read for it, with the bytes it had then; skills apart.
    pub used_files: BTreeSet<UsedFile>,
    /// The files of skills that count although nobody approved them, by path, with their digests. A host
    /// uses them only if the person trusted them with the workspace. Only each SKILL.md, unless whole skills were asked for.
    pub local_skills: BTreeMap<String, [u8; 32]>,
    /// The tools that are not built in and what carries each of them out.
    pub tool_sources: Arc<BTreeMap<String, ToolSource>>,
}

/// What a workspace says of an agent, whatever the task: the same until a file changes.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) context: Context,
    pub(crate) blueprint: Blueprint,
    pub(crate) blueprint_file: String,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) config: Config,
    pub(crate) agent: Option<Agent>,
    pub(crate) missing: Vec<MissingRef>,
    /// The embedding endpoint that the workspace names and the person did not agree to.
    pub(crate) refused_endpoint: Option<String>,
    pub(crate) used_files: BTreeSet<UsedFile>,
    pub(crate) local_skills: BTreeMap<String, [u8; 32]>,
    pub(crate) tool_sources: Arc<BTreeMap<String, ToolSource>>,
    /// The workspace, absolute and links followed.
    pub(crate) root: PathBuf,
}

/// Reads a workspace into a Context. Who does that often keeps an [`Assembler`].
pub fn gather(root: &Path, request: &Request) -> Result<Gathered, GatherError> {
    Assembler::new(root).assemble(request)
}

/// Every agent's prompt (`default` where there are none) without a task and without anything that
/// differs between machines: the same for everyone who has the same workspace.
///
/// `config_dir` is the person's, whose consent lets skills be read from outside the workspace.
pub fn neutral_prompts(
    root: &Path,
    config_dir: Option<&Path>,
) -> Result<Vec<(String, Gathered)>, GatherError> {
    let workspace = Workspace::open_for(root, config_dir)?;
    each_agent(&workspace)?
        .into_iter()
        .map(|id| {
            let request = Request { agent: id.clone(), neutral: true, ..Request::default() };
            let base = gather_base(&workspace, &request, false)?;
            Ok((id.unwrap_or_else(|| "default".to_owned()), base.for_request(&request)?))
        })
        .collect()
}

/// The agents of a workspace; none by name where it has none.
pub(crate) fn each_agent(workspace: &Workspace) -> Result<Vec<Option<String>>, GatherError> {
    let ids = workspace.agent_ids()?;
    Ok(if ids.is_empty() { vec![None] } else { ids.into_iter().map(Some).collect() })
}

/// Reads what does not depend on the task.
pub(crate) fn gather_base(
    workspace: &Workspace,
    request: &Request,
    lenient: bool,
) -> Result<Base, GatherError> {
    let config = workspace.config();
    let imported = workspace.has_untrusted_import().then_some(Warning::ImportNotTrusted);
    let mut warnings: Vec<Warning> = imported.into_iter().collect();

    let agent = match (&request.agent, &config.agent) {
        (Some(id), _) => Some(workspace.agent(id)?),
        (None, Some(id)) => Some(default_agent(workspace, id)?),
        (None, None) => None,
    };
    let agent = agent.as_ref();
    let found = match (
        &request.blueprint,
        agent.and_then(|agent| agent.blueprint.as_ref().map(|name| (agent, name))),
    ) {
        (Some(name), _) => blueprint::named(name)?,
        (None, Some((agent, name))) => {
            blueprint::of_workspace(workspace, name, &agent.asked_by("blueprint"))?
        }
        (None, None) => blueprint::of_workspace(
            workspace,
            &config.blueprint,
            &workspace.config_asked_by(&["blueprint"]),
        )?,
    };

    let user_id = request.user_id.as_ref().or(config.user_id.as_ref());
    let GatheredTools { tools, packs: mut tool_packs, sources, mut left_out } =
        gather_tools(workspace, agent, request, &mut warnings)?;
    if found.blueprint.joins_packs_and_tools() {
        tool_packs.retain(|(_, asked_by)| *asked_by != AskedBy::whole(THE_HOST));
    }
    let mut layers = gather_layers(workspace, agent, &tool_packs, request.runner, lenient)?;
    let (identity_files, context_content) =
        gather_identity(workspace, agent, user_id, request, &layers)?;
    let GatheredSkills { skills, local: local_skills, left_out: skills_left_out } =
        gather_skills(workspace, agent, request, &mut warnings)?;
    left_out.extend(skills_left_out);

    let mut context = Context {
        agent_id: agent.map(|agent| Line::new(&agent.id)),
        namespace: Line::new(agent.map_or(&config.namespace, |agent| &agent.namespace)),
        user_id: user_id.map(Line::new),
        identity_files,
        context_content,
        skills: Arc::new(skills),
        tools: Arc::new(tools),
        left_out,
        capabilities: std::mem::take(&mut layers.capabilities),
        persona: std::mem::take(&mut layers.persona),
        base: std::mem::take(&mut layers.base),
        overlay: std::mem::take(&mut layers.overlay),
        reply_gate: config.reply_gate,
        ..Context::default()
    };
    let most = config.assembly.max_constitution_tokens;
    for (layer, slot) in
        [(Layer::Constitution, &mut context.constitution), (Layer::Rules, &mut context.rules)]
    {
        if let Some((file, _)) = workspace.layer(layer)? {
            let name = file.path.clone();
            *slot = document_within(&workspace.document(file), &name, most);
        }
    }
    for file in found.blueprint.files() {
        let asked_by = AskedBy::whole(&found.file);
        let read = if file.optional || lenient {
            workspace.file(&file.file).map_err(|error| match error {
                WorkspaceError::BadPath { given, reason, asked_by: None } => {
                    let asked_by = Some(asked_by.clone());
                    WorkspaceError::BadPath { given, reason, asked_by }
                }
                error => error,
            })?
        } else {
            Some(workspace.required_file(&file.file, &asked_by)?)
        };
        let Some(read) = read else { continue };
        context.files.insert(file.file.clone(), workspace.document(read));
    }
    context.name_skills();
    if let Some(runner) = request.runner {
        add_standing_tools(&mut context, agent, runner);
    }
    Ok(Base {
        context,
        blueprint: found.blueprint,
        blueprint_file: found.file,
        warnings: summed(warnings),
        config: config.clone(),
        agent: agent.cloned(),
        missing: layers.missing,
        refused_endpoint: embedders::without_consent(workspace)?,
        used_files: workspace.used_files(),
        local_skills,
        tool_sources: Arc::new(sources),
        root: workspace.root().canonicalize().unwrap_or_else(|_| workspace.root().to_path_buf()),
    })
}

impl Base {
    /// The embedder to use: the table in the program where the workspace names an endpoint that the
    /// person did not agree to. The person's own endpoint needs no consent.
    pub(crate) fn embedder(&self, request: &Request) -> (EmbedderSettings, Option<Warning>) {
        match &self.refused_endpoint {
            Some(url) if request.embeddings.url.is_none() => {
                let url = url.clone();
                (EmbedderSettings::default(), Some(Warning::EndpointNotTrusted { url }))
            }
            _ => (self.config.embedder.clone(), None),
        }
    }

    /// Adds what a request says, and the facts of the machine.
    pub(crate) fn for_request(&self, request: &Request) -> Result<Gathered, GatherError> {
        let (config, agent) = (&self.config, self.agent.as_ref());
        let mut context = Context {
            model: agent
                .and_then(|agent| agent.model.as_ref())
                .or(config.model.name.as_ref())
                .map(Line::new),
            channel: Line::new(
                agent.and_then(|agent| agent.channel.as_ref()).unwrap_or(&config.channel),
            ),
            profile: Some(config.profile),
            taint_threshold: default_threshold(config, request),
            context_window: config.limits.context_window as u64,
            output_reserve: config.limits.output_reserve as u64,
            max_prompt_tokens: config.limits.max_prompt_tokens.map(|n| n as u64),
            mode: agent.and_then(|agent| agent.mode).unwrap_or_default(),
            prompt_mode: agent.and_then(|agent| agent.prompt_mode).unwrap_or_default(),
            ..self.context.clone()
        };
        if let Some(agent_type) = &config.agent_type {
            context.agent_type = Line::new(agent_type).into();
        }
        if let Some(sandbox_type) = &config.sandbox_type {
            context.sandbox_type = Line::new(sandbox_type).into();
        }
        request.apply(&mut context);
        context.task = document_within(&context.task, "the task", config.assembly.max_task_tokens);
        let mut warnings = self.warnings.clone();
        if request.neutral {
            context.now = None;
        } else {
            warnings.extend(self.add_machine_facts(request, &mut context));
        }
        context.validate()?;
        Ok(Gathered {
            context,
            blueprint: self.blueprint.clone(),
            blueprint_file: self.blueprint_file.clone(),
            warnings,
            used_files: self.used_files.clone(),
            local_skills: self.local_skills.clone(),
            tool_sources: Arc::clone(&self.tool_sources),
        })
    }

    /// What differs between machines: directory, operating system, branch.
    fn add_machine_facts(&self, request: &Request, context: &mut Context) -> Option<Warning> {
        context.workspace = Some(Line::new(self.root.to_string_lossy()));
        let assembly = &self.config.assembly;
        if assembly.include_env {
            let cwd = request.cwd.as_ref().unwrap_or(&self.root);
            context.env = Some(Env {
                cwd: Line::new(cwd.to_string_lossy()),
                os: Line::new(std::env::consts::OS),
            });
        }
        if !assembly.include_git {
            return None;
        }
        let GitFacts { branch, changes, problem } = GitFacts::around(&self.root);
        context.git =
            branch.map(|branch| Git { branch: Line::new(branch), summary: Line::new(changes) });
        problem.map(|problem| Warning::Git { problem })
    }
}

/// The agent that foreword.toml names.
fn default_agent(workspace: &Workspace, id: &str) -> Result<Agent, GatherError> {
    workspace.agent(id).map_err(|error| match error {
        WorkspaceError::UnknownAgent { .. } => GatherError::DefaultAgent {
            asked_by: workspace.config_asked_by(&["agent"]),
            source: Box::new(error),
        },
        error => error.into(),
    })
}

/// A default never loosens a workspace that is set to another profile than the usual one.
fn default_threshold(config: &Config, request: &Request) -> Option<f64> {
    let usual = config.profile == Profile::Balanced;
    request.default_taint_threshold.filter(|_| usual && request.profile.is_none())
}

/// The agent's own files, and what the workspace is about.
fn gather_identity(
    workspace: &Workspace,
    agent: Option<&Agent>,
    user_id: Option<&String>,
    request: &Request,
    layers: &Layers,
) -> Result<(IdentityFiles, Documents), GatherError> {
    let mut identity = workspace.identity_files(agent, user_id.map(String::as_str))?;
    let mut instructions = workspace.instructions(request.cwd.as_deref())?;
    // Without an agent of its own, a workspace's AGENTS.md is what tells the agent who it is.
    if identity.agent.is_blank()
        && layers.persona.is_blank()
        && agent.is_none()
        && !instructions.is_empty()
    {
        identity.agents = workspace.document(instructions.remove(0));
    }
    let instructions = instructions.into_iter().map(|file| workspace.document(file));
    let context = instructions.chain(workspace.context_file(agent)?).collect();
    Ok((identity, Documents(context)))
}
