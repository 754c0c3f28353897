//! A backend over the real parts that need no host: prompts of a workspace, and its skills.
//!
//! Beside them stand the few fixtures of the conformance suite that a backend can express, so that
//! the suite meets our way of answering.
#![allow(clippy::needless_pass_by_value, reason = "errors are mapped")]

use std::path::{Path, PathBuf};

use foreword_gather::{Gathered, Request, gather};
use foreword_mcp::{Backend, PromptInfo, SkillInfo, ToolInfo};
use foreword_protocol::{ErrorCode, Failure};
use foreword_skills::{ReadOnlyStore, SkillError, SkillStore as _};
use foreword_workspace::Workspace;
use serde_json::{Value, json};

/// A workspace, and the fixtures.
pub(crate) struct Parts {
    root: PathBuf,
}

impl Parts {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    fn store(&self) -> Result<ReadOnlyStore, Failure> {
        Ok(ReadOnlyStore::new(self.workspace()?))
    }

    fn workspace(&self) -> Result<Workspace, Failure> {
        Workspace::open(&self.root).map_err(failure)
    }

    fn gathered(&self, agent: Option<&str>, task: Option<&str>) -> Result<Gathered, Failure> {
        let request = Request {
            agent: agent.map(str::to_owned),
            task: task.map(str::to_owned),
            ..Request::default()
        };
        let known = self.workspace()?.agent_ids().map_err(failure)?;
        if agent.is_some_and(|agent| !known.iter().any(|id| id == agent)) {
            return Err(Failure::new(ErrorCode::NotFound, "there is no such agent"));
        }
        gather(&self.root, &request).map_err(failure)
    }
}

fn failure(error: impl std::fmt::Display) -> Failure {
    Failure::new(ErrorCode::Internal, error.to_string())
}

fn missing(error: SkillError) -> Failure {
    let code = match error {
        SkillError::NoSuchSkill { .. } => ErrorCode::NotFound,
        _ => ErrorCode::Internal,
    };
    Failure::new(code, error.to_string())
}

impl Backend for Parts {
    fn tools(&self) -> Vec<ToolInfo> {
        let read = |name: &str, description: &str, input_schema: Value| ToolInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema,
            read_only: true,
            sensitive: false,
        };
        let build = json!({
            "type": "object",
            "properties": {"agent": {"type": "string"}, "task": {"type": "string"}},
            "additionalProperties": false,
        });
        let nothing = json!({"type": "object", "properties": {}, "additionalProperties": false});
        vec![
            read("prompt_build", "Build the prompt of an agent.", build.clone()),
            read("prompt_explain", "Explain the prompt of an agent.", build),
            read("skill_list", "List the available skills.", nothing.clone()),
            read("test_simple_text", "Answer with a text.", nothing.clone()),
            read("test_error_handling", "Always fail.", nothing.clone()),
            read("test_slow", "Answer after a while.", nothing),
            read(
                "json_schema_2020_12_tool",
                "Take an address.",
                json!({
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "type": "object",
                    "$defs": {"address": {
                        "type": "object",
                        "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
                    }},
                    "properties": {
                        "name": {"type": "string"},
                        "address": {"$ref": "#/$defs/address"},
                    },
                    "additionalProperties": false,
                }),
            ),
        ]
    }

    fn call(&self, name: &str, args: Value) -> Result<Value, Failure> {
        let arg = |name: &str| args.get(name).and_then(Value::as_str);
        match name {
            "prompt_build" => {
                let gathered = self.gathered(arg("agent"), arg("task"))?;
                let prompt = gathered.blueprint.build(&gathered.context);
                Ok(json!({"text": prompt.text(), "tokens": prompt.tokens()}))
            }
            "prompt_explain" => {
                let gathered = self.gathered(arg("agent"), arg("task"))?;
                let prompt = gathered.blueprint.build(&gathered.context);
                serde_json::to_value(prompt.manifest().sections).map_err(failure)
            }
            "skill_list" => {
                let skills = self.store()?.list().map_err(missing)?;
                Ok(json!({"skills": skills}))
            }
            "test_simple_text" => Ok(json!("This is a simple text response for testing.")),
            "test_slow" => {
                std::thread::sleep(std::time::Duration::from_millis(60));
                Ok(json!({"slow": true}))
            }
            "json_schema_2020_12_tool" => Ok(args),
            _ => Err(Failure::new(ErrorCode::Refused, "this tool always fails")),
        }
    }

    fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
        let skills = self.store()?.list().map_err(missing)?.into_iter();
        Ok(skills
            .map(|skill| SkillInfo {
                name: skill.name,
                description: skill.description.unwrap_or_default(),
            })
            .collect())
    }

    fn skill(&self, name: &str) -> Result<String, Failure> {
        Ok(self.store()?.read(name).map_err(missing)?.content)
    }

    fn prompts(&self) -> Result<Vec<PromptInfo>, Failure> {
        let agents = self.workspace()?.agents().map_err(failure)?.into_iter();
        let mut prompts: Vec<PromptInfo> = agents
            .map(|agent| PromptInfo {
                name: agent.id,
                description: agent.description.unwrap_or_default(),
            })
            .collect();
        let description = String::new();
        prompts.push(PromptInfo { name: "test_simple_prompt".to_owned(), description });
        Ok(prompts)
    }

    fn prompt(&self, name: &str, task: Option<&str>) -> Result<String, Failure> {
        if name == "test_simple_prompt" {
            return Ok("This is a simple prompt for testing.".to_owned());
        }
        let gathered = self.gathered(Some(name), task)?;
        Ok(gathered.blueprint.build(&gathered.context).text().to_owned())
    }
}
