//! The server's side of the protocol: each request becomes one call of the backend.
#![expect(deprecated, reason = "clients of older revisions ask for logging")]

use std::sync::Arc;

use foreword_protocol::{ErrorCode, Failure};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, Resource, ResourceContents, ResourceTemplate, Role,
    ServerCapabilities, ServerConfig, SetLevelRequestParams, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;

use crate::backend::Backend;
use crate::instructions::instructions;
use crate::log::Log;
use crate::page::page;
use crate::skill_uri::{TEMPLATE, skill_of, skill_uri};
use crate::tool::{failed, result, tool};
use crate::work::Work;

const MARKDOWN: &str = "text/markdown";
/// The one argument of a prompt.
const TASK: &str = "task";
/// Names longer than this are not repeated in messages.
const MAX_NAME_CHARS: usize = 64;

type Context = RequestContext<RoleServer>;

/// A backend as an MCP server. Clones share everything.
#[derive(Clone)]
pub(crate) struct Handler {
    work: Arc<Work>,
    tools: Arc<Vec<Tool>>,
    instructions: Arc<String>,
    log: Arc<Log>,
}

impl Handler {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        let tools: Vec<Tool> = backend.tools().into_iter().map(tool).collect();
        let instructions = instructions(|name| tools.iter().any(|tool| tool.name == name));
        let (work, log) = (Arc::new(Work::new(backend)), Arc::new(Log::new()));
        Self { work, tools: Arc::new(tools), instructions: Arc::new(instructions), log }
    }

    async fn skill_names(&self, context: &Context) -> Result<Vec<String>, ErrorData> {
        let skills = self.work.run(&context.ct, |backend| backend.skills()).await;
        Ok(skills.map_err(broken)?.into_iter().map(|skill| skill.name).collect())
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        let server = Implementation::new("foreword", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(server.with_title("Foreword"))
            .with_instructions(self.instructions.as_str())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next_cursor) = page(self.tools.to_vec(), request, |tool| &tool.name)?;
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.into_owned();
        if !self.tools.iter().any(|tool| tool.name == name) {
            let message = format!("there is no tool `{}`", shown(&name));
            return Err(ErrorData::invalid_params(message, None));
        }
        let args = Value::Object(request.arguments.unwrap_or_default());
        let asked = name.clone();
        let done = self.work.run(&context.ct, move |backend| backend.call(&asked, args)).await;
        self.log.called(&name, done.as_ref().err(), &context).await;
        Ok(done.map_or_else(|failure| failed(&failure), result).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let skills = self.work.run(&context.ct, |backend| backend.skills()).await;
        let (skills, next_cursor) = page(skills.map_err(broken)?, request, |skill| &skill.name)?;
        let resources = skills.into_iter().map(|skill| {
            let mut resource =
                Resource::new(skill_uri(&skill.name), skill.name).with_mime_type(MARKDOWN);
            resource.description = some(skill.description);
            resource
        });
        let resources = ListResourcesResult::with_all_items(resources.collect());
        Ok(ListResourcesResult { next_cursor, ..resources })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(TEMPLATE, "skill")
            .with_title("Skill")
            .with_description("The text of a skill, by name.")
            .with_mime_type(MARKDOWN);
        let (templates, next_cursor) =
            page(vec![template], request, |template| &template.uri_template)?;
        let templates = ListResourceTemplatesResult::with_all_items(templates);
        Ok(ListResourceTemplatesResult { next_cursor, ..templates })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let missing = |message: String| {
            ErrorData::resource_not_found(message, Some(serde_json::json!({"uri": uri})))
        };
        let Some(name) = skill_of(&uri) else {
            return Err(missing(format!("there is no resource `{}`", shown(&uri))));
        };
        let text = self.work.run(&context.ct, move |backend| backend.skill(&name)).await;
        let text = text.map_err(|failure| match failure.code {
            ErrorCode::NotFound | ErrorCode::BadRequest => missing(failure.message),
            _ => broken(failure),
        })?;
        let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = self.work.run(&context.ct, |backend| backend.prompts()).await;
        let (prompts, next_cursor) =
            page(prompts.map_err(broken)?, request, |prompt| &prompt.name)?;
        let prompts = prompts.into_iter().map(|prompt| {
            let task = PromptArgument::new(TASK)
                .with_description(
                    "The agent's task; tools, skills and memories that match it are selected for the prompt.",
                )
                .with_required(false);
            let description = some(prompt.description)
                .unwrap_or_else(|| format!("The prompt of the agent `{}`.", prompt.name));
            Prompt::new(prompt.name, Some(description), Some(vec![task]))
        });
        let prompts = ListPromptsResult::with_all_items(prompts.collect());
        Ok(ListPromptsResult { next_cursor, ..prompts })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let task = task(request.arguments.unwrap_or_default())?;
        let name = request.name;
        let text =
            self.work.run(&context.ct, move |backend| backend.prompt(&name, task.as_deref()));
        let text = text.await.map_err(|failure| match failure.code {
            ErrorCode::NotFound | ErrorCode::BadRequest => {
                ErrorData::invalid_params(failure.message, None)
            }
            _ => broken(failure),
        })?;
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let mut names = match &request.r#ref {
            Reference::Resource(resource) if resource.uri == TEMPLATE => {
                self.skill_names(&context).await?
            }
            Reference::Resource(resource) => {
                let message = format!("there is no resource template `{}`", shown(&resource.uri));
                return Err(ErrorData::invalid_params(message, None));
            }
            // A task is free text.
            _ => Vec::new(),
        };
        names.retain(|name| name.starts_with(&request.argument.value));
        let total = u32::try_from(names.len()).ok();
        let more = names.len() > CompletionInfo::MAX_VALUES;
        names.truncate(CompletionInfo::MAX_VALUES);
        let values = CompletionInfo::with_pagination(names, total, more);
        Ok(CompleteResult::new(values.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    async fn set_level(&self, request: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        self.log.set(request.level);
        Ok(())
    }
}

/// The task among a prompt's arguments, of which there are no others.
fn task(arguments: rmcp::model::JsonObject) -> Result<Option<String>, ErrorData> {
    let mut task = None;
    for (name, value) in arguments {
        match value {
            Value::String(text) if name == TASK => task = Some(text),
            _ if name == TASK => {
                return Err(ErrorData::invalid_params("`task` must be a text", None));
            }
            _ => {
                let message = format!("a prompt takes `task` only, not `{}`", shown(&name));
                return Err(ErrorData::invalid_params(message, None));
            }
        }
    }
    Ok(task)
}

fn broken(failure: Failure) -> ErrorData {
    let code = serde_json::json!({"code": failure.code.as_str()});
    ErrorData::internal_error(failure.message, Some(code))
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn shown(name: &str) -> String {
    name.chars().take(MAX_NAME_CHARS).collect()
}
