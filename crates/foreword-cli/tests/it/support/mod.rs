//! What the end-to-end tests share: a scratch workspace, and a run of the built binary in it.
//!
//! Every run has an empty environment and an empty standard input, so that a test sees what a user on
//! a fresh machine sees. A run that panics fails its test, whatever the test is about.

#![allow(dead_code, reason = "each test file uses its own part of this")]

pub(crate) mod clerk;
#[cfg(unix)]
pub(crate) mod console;
pub(crate) mod generated;
pub(crate) mod host;

pub(crate) use foreword_testing::loopback_model as model;

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A time for runs whose output is compared.
pub(crate) const NOW: &str = "2026-02-26T14:30:00Z";

/// A directory made of `(path, text)` pairs, gone with the value, and a person's own settings beside it.
pub(crate) struct Scratch(TempDir, TempDir);

impl Scratch {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (path, text) in files {
            scratch.write(path, text);
        }
        scratch
    }

    /// A copy of a directory.
    pub(crate) fn copy_of(directory: &Path) -> Self {
        let scratch = Self::new(&[]);
        copy(directory, scratch.path());
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.join(path)).unwrap()
    }

    /// Runs `foreword` here, on this workspace.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Run {
        self.command(args).run()
    }

    /// A run on this workspace, to be told more before it starts.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Foreword {
        let mut run = Foreword::new(args).here(self.path());
        // Without a file that Foreword knows, a directory is a workspace only if it is named.
        let is_named = run.args.iter().any(|arg| arg == "-w" || arg == "--workspace");
        if !is_named && foreword_workspace::discover(self.path()).is_err() {
            run.args.splice(0..0, ["-w".into(), ".".into()]);
        }
        run.env("FOREWORD_CONFIG_DIR", self.config_dir())
    }

    /// Where the audit key is.
    pub(crate) fn config_dir(&self) -> PathBuf {
        self.1.path().join("foreword")
    }

    /// Trusts this workspace as it is. A server of it may be off.
    pub(crate) fn trust(&self) {
        let run = self.run(&["trust", "--yes", "--quiet"]);
        let is_trusted = match run.status {
            0 => run.stderr.is_empty(),
            status => {
                status == 1 && run.stderr.starts_with("error: workspace is trusted, but MCP server")
            }
        };
        assert!(is_trusted, "{}: {}", run.status, run.stderr);
    }

    /// Writes the person's own settings.
    pub(crate) fn write_settings(&self, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.config_dir()).unwrap();
        std::fs::write(self.config_dir().join("settings.toml"), text).unwrap();
    }

    /// Builds here at a fixed time and gives the manifest.
    pub(crate) fn build(&self, args: &[&str]) -> Value {
        self.run(&[&["build", "--json", "--now", NOW], args].concat()).ok().json()
    }

    /// The same, for the prompt alone.
    pub(crate) fn prompt(&self, args: &[&str]) -> String {
        self.run(&[&["build", "--now", NOW], args].concat()).ok().stdout
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A directory of `examples/`.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// The command, with nothing of this process's environment.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foreword"));
    // No home: what no test asked for must not land in the tester's own.
    command.env_clear().env("HOME", "/nonexistent").stdin(Stdio::null());
    command
}

/// One run, before it starts.
pub(crate) struct Foreword {
    args: Vec<OsString>,
    directory: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
}

impl Foreword {
    pub(crate) fn new<S: AsRef<OsStr>>(args: &[S]) -> Self {
        let args = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
        Self { args, directory: None, environment: Vec::new(), stdin: Vec::new() }
    }

    /// The current directory of the run.
    pub(crate) fn here(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = text.into();
        self
    }

    /// Starts the run and leaves it to the test; what it says is lost.
    pub(crate) fn spawn(self) -> std::process::Child {
        let mut command = command();
        command.args(&self.args).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command.spawn().unwrap()
    }

    /// Runs it with one pipe for all it says, in the order in which a terminal would show it.
    pub(crate) fn together(self) -> String {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = command();
        command.args(&self.args).stdout(writer.try_clone().unwrap()).stderr(writer);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        drop(command);
        let mut said = String::new();
        reader.read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        said
    }

    /// Runs it at a terminal, where a person types the given text; status, and all that the terminal
    /// showed. `None` where no program can make a terminal.
    pub(crate) fn at_terminal(self, typed: &str) -> Option<(i32, String)> {
        let script = Path::new("/usr/bin/script");
        if !script.exists() {
            foreword_testing::skip("script", "util-linux is not installed");
            return None;
        }
        let quoted = |arg: &OsStr| format!("'{}'", arg.to_str().unwrap().replace('\'', r"'\''"));
        let program = OsStr::new(env!("CARGO_BIN_EXE_foreword"));
        let line = [program].into_iter().chain(self.args.iter().map(OsString::as_os_str));
        let line = line.map(quoted).collect::<Vec<_>>().join(" ");
        let mut command = Command::new(script);
        command.args(["-qefc", &line, "/dev/null"]).env_clear().env("HOME", "/nonexistent");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Kept open until it ends: an end of input would be typed as well.
        let mut input = child.stdin.take().unwrap();
        input.write_all(typed.as_bytes()).unwrap();
        let mut shown = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut shown).unwrap();
        let status = child.wait().unwrap().code().unwrap_or(-1);
        drop(input);
        Some((status, String::from_utf8_lossy(&shown).into_owned()))
    }

    pub(crate) fn run(self) -> Run {
        let mut command = command();
        command.args(&self.args).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        if !self.stdin.is_empty() {
            command.stdin(Stdio::piped());
        }
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A child that ends before it has read everything is its own business.
                input.map(|mut input| input.write_all(&self.stdin))
            });
            child.wait_with_output().unwrap()
        });
        let run = Run {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(run.status >= 0, "killed by a signal: {:?}: {}", self.args, run.stderr);
        assert!(!run.stderr.contains("panicked"), "{:?}: {}", self.args, run.stderr);
        run
    }
}

/// What a run gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The run, which went well and had nothing to say beside its result.
    ///
    /// That there is no index is said of every workspace that was just made, and is none of its faults; what
    /// a small budget shortened is for the test to look at in the result.
    pub(crate) fn ok(self) -> Self {
        let beside = ["there is no index: ", "section ", "file ", "skill ", "history "];
        let is_beside = |line: &&str| {
            let warning = line.strip_prefix("warning: ");
            warning.is_some_and(|line| beside.iter().any(|start| line.starts_with(start)))
        };
        let said: Vec<&str> = self.stderr.lines().filter(|line| !is_beside(line)).collect();
        assert_eq!((self.status, said.join("\n")), (0, String::new()), "{}", self.stdout);
        self
    }

    /// Standard error of a run that ended with this code and gave no result but that a turn failed.
    pub(crate) fn fails(&self, status: i32) -> &str {
        let told: Value = serde_json::from_str(&self.stdout).unwrap_or_default();
        let stdout = if told["state"] == "failed" { "" } else { self.stdout.as_str() };
        assert_eq!((self.status, stdout), (status, ""), "{}", self.stderr);
        assert!(self.stderr.starts_with("error: "), "{}", self.stderr);
        &self.stderr
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// The strings of an array.
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

/// The keys of an object, sorted, without the version of its schema, which `json_version.rs` checks.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.retain(|key| *key != "schemaVersion");
    keys.sort_unstable();
    keys
}

/// The section a module wrote, as the manifest's range cuts it out of the content.
pub(crate) fn section<'m>(manifest: &'m Value, module: &str) -> Option<&'m str> {
    let found = entry(manifest, module)?;
    let at = |index: usize| usize::try_from(found["range"][index].as_u64().unwrap()).unwrap();
    Some(&manifest["content"].as_str().unwrap()[at(0)..at(1)])
}

/// What the manifest says about a module's section.
pub(crate) fn entry<'m>(manifest: &'m Value, module: &str) -> Option<&'m Value> {
    manifest["sections"].as_array().unwrap().iter().find(|section| section["module"] == module)
}

/// The files a module's section came from, in order.
pub(crate) fn sources<'m>(manifest: &'m Value, module: &str) -> Vec<&'m str> {
    entry(manifest, module).map_or_else(Vec::new, |section| {
        section["sources"].as_array().unwrap().iter().map(|s| s["path"].as_str().unwrap()).collect()
    })
}
