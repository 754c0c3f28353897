//! `build`, `explain` and `diff`: from parameters to a Context, its blueprint and the prompt.

use std::path::PathBuf;
use std::time::Instant;

use foreword::{
    Authority, Blueprint, Context, Difference, Hints, Line, Manifest, ModeChoice, Profile, Prompt,
    PromptMode, RuntimeContext, Side, Timestamp, TokenCounter, Volatility, diff,
};
use foreword_gather::{Gathered, Request, blueprint_by_name};
use foreword_host::log_prompt;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context_fields::read_context;
use crate::environment;
use crate::failure::Failure;
use crate::options::{AnyMode, Format, Tokenizer};
use crate::provider_request::{AnthropicRequest, ChatRequest, GeminiRequest, ResponsesRequest};
use crate::service::{Compiled, Service, read};

/// A prompt to build: a complete `context`, or a `workspace` and facts of the session. Next to a
/// `context`, the other fields override it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PromptParams {
    /// A complete Context. No file is read.
    #[schemars(with = "Option<Context>")]
    pub context: Option<Value>,
    /// The directory of the workspace.
    pub workspace: Option<PathBuf>,
    /// The agent: a folder in agents/.
    pub agent: Option<String>,
    /// The blueprint: standard, guarded, semantic, roles, companion, or a .toml file.
    pub blueprint: Option<String>,
    /// The task to build the prompt for.
    pub task: Option<String>,
    /// The work mode (plan, act, review, auto) or the prompt size (full, minimal, none).
    pub mode: Option<AnyMode>,
    /// The prompt size.
    pub prompt_mode: Option<PromptMode>,
    /// What the caller knows that helps to infer the mode.
    pub hints: Hints,
    /// Whether the agent may stay silent when it is not addressed.
    pub reply_gate: Option<bool>,
    /// The user whose USER.md to include.
    pub user_id: Option<String>,
    /// The session, whose memories no other session sees.
    pub session: Option<String>,
    /// The model that reads the prompt.
    pub model: Option<String>,
    /// The channel of the conversation.
    pub channel: Option<String>,
    /// The loop that runs the agent.
    pub agent_type: Option<String>,
    /// The security profile.
    pub profile: Option<Profile>,
    /// The sandbox the agent runs in.
    pub sandbox_type: Option<String>,
    /// The share of the session's tokens that came from external content, 0 to 1.
    pub taint_ratio: Option<f64>,
    /// The taint ratio above which sensitive actions are refused, 0 to 1.
    pub taint_threshold: Option<f64>,
    /// The context window of the model, in tokens.
    pub context_window: Option<u64>,
    /// The size of the conversation so far, in tokens.
    pub history_tokens: Option<u64>,
    /// Tokens to reserve for tool schemas and the current message.
    pub reserved_tokens: Option<u64>,
    /// Tokens to reserve for the answer.
    pub output_reserve: Option<u64>,
    /// The maximum size of the prompt, in tokens.
    pub max_prompt_tokens: Option<u64>,
    /// A token that must never appear in output.
    pub canary: Option<String>,
    /// How the agent was started.
    pub runtime_context: Option<RuntimeContext>,
    /// The current time in RFC 3339; the system clock where absent, for workspaces.
    pub now: Option<Timestamp>,
    /// The working directory of the agent.
    pub cwd: Option<PathBuf>,
    /// For `build`: the form of the answer.
    pub format: Format,
    /// How tokens are counted.
    pub tokenizer: Tokenizer,
    /// For `explain`: one byte of the prompt.
    pub at: Option<usize>,
}

impl PromptParams {
    /// Reads parameters as a request gives them.
    pub fn from_json(params: Value) -> Result<Self, Failure> {
        read(params)
    }

    /// The Context and blueprint that the parameters ask for.
    pub(crate) fn gather(self, service: &Service) -> Result<Gathered, Failure> {
        let workspace = self.workspace.clone();
        let mut params = self;
        if let Some(context) = params.context.take() {
            let context = read_context(context)?;
            return with_context(context, &params.request(Request::default())?);
        }
        let mut request = params.request(environment::user_request()?)?;
        request.now = request.now.or_else(|| Some(environment::clock()));
        let root = service.root(workspace.as_deref())?;
        Ok(service.assembler(&root).assemble(&request)?)
    }

    fn request(self, rest: Request) -> Result<Request, Failure> {
        let given = [self.mode, self.prompt_mode.map(AnyMode::Prompt)];
        let (mode, prompt_mode) = modes(given.into_iter().flatten())?;
        Ok(Request {
            agent: self.agent,
            blueprint: self.blueprint,
            task: self.task,
            mode,
            prompt_mode,
            hints: self.hints,
            reply_gate: self.reply_gate,
            user_id: self.user_id,
            session: self.session,
            model: self.model,
            channel: self.channel,
            agent_type: self.agent_type,
            profile: self.profile,
            sandbox_type: self.sandbox_type,
            taint_ratio: self.taint_ratio,
            taint_threshold: self.taint_threshold,
            context_window: self.context_window,
            history_tokens: self.history_tokens,
            reserved_tokens: self.reserved_tokens,
            output_reserve: self.output_reserve,
            max_prompt_tokens: self.max_prompt_tokens,
            canary: self.canary,
            runtime_context: self.runtime_context,
            now: self.now,
            cwd: self.cwd,
            ..rest
        })
    }
}

/// Two prompts to compare: each a prompt to build, or a saved answer of `build`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffParams {
    /// The first prompt.
    #[schemars(with = "DiffSide")]
    a: Value,
    /// The second prompt.
    #[schemars(with = "DiffSide")]
    b: Value,
}

/// One of two prompts.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum DiffSide {
    /// A prompt to build.
    Prompt(Box<PromptParams>),
    /// A saved answer of `build`.
    Saved(serde_json::Map<String, Value>),
}

/// The manifest, with what the caller should know about how the prompt was gathered.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BuiltPrompt<'p> {
    #[serde(flatten)]
    manifest: Manifest<'p>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'p [String],
}

/// The answer of `build`: the manifest for `text`, or the fields of a provider's request.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum BuildAnswer<'p> {
    Prompt(Box<BuiltPrompt<'p>>),
    Anthropic(AnthropicRequest<'p>),
    Openai(ChatRequest<'p>),
    Responses(ResponsesRequest<'p>),
    Gemini(GeminiRequest<'p>),
}

/// The answer of `explain`: the manifest without texts, or the origin of a byte.
pub(crate) struct ExplainAnswer;

impl JsonSchema for ExplainAnswer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExplainAnswer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut account = BuiltPrompt::<'static>::json_schema(generator);
        for part in ["properties", "required"] {
            match account.get_mut(part) {
                Some(Value::Object(fields)) => fields.retain(|name, _| !TEXTS.contains(&&**name)),
                Some(Value::Array(names)) => {
                    names.retain(|name| !name.as_str().is_some_and(|name| TEXTS.contains(&name)));
                }
                _ => {}
            }
        }
        let byte = generator.subschema_for::<ByteOrigin<'static>>();
        schemars::json_schema!({"anyOf": [account, byte]})
    }
}

/// The fields of a manifest that hold the text of the prompt.
const TEXTS: [&str; 3] = ["content", "system", "turnContext"];

/// Where one byte of a prompt comes from.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ByteOrigin<'p> {
    /// The byte.
    pub byte: usize,
    /// The module that wrote it; none between two sections.
    pub section: Option<&'p str>,
    /// How far it is trusted.
    pub authority: Option<Authority>,
    /// How often it changes.
    pub volatility: Option<Volatility>,
    /// The file it came from.
    pub source: Option<&'p str>,
    /// The line in that file.
    pub line: Option<usize>,
}

pub(crate) fn build(service: &Service, params: PromptParams) -> Result<Value, Failure> {
    let format = params.format;
    let compiled = service.compile(params)?;
    if format != Format::Text {
        // Nothing may stand beside the fields that the provider knows.
        return Ok(compiled.request(format));
    }
    compiled.manifest()
}

pub(crate) fn explain(service: &Service, params: PromptParams) -> Result<Value, Failure> {
    let at = params.at;
    let compiled = service.compile(params)?;
    match at {
        Some(at) => Ok(serde_json::to_value(byte_origin(&compiled.prompt.manifest(), at)?)?),
        None => Ok(without_text(compiled.manifest()?)),
    }
}

pub(crate) fn difference(service: &Service, sides: DiffParams) -> Result<Difference, Failure> {
    Ok(diff(&side(service, sides.a)?, &side(service, sides.b)?))
}

fn side(service: &Service, given: Value) -> Result<Side, Failure> {
    if given.get("sections").is_some() {
        return Side::from_saved(&given.to_string())
            .map_err(|error| Failure::usage(error.to_string()));
    }
    Ok(Side::of(&service.compile(read(given)?)?.prompt))
}

impl Compiled {
    /// The manifest as JSON, with digests, the build time and warnings.
    pub fn manifest(&self) -> Result<Value, Failure> {
        let manifest = manifest(&self.prompt, self.build_time_ms);
        Ok(serde_json::to_value(BuiltPrompt { manifest, warnings: &self.warnings })?)
    }

    /// The fields of a request to a provider.
    #[must_use]
    pub fn request(&self, format: Format) -> Value {
        format.body(&self.prompt, &self.task)
    }
}

/// Compiles a prompt and measures the time.
pub fn compile(gathered: &Gathered, counter: Option<&dyn TokenCounter>) -> (Prompt, f64) {
    let start = Instant::now();
    let prompt = match counter {
        Some(counter) => gathered.blueprint.build_counted(&gathered.context, counter),
        None => gathered.blueprint.build(&gathered.context),
    };
    let build_time_ms = start.elapsed().as_secs_f64() * 1000.0;
    log_prompt(gathered.blueprint.name(), &gathered.context, &prompt, build_time_ms);
    (prompt, build_time_ms)
}

/// The manifest with digests and the measured time.
pub fn manifest(prompt: &Prompt, build_time_ms: f64) -> Manifest<'_> {
    let mut manifest = prompt.manifest_with_digests();
    manifest.metadata.build_time_ms = (build_time_ms * 10_000.0).round() / 10_000.0;
    manifest
}

/// A manifest without the text of the prompt.
#[must_use]
pub fn without_text(mut manifest: Value) -> Value {
    if let Some(object) = manifest.as_object_mut() {
        for field in TEXTS {
            object.remove(field);
        }
    }
    manifest
}

/// Where one byte of a prompt comes from.
pub fn byte_origin<'p>(manifest: &Manifest<'p>, at: usize) -> Result<ByteOrigin<'p>, Failure> {
    if at >= manifest.content.len() {
        return Err(Failure::usage(format!(
            "byte {at} is past the end of the prompt, which has {} bytes",
            manifest.content.len()
        )));
    }
    let holds = |range: &[usize; 2]| (range[0]..range[1]).contains(&at);
    let section = manifest.sections.iter().find(|section| holds(&section.range));
    let source =
        section.and_then(|section| section.sources.iter().find(|source| holds(&source.range)));
    let line = source.map(|source| {
        let before = manifest.content.as_bytes().get(source.range[0]..at).unwrap_or_default();
        source.lines[0] as usize + before.iter().filter(|b| **b == b'\n').count()
    });
    Ok(ByteOrigin {
        byte: at,
        section: section.map(|section| section.module),
        authority: section.map(|section| section.authority),
        volatility: section.map(|section| section.volatility),
        source: source.map(|source| source.path),
        line,
    })
}

/// The exact counter, if requested. It loads its vocabulary at the first count.
pub fn counter(tokenizer: Tokenizer) -> Result<Option<Box<dyn TokenCounter>>, Failure> {
    let Some(name) = tokenizer.exact_name() else { return Ok(None) };
    foreword::exact_counter(name).map(Some).map_err(|error| Failure::usage(error.to_string()))
}

/// Splits modes by kind.
pub fn modes(
    given: impl IntoIterator<Item = AnyMode>,
) -> Result<(Option<ModeChoice>, Option<PromptMode>), Failure> {
    let (mut mode, mut prompt_mode) = (None, None);
    for any in given {
        let twice = match any {
            AnyMode::Mode(choice) => mode.replace(choice).is_some(),
            AnyMode::Prompt(choice) => prompt_mode.replace(choice).is_some(),
        };
        if twice {
            return Err(Failure::usage("`--mode` sets the same kind of mode twice").hint(
                "pass at most one of plan, act, review, auto and one of full, minimal, none",
            ));
        }
    }
    Ok((mode, prompt_mode))
}

/// A complete Context, overridden by the request.
pub fn with_context(mut context: Context, request: &Request) -> Result<Gathered, Failure> {
    request.apply(&mut context);
    if let Some(agent) = &request.agent {
        context.agent_id = Some(Line::new(agent));
    }
    context.validate()?;
    let name = request.blueprint.as_deref().unwrap_or("standard");
    let blueprint = blueprint_by_name(name)?;
    check_files(&context, &blueprint)?;
    Ok(Gathered {
        context,
        blueprint,
        blueprint_file: name.to_owned(),
        warnings: Vec::new(),
        used_files: Default::default(),
        local_skills: Default::default(),
        tool_sources: Default::default(),
    })
}

/// No file is read beside a Context, so it has to hold the text of file-backed modules.
fn check_files(context: &Context, blueprint: &Blueprint) -> Result<(), Failure> {
    for file in blueprint.files() {
        if !file.optional && !context.files.contains_key(&file.file) {
            let example = json!({"files": {file.file.as_str(): "…"}});
            return Err(Failure::usage(format!(
                "module `{}` of blueprint `{}` needs the file {}, which the Context does not contain",
                file.module,
                blueprint.name(),
                file.file
            ))
            .hint(format!("add its text to the Context: {example}")));
        }
    }
    Ok(())
}
