//! The native half of the npm package: the methods of `foreword-serve` for JavaScript.
//!
//! Values travel as JSON text, which V8 writes and reads faster than an addon can walk its objects, and
//! which cannot contain a cycle. A failure, a panic included, becomes an exception whose message is the
//! JSON of a `Failure`; `index.cjs` turns it into a `ForewordError`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use foreword::{Side, diff};
use foreword_serve::{Compiled, Failure, Format, PromptParams, Service as Inner};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use serde_json::Value;

/// Runs work. A failure becomes an exception, and so does a panic: a bug of ours must not end the process
/// of somebody else.
fn guarded<T>(work: impl FnOnce() -> std::result::Result<T, Failure>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(exception(&failure)),
        Err(panic) => Err(exception(&panicked(&*panic))),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Failure::internal(format!("internal error: {said}"))
        .hint("this is a bug in Foreword; please report it with the call that caused it")
}

fn exception(failure: &Failure) -> Error {
    let json = serde_json::to_string(failure).unwrap_or_else(|error| error.to_string());
    Error::new(Status::GenericFailure, json)
}

fn parsed(json: &str) -> std::result::Result<Value, Failure> {
    serde_json::from_str(json)
        .map_err(|error| Failure::usage(format!("invalid parameters: {error}")))
}

fn compiled(service: &Inner, params: &str) -> std::result::Result<Compiled, Failure> {
    service.compile(PromptParams::from_json(parsed(params)?)?)
}

fn answered(service: &Inner, method: &str, params: &str) -> std::result::Result<String, Failure> {
    Ok(service.call(method, parsed(params)?)?.to_string())
}

/// Answers methods, and keeps between them what is expensive to make.
#[napi]
pub struct Service(Arc<Inner>);

#[napi]
impl Service {
    /// A service for a workspace, or for any.
    #[napi(constructor)]
    pub fn new(workspace: Option<String>) -> Self {
        Self(Arc::new(Inner::new(workspace.map(Into::into))))
    }

    /// Compiles a prompt.
    #[napi]
    pub fn build(&self, params: String) -> Result<Prompt> {
        guarded(|| compiled(&self.0, &params)).map(Prompt)
    }

    /// The same on a thread of the pool.
    #[napi]
    pub fn build_async(&self, params: String) -> AsyncTask<BuildTask> {
        AsyncTask::new(BuildTask { service: Arc::clone(&self.0), params })
    }

    /// Answers one method of `foreword serve`.
    #[napi]
    pub fn call(&self, method: String, params: String) -> Result<String> {
        guarded(|| answered(&self.0, &method, &params))
    }

    /// The same on a thread of the pool.
    #[napi]
    pub fn call_async(&self, method: String, params: String) -> AsyncTask<CallTask> {
        AsyncTask::new(CallTask { service: Arc::clone(&self.0), method, params })
    }
}

/// A prompt to compile on a thread of the pool.
pub struct BuildTask {
    service: Arc<Inner>,
    params: String,
}

impl Task for BuildTask {
    type Output = Compiled;
    type JsValue = Prompt;

    fn compute(&mut self) -> Result<Compiled> {
        guarded(|| compiled(&self.service, &self.params))
    }

    fn resolve(&mut self, _: Env, output: Compiled) -> Result<Prompt> {
        Ok(Prompt(output))
    }
}

/// A method to answer on a thread of the pool.
pub struct CallTask {
    service: Arc<Inner>,
    method: String,
    params: String,
}

impl Task for CallTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> Result<String> {
        guarded(|| answered(&self.service, &self.method, &self.params))
    }

    fn resolve(&mut self, _: Env, output: String) -> Result<String> {
        Ok(output)
    }
}

/// A compiled prompt.
#[napi]
pub struct Prompt(Compiled);

#[napi]
impl Prompt {
    /// System prompt and turn context as one text.
    #[napi(getter)]
    pub fn text(&self) -> &str {
        self.0.prompt.text()
    }

    /// The system prompt.
    #[napi(getter)]
    pub fn system(&self) -> &str {
        self.0.prompt.system()
    }

    /// The part of the system prompt that changes only when a file changes.
    #[napi(getter)]
    pub fn stable(&self) -> &str {
        self.0.prompt.system_at_cache_boundary().0
    }

    /// What belongs in front of the newest user message.
    #[napi(getter)]
    pub fn turn_context(&self) -> &str {
        self.0.prompt.turn_context()
    }

    /// Tokens of the whole text.
    #[napi(getter)]
    pub fn tokens(&self) -> u32 {
        self.0.prompt.tokens()
    }

    /// Digest of the whole text.
    #[napi(getter)]
    pub fn digest(&self) -> String {
        self.0.prompt.digest()
    }

    /// The name of the blueprint.
    #[napi(getter)]
    pub fn blueprint(&self) -> &str {
        &self.0.blueprint
    }

    /// What the caller should know about how the prompt was gathered.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// Whether the prompt exceeds what is available.
    #[napi(getter)]
    pub fn over_budget(&self) -> bool {
        self.0.prompt.is_over_budget()
    }

    /// The manifest as JSON.
    #[napi]
    pub fn manifest(&self) -> Result<String> {
        guarded(|| Ok(self.0.manifest()?.to_string()))
    }

    /// The text that a module wrote.
    #[napi]
    pub fn section(&self, module: String) -> Option<&str> {
        self.0.prompt.section(&module)
    }

    /// The fields of a request to a provider, as JSON.
    #[napi]
    pub fn request(&self, format: String) -> Result<String> {
        guarded(|| {
            let format = match format.as_str() {
                "anthropic" => Format::Anthropic,
                "openai" => Format::Openai,
                "responses" => Format::Responses,
                "gemini" => Format::Gemini,
                _ => return Err(Failure::usage(format!("unknown format `{format}`"))),
            };
            Ok(self.0.request(format).to_string())
        })
    }

    /// How another prompt differs from this one, as JSON.
    #[napi]
    pub fn diff(&self, other: &Prompt) -> Result<String> {
        guarded(|| {
            let found = diff(&Side::of(&self.0.prompt), &Side::of(&other.0.prompt));
            Ok(serde_json::to_string(&found)?)
        })
    }
}

/// Tells where the table of embeddings is, in a package that has it as a file.
#[napi]
pub fn set_table_file(path: String) {
    #[cfg(feature = "packaged")]
    foreword_embed::set_table_file(path);
    #[cfg(not(feature = "packaged"))]
    drop(path);
}

/// Fails as a bug would, so that tests can show what becomes of one.
#[napi]
pub fn panic_for_test() -> Result<()> {
    #[expect(clippy::panic, reason = "tests ask for it")]
    guarded(|| panic!("asked for by a test"))
}
