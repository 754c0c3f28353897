//! What skills and commands rely on in other tools, beside their text.

use super::header::{self, Parts};
use super::import::Import;

/// Codex keeps its own settings of a skill here.
const CODEX_POLICY: &str = "agents/openai.yaml";

/// Named placeholders of one text that are listed.
const MAX_NAMED: usize = 50;

/// The key with which a skill is for people only. Foreword honours it.
pub(super) const PEOPLE_ONLY: &str = "disable-model-invocation";

/// What a text needs that does not happen here: the part, and the reason.
pub(super) fn missing(parts: &Parts<'_>) -> Vec<(&'static str, String)> {
    let mut lost = Vec::new();
    if let Some(model) = parts.line("model").filter(|model| model != "inherit") {
        lost.push(("model", format!("a skill runs on the agent's model, not on {model}")));
    }
    if parts.line("agent").is_some() || parts.line("context").is_some() {
        lost.push(("context", "a skill runs in the conversation, not in a sub-agent".to_owned()));
    }
    if parts.lines("hooks").is_some() {
        lost.push(("hooks", "Foreword runs no hooks".to_owned()));
    }
    lost
}

pub(super) fn is_for_people_only(parts: &Parts<'_>) -> bool {
    let said = parts.line(PEOPLE_ONLY).unwrap_or_default();
    ["true", "yes", "on", "y", "1"].iter().any(|yes| said.eq_ignore_ascii_case(yes))
}

/// Whether a text has a placeholder for arguments.
pub(super) fn has_arguments(text: &str) -> bool {
    text.contains("$ARGUMENTS") || has_numbered_arguments(text)
}

fn has_numbered_arguments(text: &str) -> bool {
    (1..10).any(|n| text.contains(&format!("${n}")))
}

/// The placeholders with names of a prompt of Codex, such as `$FILE`, each once. `$$` is a dollar sign.
pub(super) fn named_placeholders(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let text = text.replace("$$", " ");
    for rest in text.split('$').skip(1) {
        let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let name = format!("${}", rest.get(..end).unwrap_or_default());
        let is_name = rest.starts_with(|c: char| c.is_ascii_uppercase()) && name != "$ARGUMENTS";
        if is_name && names.len() < MAX_NAMED && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether a text has commands to run before a model reads it.
pub(super) fn has_commands(text: &str) -> bool {
    text.contains("!`") || text.lines().any(|line| line.trim_start().starts_with("```!"))
}

/// What the text of a skill relies on. It is carried as it is, so the agent sees these as they are written.
fn missing_in_text(body: &str) -> Vec<(&'static str, String)> {
    let mut lost = Vec::new();
    if has_commands(body) {
        let why = "commands do not run before the model reads the text; ask for them in the text";
        lost.push(("!`command`", why.to_owned()));
    }
    if has_arguments(body) {
        let why = "is replaced, like `$ARGUMENTS[0]`, when you ask for the skill with `/NAME`, but not when an agent reads \
                   it by itself; `$1` and the like are never replaced";
        lost.push(("$ARGUMENTS", why.to_owned()));
    }
    for variable in ["${CLAUDE_SKILL_DIR}", "${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_SESSION_ID}"] {
        if body.contains(variable) {
            let why = "is not replaced; paths start at the folder that the prompt gives".to_owned();
            lost.push((variable, why));
        }
    }
    lost
}

impl Import {
    /// Rows for what a carried skill relies on and does not get. `path` is its folder or its file.
    pub(super) fn record_skill_features(&mut self, path: &str) {
        let inside = format!("{path}/SKILL.md");
        let file = if self.source.is_file(&inside) { inside.as_str() } else { path };
        let Ok(text) = self.source.read(file) else { return };
        let Ok(parts) = header::split(&text) else { return };
        let mut lost = missing(&parts);
        lost.extend(missing_in_text(parts.body));
        let is_filled = is_for_people_only(&parts) && !has_numbered_arguments(parts.body);
        lost.retain(|(what, _)| !(is_filled && *what == "$ARGUMENTS"));
        for (what, reason) in lost {
            self.lost(&format!("{file}: {what}"), reason);
        }
        if !is_for_people_only(&parts) && self.is_for_people_in_codex(path) {
            let why = format!(
                "add `{PEOPLE_ONLY}: true` to its SKILL.md; agents may use it by themselves now"
            );
            self.lost(&format!("{path}/{CODEX_POLICY}: allow_implicit_invocation"), why);
        }
    }

    fn is_for_people_in_codex(&self, path: &str) -> bool {
        let text = self.source.read(&format!("{path}/{CODEX_POLICY}")).unwrap_or_default();
        let is_off = |line: &str| {
            let line = line.trim().strip_prefix("allow_implicit_invocation:");
            line.is_some_and(|value| value.trim().starts_with("false"))
        };
        text.lines().any(is_off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_with_names_are_found_once() {
        let text =
            "Draft $FILE for $TICKET_ID, then $FILE. Costs $$PRICE or $5, $ARGUMENTS, $home.";
        assert_eq!(named_placeholders(text), ["$FILE", "$TICKET_ID"]);
    }

    #[test]
    fn what_a_skill_relies_on_is_named() {
        let text = "---\nname: sk\ndisable-model-invocation: true\ncontext: fork\nagent: Explore\nmodel: haiku\n---\n\
                    Status: !`git status`\nFix $ARGUMENTS with ${CLAUDE_SKILL_DIR}/x.sh\n";
        let parts = header::split(text).unwrap();
        let keys: Vec<&str> = missing(&parts).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["model", "context"]);
        let keys: Vec<&str> = missing_in_text(parts.body).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["!`command`", "$ARGUMENTS", "${CLAUDE_SKILL_DIR}"]);
        assert_eq!(missing_in_text("Costs $ 5. Run `git status`!\n"), []);
    }
}
