//! The `foreword.toml` of an imported workspace: every key explained, two of them set.

use foreword_workspace::{CONFIG_FILE, DEFAULT_CONFIG_TEXT};

use super::write::NewFile;

/// The settings for a blueprint and the imported agents. With several agents, none is the default.
pub(super) fn file(blueprint: &str, agents: &[String]) -> NewFile {
    let mut text = String::new();
    let mut blueprint_set = false;
    for line in DEFAULT_CONFIG_TEXT.lines() {
        if line.starts_with("#blueprint =") {
            blueprint_set = true;
            text.push_str(&format!("blueprint = {}", quoted(blueprint)));
        } else if line.starts_with("#agent =") {
            text.push_str(&agent_lines(agents, line));
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    if !blueprint_set {
        text.insert_str(0, &format!("blueprint = {}\n\n", quoted(blueprint)));
    }
    NewFile::text(CONFIG_FILE, text)
}

fn agent_lines(agents: &[String], default: &str) -> String {
    match agents {
        [] => default.to_owned(),
        [one] => format!("agent = {}", quoted(one)),
        [first, ..] => {
            let names: Vec<String> = agents.iter().map(|id| quoted(id)).collect();
            format!("# Imported agents: {}.\n#agent = {}", names.join(", "), quoted(first))
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_workspace::{Config, SourceFile};

    fn settings(agents: &[&str]) -> Config {
        let agents: Vec<String> = agents.iter().map(ToString::to_string).collect();
        let NewFile { path, text, .. } = file("roles", &agents);
        Config::parse(&SourceFile { path, text, first_line: 1 }).unwrap()
    }

    #[test]
    fn one_agent_is_the_default_and_several_are_not() {
        let expected = Config { blueprint: "roles".into(), ..Config::default() };
        assert_eq!(settings(&[]), expected);
        assert_eq!(settings(&["a", "b\"\\"]), expected);
        assert_eq!(settings(&["it's"]), Config { agent: Some("it's".into()), ..expected });
    }
}
