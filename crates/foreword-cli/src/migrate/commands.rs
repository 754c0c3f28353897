//! Slash commands and prompt files: each becomes a skill with the same text.

use super::claude_agents::id_from;
use super::import::Import;
use super::imports::{self, Following};
use super::walk::file_name;
use super::{header, skill_features};
use crate::commands::chat::slash;

const MAX_DESCRIPTION_CHARS: usize = 200;

/// Which placeholders the texts of a tool have beside `$ARGUMENTS` and `$1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// None: `$HOME` is what it looks like.
    Numbered,
    /// Names in capitals, such as `$FILE`, which Codex fills from `FILE=…`.
    Named,
}

/// Imports every command of a directory. `ends` are the endings of its files.
pub(super) fn migrate(import: &mut Import, dir: &str, ends: &[&str], placeholders: Placeholders) {
    for path in import.files_below(dir) {
        let stem = ends.iter().find_map(|end| path.strip_suffix(end));
        match stem.filter(|stem| !file_name(stem).eq_ignore_ascii_case("README")) {
            Some(stem) => {
                // A subfolder is part of the name.
                let below = stem.strip_prefix(dir).unwrap_or(stem).trim_start_matches('/');
                migrate_command(import, &path, &below.replace('/', "-"), placeholders);
            }
            None => import.left(&path, "not a command"),
        }
    }
}

fn migrate_command(import: &mut Import, path: &str, name: &str, placeholders: Placeholders) {
    let Some(text) = import.read(path) else { return };
    let Ok(parts) = header::split(&text) else {
        return import.lost(path, "its header has no end");
    };
    let how = Following { from_root: true, ..Following::default() };
    let expanded = imports::expand(&import.source, path, parts.body.trim(), how);
    let body = expanded.text.trim();
    let name = id_from(name, "command").to_lowercase().replace('_', "-");
    let hint = parts.line("argument-hint");
    let description = parts.line("description").unwrap_or_else(|| first_line(body));
    let tools = parts.list("allowed-tools");
    let named = match placeholders {
        Placeholders::Numbered => Vec::new(),
        Placeholders::Named => skill_features::named_placeholders(parts.body),
    };
    let skill = Skill {
        name: &name,
        description: &format!(
            "{} Use it when the person writes /{name}.",
            with_full_stop(&description)
        ),
        tools: &tools,
        is_for_people_only: skill_features::is_for_people_only(&parts),
        body: &with_arguments(body, hint.as_deref(), &named),
    };
    let mut lost = skill_features::missing(&parts);
    if skill_features::has_commands(body) {
        lost.push((
            "!`command`",
            "commands do not run before the model reads the text; the skill asks the agent to run them"
                .to_owned(),
        ));
    }
    if !named.is_empty() {
        lost.push((
            "$NAME",
            format!(
                "{} is not filled in; the skill tells the agent to take it from what you write",
                named.join(", ")
            ),
        ));
    }
    if !add_skill(import, path, &skill) {
        return;
    }
    let to = format!("skills/{name}/");
    import.record_imports(path, &expanded);
    import.record_included(&expanded, &to);
    let note = match slash::is_command(&name) {
        true => format!("/{name} → skill; in `chat`, which has a command of that name, //{name}"),
        false => format!("/{name} → skill"),
    };
    import.mapped(path, &to, note);
    for (what, reason) in lost {
        import.lost(&format!("{path}: {what}"), reason);
    }
}

/// A skill made from another kind of file.
pub(super) struct Skill<'a> {
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) tools: &'a [String],
    /// Whether no agent is offered it.
    pub(super) is_for_people_only: bool,
    pub(super) body: &'a str,
}

/// Adds a skill, unless one of its name is there. The caller adds the row.
pub(super) fn add_skill(import: &mut Import, from: &str, skill: &Skill<'_>) -> bool {
    if !import.take_skill_name(skill.name, from) {
        import.lost(from, format!("a skill `{}` is already imported", skill.name));
        return false;
    }
    let mut text = format!(
        "---\nname: {}\ndescription: {}\n",
        header::quoted(skill.name),
        header::quoted(skill.description)
    );
    if !skill.tools.is_empty() {
        text.push_str(&format!("allowed-tools: {}\n", header::quoted(&skill.tools.join(", "))));
    }
    if skill.is_for_people_only {
        text.push_str(&format!("{}: true\n", skill_features::PEOPLE_ONLY));
    }
    text.push_str(&format!("---\n\n{}\n", skill.body.trim()));
    import.add_text(from, &format!("skills/{}/SKILL.md", skill.name), text)
}

/// The text of a command, with a line on what its placeholders stand for.
fn with_arguments(body: &str, hint: Option<&str>, named: &[String]) -> String {
    let mut intro = Vec::new();
    if skill_features::has_arguments(body) {
        let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
        intro.push(format!(
            "`$ARGUMENTS` stands for what the person wrote after the command{hint}, and `$1`, `$2` and so on for its words."
        ));
    } else if let Some(hint) = hint {
        intro.push(format!("Arguments: {hint}"));
    }
    for name in named {
        let key = name.trim_start_matches('$');
        intro.push(format!("`{name}` stands for what the person wrote as `{key}=…`."));
    }
    if skill_features::has_commands(body) {
        intro
            .push("Run the commands in !`…` first and use their output in their place.".to_owned());
    }
    if intro.is_empty() { body.to_owned() } else { format!("{}\n\n{body}", intro.join(" ")) }
}

pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().map(|line| line.trim_start_matches(['#', '-', '*', ' ', '>']).trim());
    let line = line.into_iter().find(|line| !line.is_empty()).unwrap_or("A command.");
    line.chars().take(MAX_DESCRIPTION_CHARS).collect()
}

fn with_full_stop(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_explained_where_there_are_some() {
        assert_eq!(with_arguments("Do it.", None, &[]), "Do it.");
        let text = with_arguments("Fix $ARGUMENTS", Some("[issue]"), &[]);
        assert!(text.starts_with(
            "`$ARGUMENTS` stands for what the person wrote after the command ([issue])"
        ));
        assert!(text.ends_with("\n\nFix $ARGUMENTS"));
        assert!(with_arguments("!`git status`", None, &[]).starts_with("Run the commands"));
    }

    #[test]
    fn a_description_is_the_first_line_that_says_something() {
        assert_eq!(first_line("\n# Fix an issue\n\nText"), "Fix an issue");
        assert_eq!(first_line(""), "A command.");
    }
}
