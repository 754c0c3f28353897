//! Which variables lead to the proxy, and where the proxy leads.

use std::ffi::OsString;

use foreword_watch::{Proxy, Route, WatchError};

use crate::error::CliError;
use crate::terminal::Terminal;

/// A provider: the name of its route, the variables that programs read its base URL from, and its own URL.
const PROVIDERS: [(&str, &[&str], &str); 3] = [
    ("anthropic", &["ANTHROPIC_BASE_URL"], "https://api.anthropic.com"),
    ("openai", &["OPENAI_BASE_URL", "OPENAI_API_BASE"], "https://api.openai.com/v1"),
    ("gemini", &["GOOGLE_GEMINI_BASE_URL"], "https://generativelanguage.googleapis.com"),
];

/// Variables that send even loopback requests elsewhere.
const HTTP_PROXIES: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Variables that name the proxy to providers.
const HTTPS_PROXIES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Routes, and the variables that are set to them.
#[derive(Debug)]
pub(super) struct Upstreams {
    routes: Vec<Route>,
    /// The name of a variable and the index of its route.
    variables: Vec<(String, usize)>,
    /// What is added to `NO_PROXY`.
    no_proxy: Option<String>,
    /// The proxy of the network for providers, and the hosts that are reached without it.
    network_proxy: Option<(String, String)>,
}

impl Upstreams {
    /// The upstreams by the variables as they are set now, and those of `--env`.
    pub(super) fn new(
        further: &[String],
        set: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, CliError> {
        let value = |name: &str| set(name).filter(|value| !value.trim().is_empty());
        let not_through = value("NO_PROXY").or_else(|| value("no_proxy")).unwrap_or_default();
        let network_proxy = HTTPS_PROXIES.iter().find_map(|name| value(name));
        let mut all = Self {
            routes: Vec::new(),
            variables: Vec::new(),
            no_proxy: None,
            network_proxy: network_proxy.map(|proxy| (proxy, not_through)),
        };
        for (name, variables, own) in PROVIDERS {
            let url = variables.iter().find_map(|variable| value(variable));
            let url = url.unwrap_or_else(|| own.to_owned());
            let main = all.add(name, &url)?;
            for variable in variables {
                let other = value(variable).filter(|other| *other != url);
                let route = match other {
                    Some(other) => all.add(&route_name(variable), &other)?,
                    None => main,
                };
                all.variables.push(((*variable).to_owned(), route));
            }
        }
        for given in further {
            let (variable, url) = given
                .split_once('=')
                .map_or((given.as_str(), None), |(name, url)| (name, Some(url)));
            let is_name = !variable.is_empty()
                && variable.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name {
                return Err(CliError::usage(format!(
                    "invalid --env `{given}`: `{variable}` is not the name of a variable"
                ))
                .hint("pass NAME or NAME=URL"));
            }
            let url = url.map(str::to_owned).or_else(|| value(variable)).ok_or_else(|| {
                CliError::usage(format!("--env {variable}: no upstream; the variable is not set"))
                    .hint(format!("pass its URL: `--env {variable}=https://api.example.com/v1`"))
            })?;
            let route = all.add(&route_name(variable), &url)?;
            all.variables.retain(|(known, _)| known != variable);
            all.variables.push((variable.to_owned(), route));
        }
        if HTTP_PROXIES.iter().any(|name| value(name).is_some()) {
            let before = value("NO_PROXY").or_else(|| value("no_proxy"));
            let before = before.map_or(String::new(), |before| format!("{before},"));
            all.no_proxy = Some(format!("{before}127.0.0.1,localhost"));
        }
        Ok(all)
    }

    fn add(&mut self, name: &str, url: &str) -> Result<usize, WatchError> {
        let mut route = Route::new(name, url.trim())?;
        if let Some((proxy, not_through)) = &self.network_proxy
            && !is_excluded(route.host(), not_through)
        {
            route = route.through(proxy)?;
        }
        self.routes.push(route);
        Ok(self.routes.len() - 1)
    }

    pub(super) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The variables for the program.
    pub(super) fn variables(&self, proxy: &Proxy) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = self
            .variables
            .iter()
            .filter_map(|(name, route)| {
                let route = self.routes.get(*route)?;
                Some((name.into(), proxy.base_url(route).into()))
            })
            .collect();
        for name in ["NO_PROXY", "no_proxy"] {
            variables.extend(self.no_proxy.iter().map(|value| (name.into(), value.into())));
        }
        variables
    }

    /// Says how to use the proxy.
    pub(super) fn announce(&self, proxy: &Proxy, terminal: &Terminal) {
        terminal.say(&format!("listening on http://{}; stop with Ctrl-C", proxy.address()));
        terminal.say("set one of these for your program, or put the URL into its settings:");
        for (name, route) in &self.variables {
            if let Some(route) = self.routes.get(*route) {
                terminal.say(&format!("  {name}={}  ({})", proxy.base_url(route), route.origin()));
            }
        }
    }
}

/// Whether a host is reached without the proxy of the network: this machine, and what `NO_PROXY` lists.
fn is_excluded(host: &str, not_through: &str) -> bool {
    let is_local = host == "localhost" || host == "::1" || host.starts_with("127.");
    let listed = not_through.split(',').map(|entry| entry.trim().trim_start_matches('.'));
    let is_listed = listed.filter(|entry| !entry.is_empty()).any(|entry| {
        let suffix = host.strip_suffix(entry);
        entry == "*" || suffix.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    is_local || is_listed
}

/// A name for the path: a variable may hold capitals and underscores, which paths may, too.
fn route_name(variable: &str) -> String {
    variable.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(further: &[&str], set: &[(&str, &str)]) -> Result<Vec<String>, String> {
        let further: Vec<String> = further.iter().map(ToString::to_string).collect();
        let set: Vec<(String, String)> =
            set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let all = Upstreams::new(&further, &|name| {
            set.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
        .map_err(|error| error.message)?;
        let shown = all.variables.iter().map(|(name, route)| {
            let route = &all.routes[*route];
            format!("{name} {} {}", route.name(), route.origin())
        });
        Ok(shown.collect())
    }

    #[test]
    fn the_upstream_is_what_the_variable_said_before() {
        assert_eq!(
            routes(
                &[],
                &[
                    ("ANTHROPIC_BASE_URL", "http://localhost:9000/x"),
                    ("OPENAI_API_BASE", "https://o.example/v1")
                ]
            ),
            Ok(vec![
                "ANTHROPIC_BASE_URL anthropic http://localhost:9000".into(),
                "OPENAI_BASE_URL openai https://o.example".into(),
                "OPENAI_API_BASE openai https://o.example".into(),
                "GOOGLE_GEMINI_BASE_URL gemini https://generativelanguage.googleapis.com".into(),
            ])
        );
    }

    #[test]
    fn further_variables_need_an_upstream() {
        let found = routes(
            &["MISTRAL_URL=https://m.example/v1", "OLLAMA_HOST"],
            &[("OLLAMA_HOST", "http://127.0.0.1:11434")],
        );
        let found = found.unwrap();
        assert!(
            found.contains(&"MISTRAL_URL mistral_url https://m.example".to_owned()),
            "{found:?}"
        );
        assert!(found.contains(&"OLLAMA_HOST ollama_host http://127.0.0.1:11434".to_owned()));
        for (given, reason) in [
            ("MISTRAL_URL", "no upstream"),
            ("A B=x", "not the name"),
            ("X=ftp://h", "invalid upstream URL"),
            ("=x", "not the name"),
        ] {
            let error = routes(&[given], &[]).unwrap_err();
            assert!(error.contains(reason), "{given}: {error}");
        }
    }

    #[test]
    fn providers_are_reached_through_the_proxy_of_the_network() {
        for (host, excluded) in [
            ("api.anthropic.com", false),
            ("localhost", true),
            ("127.0.0.1", true),
            ("llm.corp.example", true),
            ("corp.example", true),
            ("notcorp.example", false),
        ] {
            assert_eq!(is_excluded(host, "intranet, .corp.example"), excluded, "{host}");
        }
        assert!(is_excluded("api.anthropic.com", "*"));
        let error = routes(&[], &[("HTTPS_PROXY", "socks5://x:1")]).unwrap_err();
        assert!(error.contains("invalid HTTPS_PROXY"), "{error}");
        assert!(routes(&[], &[("HTTPS_PROXY", "proxy:3128")]).is_ok());
    }

    #[test]
    fn a_proxy_of_the_network_is_kept_away_from_this_machine() {
        let set = |name: &str| match name {
            "HTTP_PROXY" => Some("http://proxy:3128".to_owned()),
            "NO_PROXY" => Some("intranet".to_owned()),
            _ => None,
        };
        let all = Upstreams::new(&[], &set).unwrap();
        assert_eq!(all.no_proxy.as_deref(), Some("intranet,127.0.0.1,localhost"));
    }
}
