//! The `foreword.toml` of a migrated workspace: every key explained, some of them set.

use foreword_workspace::{
    CONFIG_FILE, Config, DEFAULT_CONFIG_TEXT, ProviderName, SourceFile, WorkspaceError,
};

use super::import::Import;
use super::model_names::MappedModel;
use super::permissions::{Decision, Rule};
use super::write::NewFile;

const NO_MATCH: &str = "no command matches it: a rule is about one simple command, without operators and assignments; add rules for its parts to [permissions]";

/// Settings that were found.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The agent to use where a command names none.
    pub(super) agent: Option<String>,
    /// The output style in use, until its file is read.
    pub(super) output_style: Option<String>,
    model: Option<MappedModel>,
    web_hosts: Vec<String>,
    skill_roots: Vec<String>,
}

impl Settings {
    /// Sets the model. The first layout that names one decides.
    pub(super) fn set_model(&mut self, model: MappedModel) {
        self.model.get_or_insert(model);
    }

    pub(super) fn add_web_host(&mut self, host: String) {
        if !self.web_hosts.contains(&host) {
            self.web_hosts.push(host);
        }
    }

    pub(super) fn add_skill_root(&mut self, root: &str) {
        if !self.skill_roots.iter().any(|known| known == root) {
            self.skill_roots.push(root.to_owned());
        }
    }

    pub(super) fn has_web_hosts(&self) -> bool {
        !self.web_hosts.is_empty()
    }
}

/// Writes `foreword.toml` after everything else is placed.
pub(super) fn place(import: &mut Import, blueprint: &str) {
    let settings = std::mem::take(&mut import.settings);
    let limit = longest(import);
    let plain = text(&settings, blueprint, limit);
    let rules = std::mem::take(&mut import.permissions.rules);
    let (rules, dead): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(Rule::can_match);
    for rule in dead {
        import.lost(&rule.source, NO_MATCH);
    }
    let (accepted, refused) = accepted(&plain, rules);
    for (rule, reason) in refused {
        import.lost(&rule.source, reason);
    }
    // One rule of the old setup may be several here.
    for same in accepted.chunk_by(|a, b| a.source == b.source) {
        let Some(first) = same.first() else { continue };
        let patterns: Vec<&str> = same.iter().map(|rule| rule.pattern.as_str()).collect();
        let mut note = format!("permissions.{}: {}", first.decision.as_str(), patterns.join(", "));
        if first.is_for_one_agent {
            note.push_str("; counts for every agent");
        }
        if first.decision == Decision::Allow {
            note.push_str("; asked about until you trust the workspace");
        }
        import.mapped(&first.source, CONFIG_FILE, note);
    }
    if let Some(limit) = limit {
        import.notes.push(format!(
            "foreword.toml sets limits.max_file_chars = {limit}, so that no instructions are cut"
        ));
    }
    import.add_text(CONFIG_FILE, CONFIG_FILE, with_rules(&plain, &accepted));
}

/// The `foreword.toml` of a workspace with its own blueprint and nothing else.
pub(crate) fn for_blueprint(blueprint: &str) -> NewFile {
    NewFile::text(CONFIG_FILE, text(&Settings::default(), blueprint, None))
}

/// The rules that this version understands, and the others with the reason.
fn accepted(plain: &str, rules: Vec<Rule>) -> (Vec<Rule>, Vec<(Rule, String)>) {
    let check = |rules: &[Rule]| {
        let file =
            SourceFile { path: CONFIG_FILE.into(), text: with_rules(plain, rules), first_line: 1 };
        Config::parse(&file)
    };
    match check(&rules) {
        Ok(_) => return (rules, Vec::new()),
        Err(WorkspaceError::UnknownKey { .. }) => {
            let reason = "foreword.toml has no permission rules in this version";
            return (Vec::new(), rules.into_iter().map(|rule| (rule, reason.to_owned())).collect());
        }
        Err(_) => {}
    }
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for rule in rules {
        match check(std::slice::from_ref(&rule)) {
            Ok(_) => kept.push(rule),
            Err(error) => refused.push((rule, error.to_string())),
        }
    }
    (kept, refused)
}

/// The longest file that instructs, if it is longer than a prompt shows by default.
fn longest(import: &Import) -> Option<usize> {
    let shown = |path: &&str| path.ends_with(".md") && !path.starts_with("skills/");
    let paths: Vec<&str> = import.paths().filter(shown).collect();
    let longest = paths
        .iter()
        .filter_map(|path| import.text_of(path))
        .map(|text| text.chars().count())
        .max()?;
    let usual = Config::default().limits.max_file_chars;
    (longest > usual).then(|| longest.div_ceil(10_000) * 10_000)
}

/// The settings without rules.
fn text(settings: &Settings, blueprint: &str, limit: Option<usize>) -> String {
    let mut out = String::new();
    let mut table = String::new();
    for line in DEFAULT_CONFIG_TEXT.lines() {
        if line.starts_with('[') {
            table = line.to_owned();
        }
        let key = line.strip_prefix('#').and_then(|line| line.split_once(" =")).map(|(key, _)| key);
        let set = match (table.as_str(), key) {
            ("", Some("blueprint")) => Some(format!("blueprint = {}", quoted(blueprint))),
            ("", Some("agent")) => {
                settings.agent.as_deref().map(|agent| format!("agent = {}", quoted(agent)))
            }
            ("[limits]", Some("max_file_chars")) => {
                limit.map(|limit| format!("max_file_chars = {limit}"))
            }
            ("[model]", Some("name")) => {
                settings.model.as_ref().map(|model| format!("name = {}", quoted(&model.name)))
            }
            ("[model]", Some("provider")) => {
                let provider = settings.model.as_ref().and_then(|model| model.provider);
                provider.map(|provider| match provider {
                    ProviderName::Anthropic => "provider = \"anthropic\"".to_owned(),
                    ProviderName::OpenAi => "provider = \"openai\"".to_owned(),
                })
            }
            ("[skills]", Some("roots")) if !settings.skill_roots.is_empty() => {
                Some(format!("roots = {}", list(settings.skill_roots.iter())))
            }
            ("[host]", Some("web_hosts")) if settings.has_web_hosts() => {
                Some(format!("web_hosts = {}", list(settings.web_hosts.iter())))
            }
            _ => None,
        };
        out.push_str(set.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out
}

/// The settings with rules: in the table that is there, or in one of their own. The rules of a workspace
/// count only once the person trusts it, and the trust question shows them.
fn with_rules(plain: &str, rules: &[Rule]) -> String {
    const TABLE: &str = "[permissions]";
    if rules.is_empty() {
        return plain.to_owned();
    }
    let mut lines = String::new();
    let mut set = Vec::new();
    for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
        let mut patterns: Vec<&String> = Vec::new();
        for rule in rules.iter().filter(|rule| rule.decision == decision) {
            if !patterns.contains(&&rule.pattern) {
                patterns.push(&rule.pattern);
            }
        }
        if !patterns.is_empty() {
            set.push(format!("#{} = []", decision.as_str()));
            lines.push_str(&format!("{} = {}\n", decision.as_str(), list(patterns.into_iter())));
        }
    }
    match plain.split_once(&format!("\n{TABLE}\n")) {
        Some((before, after)) => {
            let after = after.split_inclusive('\n');
            let after: String =
                after.filter(|line| !set.iter().any(|set| line.trim_end() == set)).collect();
            format!("{before}\n{TABLE}\n{lines}{after}")
        }
        None => format!("{}\n\n{TABLE}\n{lines}", plain.trim_end()),
    }
}

fn list<'a>(items: impl Iterator<Item = &'a String>) -> String {
    format!("[{}]", items.map(|item| quoted(item)).collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::model_names;

    fn parsed(text: String) -> Config {
        Config::parse(&SourceFile { path: CONFIG_FILE.into(), text, first_line: 1 }).unwrap()
    }

    #[test]
    fn what_was_found_is_set_and_the_rest_has_its_default() {
        let expected = Config { blueprint: "roles".into(), ..Config::default() };
        assert_eq!(parsed(text(&Settings::default(), "roles", None)), expected);
        let mut settings = Settings { agent: Some("it's".into()), ..Settings::default() };
        settings.set_model(model_names::mapped("opus").unwrap());
        settings.set_model(model_names::mapped("haiku").unwrap());
        settings.add_web_host("docs.rs".into());
        let config = parsed(text(&settings, "standard", Some(50_000)));
        assert_eq!(config.agent.as_deref(), Some("it's"));
        assert_eq!(config.model.name.as_deref(), Some("claude-opus-5-5"));
        assert_eq!(config.model.provider, Some(ProviderName::Anthropic));
        assert_eq!(config.host.web_hosts, ["docs.rs"]);
        assert_eq!(config.limits.max_file_chars, 50_000);
    }

    #[test]
    fn rules_go_into_the_table_that_is_there_or_into_their_own() {
        let rule = |decision, pattern: &str| Rule {
            decision,
            pattern: pattern.into(),
            source: "s".into(),
            is_for_one_agent: false,
        };
        let rules = [
            rule(Decision::Allow, "bash(git push:*)"),
            rule(Decision::Deny, "read(.env)"),
            rule(Decision::Allow, "bash(git push:*)"),
        ];
        let lines = "[permissions]\nallow = [\"bash(git push:*)\"]\ndeny = [\"read(.env)\"]\n";
        assert_eq!(with_rules("x = 1\n", &rules), format!("x = 1\n\n{lines}"));
        let there = "x = 1\n[permissions]\n#allow = []\n#ask = []\n[mcp]\n";
        assert_eq!(with_rules(there, &rules), format!("x = 1\n{lines}#ask = []\n[mcp]\n"));
    }
}
