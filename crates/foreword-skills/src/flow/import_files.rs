//! The files of a skill that a person brings, and what they change in the directory of skills.

use std::collections::{BTreeMap, BTreeSet};

use foreword_guard::{Policy, Screening};
use foreword_store::FileChange;

use crate::error::SkillError;
use crate::flow::apply::{Change, digest};
use crate::format::draft::{Draft, draft_import, renamed as with_name};
use crate::format::fit_name::numbered;
use crate::git::git_store::skill_of;
use crate::git::work_tree::{DiskFile, WorkTree};

/// What the newest commit holds.
pub(crate) type Digests = BTreeMap<String, [u8; 32]>;
/// A skill's files, by path in the directory of skills.
pub(crate) type Files = BTreeMap<String, DiskFile>;

/// The files of a skill's folder, or the one file of a flat skill, by path below its folder.
pub(crate) fn collect(
    source: &WorkTree,
    names: &[String],
    top: Option<&str>,
) -> Result<BTreeMap<String, DiskFile>, SkillError> {
    let mut files = BTreeMap::new();
    match top {
        Some(flat) if flat.ends_with(".md") => {
            for (_, file) in source.files(flat)? {
                files.insert("SKILL.md".to_owned(), file);
            }
        }
        Some(folder) => {
            for (path, file) in source.files(folder)? {
                let below = path.split_once('/').map_or(path.as_str(), |(_, rest)| rest);
                files.insert(below.to_owned(), file);
            }
        }
        None => {
            for name in names.iter().filter(|name| !name.starts_with('.')) {
                files.extend(source.files(name)?);
            }
        }
    }
    Ok(files)
}

/// Names a skill by its header or its folder, makes the name fit, and completes its header.
pub(crate) fn named(
    files: Files,
    folder: &str,
    used: &mut BTreeSet<String>,
) -> Result<(Draft, Files), SkillError> {
    let is_main = |path: &str| path.eq_ignore_ascii_case("SKILL.md");
    let missing = || SkillError::Empty { path: format!("{folder}/SKILL.md") };
    let main = files
        .get("SKILL.md")
        .or_else(|| files.iter().find(|(path, _)| is_main(path)).map(|(_, file)| file));
    let content = String::from_utf8(main.ok_or_else(missing)?.content.clone())
        .map_err(|_| SkillError::NotText { path: format!("{folder}/SKILL.md") })?;
    let draft = with_own_name(draft_import(&content, folder)?, used);
    let mut renamed = BTreeMap::new();
    let has_main = files.contains_key("SKILL.md");
    for (path, mut file) in files {
        let main = path == "SKILL.md" || !has_main && is_main(&path);
        if main {
            file.content = draft.content.clone().into_bytes();
            file.executable = false;
        }
        let path = if main { "SKILL.md" } else { path.as_str() };
        renamed.insert(format!("{}/{path}", draft.name.as_str()), file);
    }
    Ok((draft, renamed))
}

/// Two skills of one import keep two names.
fn with_own_name(mut draft: Draft, used: &mut BTreeSet<String>) -> Draft {
    let mut number = 2;
    let first = draft.name.clone();
    while !used.insert(draft.name.as_str().to_owned()) {
        let Some(name) = numbered(&first, number) else { break };
        draft = with_name(&draft, name);
        number += 1;
    }
    draft
}

/// What has to change below a folder so that it holds just these files.
pub(crate) fn changes(
    change: &Change<'_>,
    below: &str,
    files: &Files,
) -> Result<Vec<FileChange>, SkillError> {
    let mut out = Vec::new();
    let tracked = change.tracked_digests()?;
    for (path, file) in files {
        let disk = change.work_tree.read(path)?.map(|found| digest(&found.content));
        let new = digest(&file.content);
        if disk == Some(new) && tracked.get(path) == Some(&new) {
            continue;
        }
        out.push(FileChange {
            path: path.clone(),
            content: Some(file.content.clone()),
            executable: file.executable,
            base: disk,
        });
    }
    for (path, known) in tracked.range(below.to_owned()..) {
        if !path.starts_with(below) {
            break;
        }
        if !files.contains_key(path) {
            let base = Some(*known);
            out.push(FileChange { path: path.clone(), content: None, executable: false, base });
        }
    }
    Ok(out)
}

/// What a person changed in one skill since the newest commit; `None` if nothing.
pub(crate) fn local_changes(
    work_tree: &WorkTree,
    skill: &str,
    tops: &BTreeSet<String>,
    tracked: &Digests,
) -> Result<Option<Vec<FileChange>>, SkillError> {
    let mut files = BTreeMap::new();
    for top in tops {
        files.extend(work_tree.files(top)?);
    }
    let is_skill = files.keys().any(|path| path.ends_with("/SKILL.md") || is_flat(path));
    let known = || tracked.iter().filter(|(path, _)| skill_of(path) == skill);
    if !is_skill && known().next().is_none() {
        return Ok(None); // A folder that lies beside the skills.
    }
    let mut changes = Vec::new();
    for (path, file) in &files {
        let new = digest(&file.content);
        if tracked.get(path) != Some(&new) {
            changes.push(FileChange {
                path: path.clone(),
                content: Some(file.content.clone()),
                executable: file.executable,
                base: Some(new),
            });
        }
    }
    for (path, _) in known().filter(|(path, _)| !files.contains_key(*path)) {
        let path = path.clone();
        changes.push(FileChange { path, content: None, executable: false, base: None });
    }
    Ok(Some(changes).filter(|changes| !changes.is_empty()))
}

/// A skill's own file is a text with something in it.
pub(crate) fn check_texts(work_tree: &WorkTree, changes: &[FileChange]) -> Result<(), SkillError> {
    for FileChange { path, content, .. } in changes {
        let Some(content) = content else { continue };
        if !path.ends_with("/SKILL.md") && !is_flat(path) {
            continue;
        }
        match std::str::from_utf8(content) {
            Ok(text) if text.trim().is_empty() => {
                return Err(SkillError::Empty { path: work_tree.show(path) });
            }
            Ok(text) if !text.contains('\0') => {}
            _ => return Err(SkillError::NotText { path: work_tree.show(path) }),
        }
    }
    Ok(())
}

pub(crate) fn is_flat(path: &str) -> bool {
    !path.contains('/') && path.ends_with(".md")
}

/// The files of a skill, by path below its folder.
type SkillFiles = BTreeMap<String, Vec<u8>>;

/// A skill as a change leaves it: all its files, and those that the change brings.
struct Changed {
    whole: SkillFiles,
    brought: SkillFiles,
}

fn changed(change: &Change<'_>, skill: &str, changes: &[FileChange]) -> Changed {
    let below =
        |path: &str| path.strip_prefix(skill).and_then(|p| p.strip_prefix('/')).map(str::to_owned);
    let flat = format!("{skill}.md");
    let name = |path: &str| below(path).or_else(|| (path == flat).then(|| "SKILL.md".to_owned()));
    let (mut whole, mut brought) = (SkillFiles::new(), SkillFiles::new());
    // What cannot be read is said where it is read to be changed.
    for top in [skill, flat.as_str()] {
        for (path, file) in change.work_tree.files(top).unwrap_or_default() {
            whole.extend(name(&path).map(|name| (name, file.content)));
        }
    }
    for FileChange { path, content, .. } in changes {
        let path = name(path).unwrap_or_else(|| path.clone());
        match content {
            Some(content) => {
                brought.insert(path.clone(), content.clone());
                whole.insert(path, content.clone());
            }
            None if path == "SKILL.md" && changes.len() > 1 => {}
            None => drop(whole.remove(&path)),
        }
    }
    Changed { whole, brought }
}

/// Screens a skill as a change leaves it: with the files that stay as they are.
///
/// Under [`Policy::Agent`] only what the change brings is an agent's; the rest was brought by a person.
pub(crate) fn screen_change(
    change: &Change<'_>,
    skill: &str,
    changes: &[FileChange],
    policy: Policy,
) -> Screening {
    let screeners = &change.store.options.screeners;
    let Changed { whole, brought } = changed(change, skill, changes);
    match policy {
        Policy::Import => screeners.screen_skill(policy, &whole, None),
        Policy::Agent if brought == whole => screeners.screen_skill(policy, &whole, None),
        Policy::Agent => {
            let own = screeners.screen_skill(policy, &brought, None);
            own.and(screeners.screen_skill(Policy::Import, &whole, None))
        }
    }
}

/// The same with a second opinion, if one is to be asked for.
pub(crate) fn screen_import(change: &Change<'_>, skill: &str, changes: &[FileChange]) -> Screening {
    let screeners = &change.store.options.screeners;
    let whole = changed(change, skill, changes).whole;
    screeners.with_opinion(screeners.screen_skill(Policy::Import, &whole, None), &whole)
}
