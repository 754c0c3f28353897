//! Finding the blueprint: built in, a file of the workspace, or a file a person named.

use std::path::Path;

use foreword::{Blueprint, nearest};
use foreword_workspace::{AskedBy, Workspace, read_file};

use crate::error::GatherError;

/// A blueprint file is small.
const MAX_BLUEPRINT_BYTES: u64 = 1 << 20;

/// A blueprint and the name errors and lint findings give it.
pub(crate) struct Found {
    pub(crate) blueprint: Blueprint,
    pub(crate) file: String,
}

/// The blueprint a person named on the command line: built in, or a path from here.
pub fn blueprint_by_name(name: &str) -> Result<Blueprint, GatherError> {
    named(name).map(|found| found.blueprint)
}

pub(crate) fn named(name: &str) -> Result<Found, GatherError> {
    if let Some(found) = builtin(name) {
        return Ok(found);
    }
    if !looks_like_file(name) {
        return Err(unknown(name, None));
    }
    let path = Path::new(name);
    let file = read_file(path, MAX_BLUEPRINT_BYTES)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    let blueprint = Blueprint::from_toml(name, &file.text, &mut |other| {
        expect_file(other)?;
        let file = read_file(&directory.join(other), MAX_BLUEPRINT_BYTES)
            .map_err(std::io::Error::other)?;
        Ok(file.text)
    })?;
    Ok(Found { blueprint, file: name.to_owned() })
}

/// The blueprint a workspace or an agent of it names: built in, or a file of the workspace.
pub(crate) fn of_workspace(
    workspace: &Workspace,
    name: &str,
    asked_by: &AskedBy,
) -> Result<Found, GatherError> {
    if let Some(found) = builtin(name) {
        return Ok(found);
    }
    if !looks_like_file(name) {
        return Err(unknown(name, Some(asked_by)));
    }
    let file = workspace.blueprint_file(name, asked_by)?;
    let blueprint = Blueprint::from_toml(&file.path, &file.text, &mut |other| {
        expect_file(other)?;
        let file = workspace
            .blueprint_file(other, &AskedBy::whole(name))
            .map_err(std::io::Error::other)?;
        Ok(file.text)
    })?;
    Ok(Found { blueprint, file: file.path })
}

fn builtin(name: &str) -> Option<Found> {
    let blueprint = Blueprint::builtin(name)?;
    Some(Found { blueprint, file: format!("builtin:{name}") })
}

fn looks_like_file(name: &str) -> bool {
    name.ends_with(".toml") || name.contains(['/', '\\'])
}

/// A name in `extends` that is neither built in nor a file is a slip, not a file that is missing.
fn expect_file(name: &str) -> std::io::Result<()> {
    if looks_like_file(name) { Ok(()) } else { Err(std::io::Error::other(unknown(name, None))) }
}

fn unknown(name: &str, asked_by: Option<&AskedBy>) -> GatherError {
    let known: Vec<&str> = Blueprint::builtin_names().collect();
    let suggestion = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use {}, or the path of a .toml file", known.join(", ")),
    };
    GatherError::UnknownBlueprint { name: name.to_owned(), suggestion, asked_by: asked_by.cloned() }
}
