use super::*;
use crate::config::host::{HostSettings, ProviderName};
use crate::config::sandbox_limits::SandboxLimits;
use crate::config::spending::SpendingLimit;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn parse(text: &str) -> Result<Config, WorkspaceError> {
    Config::parse(&SourceFile { path: CONFIG_FILE.into(), text: text.into(), first_line: 1 })
}

fn refusal(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

/// The default text with its keys switched on.
fn switched_on() -> String {
    DEFAULT_CONFIG_TEXT
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(key) if key.starts_with(|c: char| c.is_ascii_lowercase()) => key,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The limits of `foreword-sandbox`, which has a test of its own for them.
fn all_limits() -> SandboxLimits {
    SandboxLimits {
        processes: Some(1024),
        memory_mb: Some(8192),
        open_files: Some(8192),
        file_mb: Some(4096),
        temporary_mb: Some(1024),
        disk_reserve_mb: Some(256),
    }
}

fn keys(prefix: &str, table: &toml::Table, into: &mut BTreeSet<String>) {
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => keys(&format!("{prefix}{key}."), inner, into),
            _ => _ = into.insert(format!("{prefix}{key}")),
        }
    }
}

#[test]
fn nothing_said_is_the_default() {
    assert_eq!(parse("").unwrap(), Config::default());
    assert_eq!(parse("[limits]\n[modes.plan]\n").unwrap(), Config::default());
}

#[test]
fn the_default_text_parses_to_the_defaults_switched_off_and_on() {
    assert_eq!(parse(DEFAULT_CONFIG_TEXT).unwrap(), Config::default());
    let mut on = parse(&switched_on()).unwrap();
    // These have no default: the text shows an example.
    assert!(on.agent.take().is_some());
    assert!(on.model.name.take().is_some());
    assert!(on.sandbox_type.take().is_some() && on.agent_type.take().is_some());
    assert!(on.model.base_url.take().is_some());
    assert!(on.model.key_env.take().is_some());
    assert!(on.model.key_file.take().is_some());
    assert!(on.model.provider.take().is_some());
    assert_eq!(on.model.max_output_tokens.take(), Some(4096));
    assert_eq!(on.model.timeout_seconds.take(), Some(120));
    assert_eq!(on.model.retries.take(), Some(4));
    assert!(on.user_id.take().is_some());
    assert!(on.limits.max_prompt_tokens.take().is_some());
    for limits in [&mut on.limits.turn, &mut on.limits.session, &mut on.limits.day] {
        let set = std::mem::take(limits);
        assert!(set.tokens.is_some() && set.cost.is_some() && set.minutes.is_some());
    }
    assert!(on.assembly.min_score.take().is_some());
    assert!(on.assembly.memory_min_score.take().is_some());
    assert!(on.assembly.injection_min_score.take().is_some());
    for mode in [&mut on.modes.plan, &mut on.modes.act, &mut on.modes.review] {
        assert_eq!((mode.max_tools.take(), mode.max_skills.take()), (Some(10), Some(3)));
    }
    assert!(on.embedder.url.take().is_some());
    assert!(on.embedder.model.take().is_some());
    assert!(on.embedder.timeout_seconds.take().is_some());
    assert_eq!(std::mem::take(&mut on.host.limits), all_limits());
    assert_eq!(on, Config::default());
}

#[test]
fn the_default_text_mentions_every_key() {
    let one = SpendingLimit::new(1.0);
    let spending = PeriodLimits { tokens: one, cost: one, minutes: one };
    let capped =
        ModeSettings { max_tools: Some(1), max_skills: Some(1), ..ModeSettings::default() };
    let full = Config {
        agent: Some("a".into()),
        sandbox_type: Some("docker".into()),
        agent_type: Some("x".into()),
        model: ModelSettings {
            name: Some("m".into()),
            provider: Some(ProviderName::OpenAi),
            base_url: Some("http://127.0.0.1".into()),
            key_env: Some("KEY".into()),
            key_file: Some("/key".into()),
            max_output_tokens: Some(1),
            timeout_seconds: Some(1),
            retries: Some(1),
        },
        user_id: Some("u".into()),
        limits: Limits {
            max_prompt_tokens: Some(1),
            turn: spending,
            session: spending,
            day: spending,
            ..Limits::default()
        },
        assembly: Assembly {
            min_score: Some(0.2),
            memory_min_score: Some(0.3),
            injection_min_score: Some(0.5),
            ..Assembly::default()
        },
        embedder: EmbedderSettings {
            url: Some("http://127.0.0.1".into()),
            model: Some("m".into()),
            timeout_seconds: Some(1),
            ..EmbedderSettings::default()
        },
        host: HostSettings { limits: all_limits(), ..HostSettings::default() },
        modes: Modes { plan: capped.clone(), act: capped.clone(), review: capped },
        ..Config::default()
    };
    let (mut known, mut mentioned) = (BTreeSet::new(), BTreeSet::new());
    keys("", &toml::Table::try_from(full).unwrap(), &mut known);
    keys("", &switched_on().parse::<toml::Table>().unwrap(), &mut mentioned);
    assert_eq!(known, mentioned);
    assert_eq!(known.len(), 96);
}

#[test]
fn a_full_file_is_read() {
    let config = parse(
        "blueprint = 'roles'\nagent = 'cosmo'\nprofile = 'paranoid'\nreply_gate = true\n\
         [limits]\nmax_prompt_tokens = 900\ncontext_window = 8000\noutput_reserve = 0\n\
         [skills]\nroots = ['.claude/skills', '../shared']\nrequire_approval = true\n\
         [modes.review]\nbase_tools = ['git']\n[assembly]\nmax_tools = 2\ninclude_git = false\n",
    )
    .unwrap();
    assert_eq!(config.profile, Profile::Paranoid);
    assert_eq!(config.profile.as_str(), "paranoid");
    assert_eq!(config.limits.max_prompt_tokens, Some(900));
    assert_eq!(config.skills.roots, [".claude/skills", "../shared"]);
    assert_eq!(config.modes.review.base_tools, ["git"]);
    assert!(!config.assembly.include_git);
    assert_eq!(config.assembly.max_skills, 3);
}

#[test]
fn a_model_is_a_name_or_a_table() {
    assert_eq!(parse("model = 'm'").unwrap().model.name.as_deref(), Some("m"));
    let model = parse("[model]\nname = 'm'\nprovider = 'openai'\nretries = 0").unwrap().model;
    assert_eq!((model.provider, model.retries), (Some(ProviderName::OpenAi), Some(0)));
    let error = parse("[model]\nkey_evn = 'x'").unwrap_err();
    assert_eq!(error.to_string(), "foreword.toml:2: unknown key `key_evn`");
    assert_eq!(error.hint(), "did you mean `key_env`?");
}

#[test]
fn an_unknown_key_gives_line_and_suggestion() {
    let error = parse("agent = 'a'\nblueprnt = 'x'\n").unwrap_err();
    assert_eq!(error.to_string(), "foreword.toml:2: unknown key `blueprnt`");
    assert_eq!(error.hint(), "did you mean `blueprint`?");
    let error = parse("[modes.pan]\nbase_tools = []").unwrap_err();
    assert_eq!(error.to_string(), "foreword.toml:1: unknown key `pan`");
    assert_eq!(error.hint(), "did you mean `plan`?");
}

#[test]
fn values_that_make_no_sense_give_line_and_reason() {
    for (text, message) in [
        (
            "\nprofile = 'reckless'",
            "foreword.toml:2: unknown value `reckless`, expected one of `paranoid`, `balanced`, `yolo`",
        ),
        (
            "[limits]\ncontext_window = 0",
            "foreword.toml:2: `limits.context_window` is 0, it must be at least 1",
        ),
        (
            "[limits]\n\ncontext_window = 10\noutput_reserve = 10",
            "foreword.toml:4: `limits.output_reserve` is 10 and leaves nothing of a context_window of 10",
        ),
        (
            "[limits]\nmax_file_bytes = 99999999999",
            "foreword.toml:2: `limits.max_file_bytes` is 99999999999, it must be between 1 and 67108864",
        ),
        (
            "[limits]\nmax_prompt_tokens = 0",
            "foreword.toml:2: `limits.max_prompt_tokens` is 0, it must be at least 1",
        ),
        (
            "[skills]\nroots = [\n'a', '~/skills']",
            "foreword.toml:2: `skills.roots` contains `~/skills`, and `~` is not expanded: write the full path",
        ),
        (
            "[skills]\ndirectory = '../skills'",
            "foreword.toml:2: `skills.directory` is `../skills`, which cannot be used: it climbs out with `..`",
        ),
        (
            "user_id = '../root'",
            "foreword.toml:1: `user_id` is `../root`, which cannot be used: it contains a path separator",
        ),
        ("channel = \" \"", "foreword.toml:1: `channel` is empty"),
        (
            "model = \"a\\nb\"",
            "foreword.toml:1: `model.name` contains a control character: `a\\nb`",
        ),
        (
            "[model]\nkey_env = 'sk-ant-abc'",
            "foreword.toml:2: `model.key_env` must be the name of an environment variable, not the key itself",
        ),
        (
            "[host]\nweb_hosts = ['https://x.org/']",
            "foreword.toml:2: `host.web_hosts` contains `https://x.org/`: write the full host name, without a path",
        ),
        (
            "[embedder]\nurl = 'http://127.0.0.1:2375/containers/create'",
            "foreword.toml:2: `embedder.url` is `http://127.0.0.1:2375/containers/create`, write only the server: the path is always /v1/embeddings",
        ),
        (
            "[embedder]\nurl = 'http://127.0.0.1:2375/?x=/v1'",
            "foreword.toml:2: `embedder.url` is `http://127.0.0.1:2375/?x=/v1`, write only the server: the path is always /v1/embeddings",
        ),
        (
            "[host.limits]\nprocesses = 1",
            "foreword.toml:2: `host.limits.processes` is 1, it must be between 16 and 1000000",
        ),
        (
            "[host]\nmax_depth = 0",
            "foreword.toml:2: `host.max_depth` is 0, it must be between 1 and 16",
        ),
        (
            "[assembly]\nmax_tools = 10001",
            "foreword.toml:2: `assembly.max_tools` is 10001, it must be at most 10000",
        ),
        (
            "[modes.act]\nmax_skills = 10001",
            "foreword.toml:2: `modes.act.max_skills` is 10001, it must be at most 10000",
        ),
        (
            "[assembly]\ninjection_min_score = 1.5",
            "foreword.toml:2: `assembly.injection_min_score` has to lie between 0 and 1",
        ),
        (
            "[assembly]\ninjection_patterns = ['']",
            "foreword.toml:2: `assembly.injection_patterns` is empty",
        ),
    ] {
        assert_eq!(refusal(text), message);
    }
    assert_eq!(parse("[limits]\nmax_file_chars = -1").unwrap_err().line(), Some(2));
    assert_eq!(parse("[assembly]\nmax_skills = nan").unwrap_err().line(), Some(2));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\PC|[\n\\[\\]=\"'.#]|limits|agent|roots){0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.line().is_some_and(|line| line <= text.lines().count() + 1));
        }
    }
}
