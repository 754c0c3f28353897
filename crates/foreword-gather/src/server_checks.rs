//! What keeps an MCP server of a workspace from being used, as far as it can be seen without starting it.

use std::collections::BTreeMap;
use std::path::Path;

use foreword::{Finding, Severity};
use foreword_guard::{HostKind, HttpUrl, redact};
use foreword_workspace::{McpServer, NamedServer, SETTINGS_FILE, Settings, WorkspaceError};

/// Options with such a word in their names hold keys.
const KEY_WORDS: [&str; 9] =
    ["token", "key", "apikey", "secret", "password", "passwd", "pat", "credential", "credentials"];
/// Options with such a last word name a place instead.
const PLACE_WORDS: [&str; 5] = ["file", "path", "env", "name", "id"];
/// What is shorter under such an option may be anything.
const MIN_KEY_CHARS: usize = 12;

/// Where a server's definition has a key written out: a variable, a header, an argument or a part of its
/// URL. The key itself is not part of the answer.
#[must_use]
pub fn written_keys(server: &McpServer) -> Vec<String> {
    let values = server.env.iter().chain(&server.headers);
    let named = values.filter(|(_, value)| is_key(value)).map(|(name, _)| name.clone());
    let mut found: Vec<String> = named.collect();
    let mut before = "";
    for (number, argument) in server.command.iter().enumerate().skip(1) {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if is_option(option) => (option, value),
            _ => (before, argument.as_str()),
        };
        before = argument;
        let is_option_of_key = is_option(option) && names_key(option) && is_long(value);
        if is_key(value) || (is_option_of_key && !is_option(value)) {
            found.push(match is_option(option) {
                true => option.to_owned(),
                false => format!("argument {number}"),
            });
        }
    }
    found.extend(server.url.iter().flat_map(|url| keys_in_url(url)));
    found
}

fn keys_in_url(url: &str) -> Vec<String> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter(|(name, value)| {
        is_key(value) || (names_key(name) && !value.is_empty() && !value.contains("${"))
    });
    let mut found: Vec<String> = named.map(|(name, _)| format!("{name} in its URL")).collect();
    let host = place.split_once("://").map_or(place, |(_, rest)| rest);
    let user = host.split('/').next().and_then(|host| host.rsplit_once('@')).map(|(user, _)| user);
    if user.is_some_and(|user| user.contains(':') && !user.contains("${")) {
        found.push("the password in its URL".to_owned());
    } else if found.is_empty() && is_key(place) {
        found.push("its URL".to_owned());
    }
    found
}

/// The variable to write instead of a key.
#[must_use]
pub fn variable_for(place: &str) -> String {
    let word = place.strip_suffix(" in its URL").unwrap_or(place).trim_start_matches('-');
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    if word.contains(' ') { "TOKEN".to_owned() } else { word.chars().map(plain).collect() }
}

fn is_key(text: &str) -> bool {
    !text.contains("${") && !redact(text).found.is_empty()
}

fn is_option(text: &str) -> bool {
    text.starts_with('-')
}

fn names_key(option: &str) -> bool {
    let option = option.trim_start_matches('-').to_ascii_lowercase();
    let words: Vec<&str> = option.split(['-', '_']).collect();
    words.iter().any(|word| KEY_WORDS.contains(word))
        && !words.last().is_some_and(|word| PLACE_WORDS.contains(word))
}

/// Whether a value is long and mixed enough to be a key rather than a word, a path or a variable.
fn is_long(value: &str) -> bool {
    value.chars().count() >= MIN_KEY_CHARS
        && value.chars().any(|c| c.is_ascii_digit())
        && !value.contains("${")
        && !value.contains(['/', ' '])
}

/// The lines of a person's settings.toml that allow a server on another machine.
#[must_use]
pub fn settings_lines(url: &str) -> [String; 2] {
    ["[[mcp.servers]]".to_owned(), format!("url = {}", toml::Value::String(url.to_owned()))]
}

/// The address of a server, if that is on another machine: it is off until the person's settings name it.
#[must_use]
pub fn remote_url(server: &McpServer) -> Option<&str> {
    let url = server.url.as_deref()?;
    let is_here = HttpUrl::parse(url).is_ok_and(|url| url.host().kind() == HostKind::Loopback);
    (!is_here).then_some(url)
}

/// Findings on servers that no run can use as they are.
pub(crate) fn findings(
    servers: &BTreeMap<String, NamedServer>,
    config_dir: Option<&Path>,
) -> Result<Vec<Finding>, WorkspaceError> {
    let settings = config_dir.map(Settings::load).transpose()?;
    let mut findings = Vec::new();
    for (name, NamedServer { server, file, line }) in
        servers.iter().filter(|(_, it)| it.server.enabled)
    {
        let line = u32::try_from(*line).unwrap_or(u32::MAX);
        let found = |severity, message, hint| Finding {
            rule: "mcp-server",
            severity,
            file: (*file).to_owned(),
            line,
            message,
            hint,
        };
        for place in written_keys(server) {
            findings.push(found(
                Severity::Error,
                format!("the server `{name}` has a key written out in `{place}`"),
                format!(
                    "replace the key, write ${{{}}} there, and set the variable in your environment",
                    variable_for(&place)
                ),
            ));
        }
        let is_known = settings.as_ref().is_none_or(|known| known.mcp.of(server).is_some());
        if let (Some(url), false) = (remote_url(server), is_known) {
            let path = config_dir.map(|dir| dir.join(SETTINGS_FILE)).unwrap_or_default();
            let [table, entry] = settings_lines(url);
            findings.push(found(
                Severity::Warning,
                format!("the server `{name}` is on another machine and is off until your settings name it"),
                format!(
                    "add `{table}` and below it `{entry}` to {}, then run `foreword trust`",
                    path.display()
                ),
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_workspace::Workspace;

    fn server(command: &[&str], url: Option<&str>) -> McpServer {
        McpServer {
            command: command.iter().map(ToString::to_string).collect(),
            url: url.map(str::to_owned),
            ..McpServer::default()
        }
    }

    #[test]
    fn keys_are_found_wherever_they_are_written() {
        let github = format!("ghp_{}", "aB3dE5fG7h".repeat(4).get(..36).unwrap());
        let keys = |command: &[&str]| written_keys(&server(command, None));
        assert_eq!(keys(&["srv", &format!("--token={github}")]), ["--token"]);
        assert_eq!(keys(&["srv", "--api-key", "a1b2c3d4e5f6g7"]), ["--api-key"]);
        assert_eq!(keys(&["srv", &github]), ["argument 1"]);
        for plain in [
            &["srv", "--api-key", "${KEY}"][..],
            &["srv", "--key-file", "keys/2024-prod.pem"],
            &["srv", "--token-name", "production-1234"],
            &["srv", "--api-key", "--verbose-output-1"],
            &["srv", "-y", "@scope/package-name@1.2.3"],
        ] {
            assert_eq!(keys(plain), Vec::<String>::new(), "{plain:?}");
        }
        let keys = |url: &str| written_keys(&server(&[], Some(url)));
        assert_eq!(keys("https://x.example/mcp?a=1&api_key=abc"), ["api_key in its URL"]);
        assert_eq!(keys("https://me:abc@x.example/mcp"), ["the password in its URL"]);
        assert_eq!(keys("https://x.example/mcp?api_key=${KEY}&q=1"), Vec::<String>::new());
        assert_eq!(variable_for("--api-key"), "API_KEY");
        assert_eq!(variable_for("api_key in its URL"), "API_KEY");
    }

    #[test]
    fn a_server_on_another_machine_needs_a_line_in_the_settings() {
        assert_eq!(remote_url(&server(&[], Some("http://127.0.0.1:3000/mcp"))), None);
        assert_eq!(remote_url(&server(&["x"], None)), None);
        let there = server(&[], Some("https://api.githubcopilot.com/mcp/"));
        let lines = settings_lines(remote_url(&there).unwrap()).join("\n");
        let config = tempfile::tempdir().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let text = "{\"mcpServers\": {\n\"gh\": {\"type\": \"http\", \"url\": \"https://api.githubcopilot.com/mcp/\"}}}";
        std::fs::write(dir.path().join(".mcp.json"), text).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let servers = workspace.mcp_servers().unwrap();
        let found = || findings(&servers, Some(config.path())).unwrap();
        let finding = found().remove(0);
        assert_eq!((finding.severity, finding.line), (Severity::Warning, 2));
        assert!(
            finding.hint.contains("`url = \"https://api.githubcopilot.com/mcp/\"`"),
            "{}",
            finding.hint
        );
        std::fs::write(config.path().join(SETTINGS_FILE), lines).unwrap();
        assert_eq!(found(), []);
    }
}
