//! What keeps an MCP server of a workspace from being used, as far as it can be seen without starting it.

use std::collections::BTreeMap;
use std::path::Path;

use foreword::{Finding, Severity};
use foreword_guard::{HostKind, HttpUrl, redact};
use foreword_workspace::{McpServer, NamedServer, SETTINGS_FILE, Settings, WorkspaceError};

/// Options with such a word in their names hold keys.
const KEY_WORDS: [&str; 14] = [
    "token",
    "key",
    "apikey",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "pgpassword",
    "pat",
    "credential",
    "credentials",
    "authorization",
];
/// Such a value is a key however short it is.
const PASSWORD_WORDS: [&str; 5] = ["password", "passwd", "passphrase", "pass", "pgpassword"];
/// Options with such a last word name a place instead.
const PLACE_WORDS: [&str; 5] = ["file", "path", "env", "name", "id"];
/// What stands in front of the key in a header.
const AUTH_SCHEMES: [&str; 4] = ["Bearer ", "bearer ", "Basic ", "token "];
/// What is shorter under such an option may be anything.
const MIN_KEY_CHARS: usize = 12;
/// What is this long without a blank is no word.
const LONG_KEY_CHARS: usize = 24;

/// Where a server's definition has a key written out: a variable, a header, an argument or a part of its
/// URL, with names in code quotes. The key itself is not part of the answer.
#[must_use]
pub fn written_keys(server: &McpServer) -> Vec<String> {
    keys(server).into_iter().map(|(place, _)| place).collect()
}

/// Why a server with a key written out is not started, and what to do.
#[must_use]
pub fn written_key_fault(server: &McpServer) -> Option<String> {
    let place = written_keys(server).into_iter().next()?;
    let (place, variable) = (foreword::visible_line(&place), variable_for(&place));
    Some(format!(
        "a key is written out in {place}; write `${{{variable}}}` there, set that variable in your \
         environment, and replace the key, because whoever has the file has it too"
    ))
}

/// A text from a server's definition without the keys that are written there.
#[must_use]
pub fn without_written_keys(server: &McpServer, text: &str) -> String {
    keys(server).iter().fold(text.to_owned(), |text, (_, key)| text.replace(key, "[key]"))
}

/// The keys in a server's definition, each with its place.
fn keys(server: &McpServer) -> Vec<(String, &str)> {
    let values = server.env.iter().chain(&server.headers);
    let named = values.filter_map(|(name, value)| {
        let value = without_scheme(value);
        (is_key(value) || is_value_of_key(name, value)).then(|| (format!("`{name}`"), value))
    });
    let mut found: Vec<(String, &str)> = named.collect();
    let mut before = "";
    for (number, argument) in server.command.iter().enumerate().skip(1) {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if is_option(option) || is_variable(option) => (option, value),
            _ => (before, argument.as_str()),
        };
        before = argument;
        let is_named = is_option(option) || is_variable(option);
        if is_key(value) || (is_named && is_value_of_key(option, value) && !is_option(value)) {
            let place = match is_named {
                true => format!("`{option}`"),
                false => format!("argument {number}"),
            };
            found.push((place, value));
        }
    }
    found.extend(server.url.iter().flat_map(|url| keys_in_url(url)));
    found
}

pub(crate) fn keys_in_url(url: &str) -> Vec<(String, &str)> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.filter(|(name, value)| {
        let value = literal(value);
        is_key(&value) || (names_key(name) && !value.is_empty())
    });
    let mut found: Vec<_> =
        named.map(|(name, value)| (format!("`{name}` in its URL"), value)).collect();
    let host = place.split_once("://").map_or(place, |(_, rest)| rest);
    let user = host.split('/').next().and_then(|host| host.rsplit_once('@')).map(|(user, _)| user);
    let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
    if let Some(password) = password.filter(|password| !literal(password).is_empty()) {
        found.push(("the password in its URL".to_owned(), password));
    } else if found.is_empty() && is_key(place) {
        found.push(("its URL".to_owned(), place));
    }
    found
}

/// The variable to write instead of a key.
#[must_use]
pub fn variable_for(place: &str) -> String {
    let word = place.strip_suffix(" in its URL").unwrap_or(place);
    let word = word.trim_matches('`').trim_start_matches('-');
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    if word.contains(' ') { "TOKEN".to_owned() } else { word.chars().map(plain).collect() }
}

/// A text without the names of variables: what stands behind `:-` is written out all the same.
fn literal(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(inside.split_once(":-").map_or("", |(_, default)| default));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn is_key(text: &str) -> bool {
    !redact(&literal(text)).found.is_empty()
}

fn is_option(text: &str) -> bool {
    text.starts_with('-')
}

/// `API_KEY` of `API_KEY=…`, as `env` takes it.
fn is_variable(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    !text.is_empty() && text.chars().all(inside)
}

fn names_key(option: &str) -> bool {
    names_one_of(option, &KEY_WORDS)
}

fn names_one_of(option: &str, known: &[&str]) -> bool {
    let option = option.trim_start_matches('-').to_ascii_lowercase();
    let words: Vec<&str> = option.split(['-', '_']).collect();
    words.iter().any(|word| known.contains(word))
        && !words.last().is_some_and(|word| PLACE_WORDS.contains(word))
}

/// Whether a value is a key because of its name: a password always, anything else if it is long and no word, path
/// or variable.
fn is_value_of_key(name: &str, value: &str) -> bool {
    let value = literal(value);
    let is_flag = matches!(value.as_str(), "true" | "false" | "yes" | "no" | "none" | "0" | "1");
    if value.is_empty() || is_flag || is_placeholder(&value) {
        return false;
    }
    names_one_of(name, &PASSWORD_WORDS) || (names_key(name) && is_long(&value))
}

/// A header's value without what stands in front of the key.
pub(crate) fn without_scheme(value: &str) -> &str {
    let behind = AUTH_SCHEMES.iter().find_map(|scheme| value.strip_prefix(scheme));
    behind.unwrap_or(value).trim()
}

/// Whether to hide a value because of its name. One in quotes is hidden however short it is, if it has only the
/// characters of a key: a person must see commands, addresses and paths before they agree to them.
pub(crate) fn is_named_key(name: &str, value: &str, is_quoted: bool) -> bool {
    let is_path = value.starts_with(['/', '.', '~']) || is_option(value) || value.contains("://");
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.+/=~:".contains(c);
    let may_be = !is_path && !is_placeholder(value) && literal(value).chars().all(is_part);
    is_value_of_key(name, value)
        || (is_quoted && names_key(name) && may_be && !literal(value).is_empty())
}

/// What documentation writes in place of a key.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with('<')
        || ["your", "changeme", "change-me", "example", "placeholder", "xxxx"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Whether a value is long and mixed enough to be a key rather than a word, a path or a number.
fn is_long(value: &str) -> bool {
    let is_path = value.starts_with(['/', '.', '~']) || value.contains("://");
    let has = |kind: fn(&char) -> bool| value.chars().any(|c| kind(&c));
    let is_mixed = has(char::is_ascii_digit)
        || (has(char::is_ascii_uppercase) && has(char::is_ascii_lowercase))
        || value.chars().count() >= LONG_KEY_CHARS;
    value.chars().count() >= MIN_KEY_CHARS
        && has(char::is_ascii_alphabetic)
        && is_mixed
        && !is_path
        && !value.contains(' ')
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
        let places = written_keys(server);
        for place in &places {
            findings.push(found(
                Severity::Error,
                format!("the server `{name}` has a key written out in {place}"),
                format!(
                    "replace the key, write ${{{}}} there, and set the variable in your environment",
                    variable_for(place)
                ),
            ));
        }
        // The hint below repeats the URL, so it waits until no key is written there.
        if !places.is_empty() {
            continue;
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
        assert_eq!(keys(&["srv", &format!("--token={github}")]), ["`--token`"]);
        assert_eq!(keys(&["srv", "--api-key", "a1b2c3d4e5f6g7"]), ["`--api-key`"]);
        assert_eq!(keys(&["srv", &github]), ["argument 1"]);
        assert_eq!(keys(&["env", "OPENAI_API_KEY=a1b2c3d4e5f6g7", "srv"]), ["`OPENAI_API_KEY`"]);
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
        assert_eq!(keys("https://x.example/mcp?a=1&api_key=abc"), ["`api_key` in its URL"]);
        assert_eq!(keys("https://me:abc@x.example/mcp"), ["the password in its URL"]);
        assert_eq!(keys("https://x.example/mcp?api_key=${KEY}&q=1"), Vec::<String>::new());
        assert_eq!(keys("https://x.example/mcp?api_key=${KEY:-abc}"), ["`api_key` in its URL"]);
        assert_eq!(variable_for("`--api-key`"), "API_KEY");
        assert_eq!(variable_for("`api_key` in its URL"), "API_KEY");
    }

    #[test]
    fn variables_and_headers_are_looked_at_by_value_and_by_name() {
        let with = |name: &str, value: &str| McpServer {
            headers: BTreeMap::from([(name.to_owned(), value.to_owned())]),
            ..McpServer::default()
        };
        let github = format!("ghp_{}", "aB3dE5fG7h".repeat(4).get(..36).unwrap());
        for (name, value) in [
            ("X-Any", github.as_str()),
            ("X-Any", &format!("${{TOKEN:-{github}}}")),
            ("X-Any", &format!("${{PREFIX}}{github}")),
            ("API_KEY", "a1b2c3d4e5f6g7"),
            ("Authorization", "Bearer a1b2c3d4e5f6g7"),
            ("AWS_SECRET_ACCESS_KEY", "a1b2XUtnFEMI/K7MDENG/bPxRfiCYzzz"),
            ("API_KEY", "qWertyuiopasdfghjklzxcvbnm"),
            ("PGPASSWORD", "hunter2"),
            ("DB_PASS", "correct-horse-battery"),
        ] {
            let server = with(name, value);
            assert_eq!(written_keys(&server), [format!("`{name}`")], "{value}");
            let shown = without_written_keys(&server, value);
            assert!(shown.contains("[key]") && !shown.contains("a1b2") && !shown.contains(&github));
            assert!(written_key_fault(&server).unwrap().contains(name));
        }
        for (name, value) in [
            ("API_KEY", "${API_KEY}"),
            ("Authorization", "Bearer ${TOKEN}"),
            ("Authorization", "Bearer ${TOKEN:-none}"),
            ("TOKEN_FILE", "keys-2024-production"),
            ("KEY", "/run/keys/2024-production"),
            ("MODE", "read-only-2024-x"),
            ("MAX_TOKEN_COUNT", "1234567890123"),
            ("API_KEY", "YOUR_API_KEY_GOES_HERE"),
            ("PASSWORD", "${PASSWORD}"),
            ("PWD", "/home/me/work"),
        ] {
            assert_eq!(written_keys(&with(name, value)), Vec::<String>::new(), "{name}={value}");
        }
    }

    #[test]
    fn a_hint_never_repeats_a_key() {
        let dir = tempfile::tempdir().unwrap();
        let text = r#"{"mcpServers": {"x": {"type": "http", "url": "https://mcp.example.com/?key=s3cr3tvalue"}}}"#;
        std::fs::write(dir.path().join(".mcp.json"), text).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let found = findings(&workspace.mcp_servers().unwrap(), Some(dir.path())).unwrap();
        let [finding] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.message, "the server `x` has a key written out in `key` in its URL");
        assert!(!format!("{found:?}").contains("s3cr3t"), "{found:?}");
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
