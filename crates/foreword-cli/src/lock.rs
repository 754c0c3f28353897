//! `foreword.lock`: the digests of every agent's prompt, so that a team can review prompt changes like code.
//!
//! The prompts are built without a task and without anything that differs between machines, so the same
//! workspace gives the same file everywhere.

use std::collections::BTreeMap;
use std::path::Path;

use foreword_gather::neutral_prompts;
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::user_env::config_dir;

pub(crate) const LOCK_FILE: &str = "foreword.lock";

const HEADER: &str = "# Digests of the prompts of this workspace. Written by `foreword build --lock`, checked by\n# `foreword lint --lock`. Commit this file and review its changes like code.\n\n";

#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    version: u32,
    #[serde(default)]
    agents: BTreeMap<String, AgentLock>,
}

#[derive(Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
struct AgentLock {
    blueprint: String,
    digest: String,
    sections: BTreeMap<String, String>,
}

/// A prompt that differs from the lock.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    pub(crate) agent: String,
    pub(crate) message: String,
}

/// Writes the lock and prints what changed.
pub(crate) fn write(workspace: &Path, terminal: &Terminal) -> Result<(), CliError> {
    let current = current(workspace)?;
    let path = workspace.join(LOCK_FILE);
    if path.exists() {
        match read(workspace) {
            Ok(old) => compare(&old, &current).iter().for_each(|drift| {
                terminal.say(&format!("{LOCK_FILE}: {}: {}", drift.agent, drift.message));
            }),
            Err(error) => terminal.warn(&format!("{}; replacing it", error.message)),
        }
    }
    let body = toml::to_string(&current)
        .map_err(|error| CliError::internal(format!("cannot write TOML: {error}")))?;
    let part = workspace.join(format!("{LOCK_FILE}.part"));
    std::fs::write(&part, format!("{HEADER}{body}"))
        .and_then(|()| std::fs::rename(&part, &path))
        .map_err(|error| CliError::usage(format!("cannot write {}: {error}", path.display())))?;
    let count = current.agents.len();
    let prompts = if count == 1 { "prompt" } else { "prompts" };
    terminal.say(&format!("{LOCK_FILE}: {count} {prompts} recorded"));
    Ok(())
}

/// The prompts that differ from the lock.
pub(crate) fn check(workspace: &Path) -> Result<Vec<Drift>, CliError> {
    Ok(compare(&read(workspace)?, &current(workspace)?))
}

fn read(workspace: &Path) -> Result<Lock, CliError> {
    let path = workspace.join(LOCK_FILE);
    if !path.exists() {
        return Err(CliError::usage(format!("{}: file not found", path.display()))
            .hint("run `foreword build --lock` and commit the file"));
    }
    let file = foreword_workspace::read_file(&path, 16 << 20)?;
    let lock: Lock = toml::from_str(&file.text).map_err(|error| {
        CliError::usage(format!("{}: {}", path.display(), error.message()))
            .hint("run `foreword build --lock` to replace it")
    })?;
    if lock.version != 1 {
        return Err(CliError::usage(format!(
            "{}: unsupported lock version {}",
            path.display(),
            lock.version
        ))
        .hint("another version of foreword wrote it; run `foreword build --lock` to replace it"));
    }
    Ok(lock)
}

fn current(workspace: &Path) -> Result<Lock, CliError> {
    let mut agents = BTreeMap::new();
    for (id, gathered) in neutral_prompts(workspace, config_dir().ok().as_deref())? {
        let prompt = gathered.blueprint.build(&gathered.context);
        let sections = prompt
            .manifest()
            .sections
            .iter()
            .filter_map(|section| {
                Some((
                    section.module.to_owned(),
                    foreword::digest(prompt.section(section.module)?.as_bytes()),
                ))
            })
            .collect();
        agents.insert(
            id,
            AgentLock {
                blueprint: gathered.blueprint.name().to_owned(),
                digest: prompt.digest(),
                sections,
            },
        );
    }
    Ok(Lock { version: 1, agents })
}

fn compare(old: &Lock, new: &Lock) -> Vec<Drift> {
    let mut drift = Vec::new();
    let mut add =
        |agent: &str, message: String| drift.push(Drift { agent: agent.to_owned(), message });
    for (id, now) in &new.agents {
        let Some(was) = old.agents.get(id) else {
            add(id, "is new".to_owned());
            continue;
        };
        if was == now {
            continue;
        }
        let mut changes = Vec::new();
        if was.blueprint != now.blueprint {
            changes.push(format!("blueprint changed from {} to {}", was.blueprint, now.blueprint));
        }
        for (module, digest) in &now.sections {
            match was.sections.get(module) {
                None => changes.push(format!("section {module} is new")),
                Some(before) if before != digest => {
                    changes.push(format!("section {module} changed"));
                }
                Some(_) => {}
            }
        }
        for module in was.sections.keys().filter(|module| !now.sections.contains_key(*module)) {
            changes.push(format!("section {module} was removed"));
        }
        if changes.is_empty() {
            changes.push("the order or spacing of sections changed".to_owned());
        }
        add(id, changes.join("; "));
    }
    for id in old.agents.keys().filter(|id| !new.agents.contains_key(*id)) {
        add(id, "was removed".to_owned());
    }
    drift
}
