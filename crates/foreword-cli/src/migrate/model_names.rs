//! Models by their aliases in other tools.

use foreword_workspace::ProviderName;

/// The current model of each family, where a tool names only the family.
const ALIASES: [(&str, &str); 5] = [
    ("opus", "claude-opus-5-5"),
    ("opusplan", "claude-opus-5-5"),
    ("best", "claude-opus-5-5"),
    ("sonnet", "claude-sonnet-5-5"),
    ("haiku", "claude-haiku-5-5"),
];

/// A model as Foreword names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MappedModel {
    pub(super) name: String,
    pub(super) provider: Option<ProviderName>,
}

/// The model for a name; `None` where the tool leaves the choice to its settings.
pub(super) fn mapped(given: &str) -> Option<MappedModel> {
    let given = given.split_whitespace().next().unwrap_or_default();
    if matches!(given, "" | "inherit" | "default" | "auto" | "fast") {
        return None;
    }
    // `sonnet[1m]` asks for a longer window of the same model.
    let bare = given.split_once('[').map_or(given, |(name, _)| name);
    let (vendor, name) = bare.split_once('/').map_or((None, bare), |(vendor, name)| match vendor {
        "anthropic" => (Some(ProviderName::Anthropic), name),
        "openai" | "openai-codex" => (Some(ProviderName::OpenAi), name),
        _ => (None, bare),
    });
    let alias = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, model)| model);
    let provider = vendor.or_else(|| {
        if name.starts_with("claude-") {
            Some(ProviderName::Anthropic)
        } else if name.starts_with("gpt-") || name.starts_with("codex-") {
            Some(ProviderName::OpenAi)
        } else {
            None
        }
    });
    Some(MappedModel { name: name.to_owned(), provider })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_become_models_and_full_names_stay() {
        let name = |given| mapped(given).map(|model| model.name);
        assert_eq!(name("sonnet").as_deref(), Some("claude-sonnet-5-5"));
        assert_eq!(name("Opus[1m]").as_deref(), Some("claude-opus-5-5"));
        assert_eq!(name("claude-haiku-4-5-20251001").as_deref(), Some("claude-haiku-4-5-20251001"));
        assert_eq!(name("anthropic/claude-opus-4-6").as_deref(), Some("claude-opus-4-6"));
        assert_eq!(name("qwen/qwen3-coder").as_deref(), Some("qwen/qwen3-coder"));
        assert_eq!((name("inherit"), name(""), name("fast")), (None, None, None));
        assert_eq!(mapped("gpt-5.5").and_then(|model| model.provider), Some(ProviderName::OpenAi));
    }
}
