//! `.claude/settings.json`: permissions, the model, and what concerns Claude Code alone.

use serde_json::Value;

use super::import::Import;
use super::json5;
use super::model_names;
use super::permissions::{Decision, MappedRule, Rule, mapped_rule};

const MAX_RULES: usize = 1_000;

pub(super) fn migrate(import: &mut Import, path: &str) {
    if !import.source.exists(path) {
        return;
    }
    let Some(text) = import.read(path) else { return };
    let value = match json5::parse(&text) {
        Ok(value) => value,
        Err(reason) => return import.lost(path, reason),
    };
    let Some(settings) = value.as_object() else {
        return import.lost(path, "not an object of settings");
    };
    for (key, value) in settings {
        migrate_setting(import, path, key, value);
    }
}

fn migrate_setting(import: &mut Import, path: &str, key: &str, value: &Value) {
    let at = format!("{path}: {key}");
    match key {
        "$schema" => {}
        "permissions" => permissions(import, path, value),
        "model" => {
            let given = value.as_str().unwrap_or_default();
            match model_names::mapped(given) {
                Some(model) => {
                    let note = format!("{given} → model.name = \"{}\"", model.name);
                    import.settings.set_model(model);
                    import.mapped(&at, "foreword.toml", note);
                }
                None => import.left(&at, "the default model is used"),
            }
        }
        "hooks" => {
            for event in value.as_object().into_iter().flat_map(serde_json::Map::keys) {
                import.lost(
                    &format!("{at}.{event}"),
                    "Foreword runs no hooks; put checks into your git hooks or CI",
                );
            }
        }
        "env" => {
            let names: Vec<&str> =
                value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if !names.is_empty() {
                import.lost(&at, format!("set in your own environment: {}", names.join(", ")));
            }
        }
        // Read with the styles.
        "outputStyle" => import.settings.output_style = value.as_str().map(str::to_owned),
        "disabledMcpjsonServers" => {
            let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            import.servers.disabled.extend(names.map(str::to_owned));
        }
        "enableAllProjectMcpServers" | "enabledMcpjsonServers" => {
            import.left(&at, "the trust question decides about MCP servers");
        }
        "enabledPlugins" | "extraKnownMarketplaces" => {
            import.lost(
                &at,
                "plugins are not supported; copy their skills and agents into the project",
            );
        }
        "apiKeyHelper" | "awsAuthRefresh" | "awsCredentialExport" | "forceLoginMethod" => {
            import.left(&at, "keys belong to your own settings.toml; see docs/models.md");
        }
        "sandbox" => {
            import.left(&at, "Foreword always runs agents in a sandbox; see docs/sandboxes.md");
        }
        "attribution" | "includeCoAuthoredBy" => {
            import.lost(&at, "state in AGENTS.md how commits are signed");
        }
        "language" => match value.as_str() {
            Some(language) => {
                let text = format!("Answer in {language}.");
                import.instructions.add(&at, "Language", &text, "as an instruction");
            }
            None => import.left(&at, "not a language"),
        },
        "statusLine"
        | "theme"
        | "spinnerTipsEnabled"
        | "cleanupPeriodDays"
        | "verbose"
        | "autoUpdatesChannel"
        | "companyAnnouncements"
        | "fileSuggestion"
        | "alwaysThinkingEnabled"
        | "effortLevel"
        | "terminalProgressBarEnabled"
        | "showTurnDuration"
        | "plansDirectory"
        | "respectGitignore"
        | "spinnerVerbs"
        | "editorMode"
        | "teammateMode"
        | "voiceEnabled"
        | "preferredNotifChannel"
        | "disableAllHooks"
        | "availableModels"
        | "includeGitInstructions"
        | "skipWebFetchPreflight"
        | "autoMemoryEnabled"
        | "prefersReducedMotion" => {
            import.left(&at, "only affects the interface of Claude Code");
        }
        _ => import.lost(&at, "unknown setting"),
    }
}

fn permissions(import: &mut Import, path: &str, value: &Value) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let at = format!("{path}: permissions.{key}");
        let decision = match key.as_str() {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "deny" => Decision::Deny,
            "defaultMode" => {
                match value.as_str() {
                    Some("default") => {}
                    mode => import.lost(
                        &at,
                        format!(
                            "mode `{}`: Foreword asks for what cannot be undone; see `foreword permissions`",
                            mode.unwrap_or_default()
                        ),
                    ),
                }
                continue;
            }
            "additionalDirectories" => {
                import.lost(&at, "agents reach the workspace only");
                continue;
            }
            "disableBypassPermissionsMode" | "disableAutoMode" => {
                import.left(&at, "Foreword has no such mode");
                continue;
            }
            _ => {
                import.lost(&at, "unknown setting");
                continue;
            }
        };
        let Some(rules) = value.as_array() else {
            import.lost(&at, "not a list of rules");
            continue;
        };
        for rule in rules.iter().take(MAX_RULES) {
            match rule.as_str() {
                Some(rule) => take_rule(import, &at, decision, rule),
                None => import.lost(&format!("{at} {rule}"), "not a rule"),
            }
        }
        if rules.len() > MAX_RULES {
            import.lost(&at, format!("more than {MAX_RULES} rules; the rest is skipped"));
        }
    }
}

fn take_rule(import: &mut Import, at: &str, decision: Decision, rule: &str) {
    let source = format!("{at} {rule}");
    let one = |pattern| Rule { decision, pattern, source: source.clone(), is_for_one_agent: false };
    match mapped_rule(rule) {
        MappedRule::Patterns(patterns) => {
            import.permissions.rules.extend(patterns.into_iter().map(one));
        }
        // A host that another rule allows stays denied.
        MappedRule::WebHost(host) if decision == Decision::Deny => {
            let host = host.strip_prefix("*.").unwrap_or(&host);
            import.permissions.rules.push(one(format!("web_fetch(domain:{host})")));
        }
        MappedRule::WebHost(host) if host.is_empty() || host.contains(['/', '*', '@']) => {
            import.lost(&source, "`host.web_hosts` takes whole host names");
        }
        MappedRule::WebHost(host) => {
            import.mapped(&source, "foreword.toml", format!("host.web_hosts: {host}"));
            if decision == Decision::Ask {
                import.permissions.rules.push(one(format!("web_fetch(domain:{host})")));
            }
            import.settings.add_web_host(host);
        }
        // What no tool can do, and what none reaches, needs no rule against it.
        MappedRule::Outside(reason) if decision != Decision::Allow => import.left(&source, reason),
        MappedRule::Lost(_) if decision == Decision::Deny && !rule.contains('(') => {
            import.left(&source, "no tool does this");
        }
        MappedRule::Outside(reason) | MappedRule::Lost(reason) => import.lost(&source, reason),
    }
}
