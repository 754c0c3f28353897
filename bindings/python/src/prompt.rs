//! A compiled prompt as a Python object.

use std::fmt::Write as _;
use std::sync::Arc;

use foreword::{Side, diff};
use foreword_serve::{Compiled, Format};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::failure::guarded;
use crate::to_python::{to_python, to_python_as_is};

/// A compiled prompt. It never changes.
#[pyclass(frozen, module = "foreword", name = "Prompt", weakref)]
pub(crate) struct Prompt {
    compiled: Arc<Compiled>,
    manifest: PyOnceLock<Py<PyAny>>,
}

impl Prompt {
    pub(crate) fn new(compiled: Compiled) -> Self {
        Self { compiled: Arc::new(compiled), manifest: PyOnceLock::new() }
    }

    fn request<'py>(&self, py: Python<'py>, format: Format) -> PyResult<Bound<'py, PyAny>> {
        let body = guarded(py, || Ok(self.compiled.request(format)))?;
        to_python_as_is(py, &body)
    }

    fn whole<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let made = self.manifest.get_or_try_init(py, || {
            let manifest = guarded(py, || self.compiled.manifest())?;
            to_python(py, &manifest).map(Bound::unbind)
        })?;
        Ok(made.bind(py).clone())
    }
}

#[pymethods]
impl Prompt {
    /// System prompt and turn context as one text.
    #[getter]
    fn text(&self) -> &str {
        self.compiled.prompt.text()
    }

    /// The system prompt: the same bytes all through a session.
    #[getter]
    fn system(&self) -> &str {
        self.compiled.prompt.system()
    }

    /// The part of the system prompt that changes only when a file changes.
    #[getter]
    fn stable(&self) -> &str {
        self.compiled.prompt.system_at_cache_boundary().0
    }

    /// What belongs in front of the newest user message; empty where the blueprint has no turn context.
    #[getter]
    fn turn_context(&self) -> &str {
        self.compiled.prompt.turn_context()
    }

    /// Tokens of the whole text.
    #[getter]
    fn tokens(&self) -> u32 {
        self.compiled.prompt.tokens()
    }

    /// Digest of the whole text.
    #[getter]
    fn digest(&self) -> String {
        self.compiled.prompt.digest()
    }

    /// The name of the blueprint.
    #[getter]
    fn blueprint(&self) -> &str {
        &self.compiled.blueprint
    }

    /// What the caller should know about how the prompt was gathered.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.compiled.warnings.clone()
    }

    /// Whether the prompt exceeds what is available, though everything optional was left out.
    #[getter]
    fn over_budget(&self) -> bool {
        self.compiled.prompt.is_over_budget()
    }

    /// Bytes from the start that change only when a file changes.
    #[getter]
    fn stable_prefix_bytes(&self) -> usize {
        self.compiled.prompt.stable_prefix_bytes()
    }

    /// The whole account: sections with their sources, what was left out and why, digests.
    #[getter]
    fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py)
    }

    /// The sections of the prompt, in order.
    #[getter]
    fn sections<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.whole(py)?.cast::<PyDict>()?.as_any().get_item("sections")
    }

    /// The text that a module wrote, or None.
    fn section(&self, module: &str) -> Option<&str> {
        self.compiled.prompt.section(module)
    }

    /// `system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API.
    fn to_anthropic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.request(py, Format::Anthropic)
    }

    /// `messages` and `prompt_cache_key`, for OpenAI-compatible chat completions.
    fn to_openai<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.request(py, Format::Openai)
    }

    /// `instructions`, `input` and `prompt_cache_key`, for the OpenAI Responses API.
    fn to_responses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.request(py, Format::Responses)
    }

    /// `systemInstruction` and `contents`, for the Gemini API.
    fn to_gemini<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.request(py, Format::Gemini)
    }

    /// How another prompt differs from this one, and what is billed again.
    fn diff<'py>(&self, py: Python<'py>, other: &Self) -> PyResult<Bound<'py, PyAny>> {
        let (a, b) = (&self.compiled, &other.compiled);
        let found = guarded(py, || {
            let found = diff(&Side::of(&a.prompt), &Side::of(&b.prompt));
            Ok(serde_json::to_value(found)?)
        })?;
        to_python(py, &found)
    }

    fn __str__(&self) -> &str {
        self.text()
    }

    fn __len__(&self) -> usize {
        self.text().chars().count()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().text() == self.text())
    }

    fn __hash__(&self) -> u64 {
        let digest = self.compiled.prompt.digest();
        u64::from_str_radix(digest.get(7..22).unwrap_or_default(), 16).unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        let prompt = &self.compiled.prompt;
        let metadata = prompt.metadata();
        let mut out = format!(
            "<foreword.Prompt {}: {} tokens in {} sections",
            self.compiled.blueprint, metadata.estimated_tokens, metadata.module_count
        );
        if !prompt.omitted().is_empty() {
            let _ = write!(out, ", {} omitted", prompt.omitted().len());
        }
        if metadata.over_budget {
            out.push_str(", over budget");
        }
        out.push('>');
        out
    }

    /// A table of the sections, for notebooks.
    fn _repr_html_(&self) -> String {
        let manifest = self.compiled.prompt.manifest();
        let mut out = format!("<p><code>{}</code></p>", escaped(&self.__repr__()));
        out.push_str("<table><thead><tr>");
        for title in ["section", "authority", "volatility", "tokens", "source"] {
            let _ = write!(out, "<th>{title}</th>");
        }
        out.push_str("</tr></thead><tbody>");
        for section in &manifest.sections {
            let mut sources: Vec<&str> = section.sources.iter().map(|from| from.path).collect();
            sources.dedup();
            let _ = write!(
                out,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escaped(section.module),
                section.authority.as_str(),
                section.volatility.as_str(),
                section.tokens,
                escaped(&sources.join(", ")),
            );
        }
        let _ = write!(
            out,
            "</tbody></table><details><summary>text</summary><pre>{}</pre></details>",
            escaped(self.text())
        );
        out
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
