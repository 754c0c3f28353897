//! Seed 003, layered composition: the core's part, in the order of the document, on the blueprint `roles`.
//!
//! Elsewhere (`crates/foreword-cli/tests/`, over `examples/roles`): the five agents with their prompt lists,
//! capability packs matched to tool surfaces, prompt files and references, identity bleed and order as
//! lint errors, the coordinator's text, and that legacy files are gone. Spawning belongs to the host.

use crate::support::{assert_in_order, build, context, has, is_inactive, modules, section, with};
use foreword::{Authority, Context, Prompt};
use serde_json::{Value, json};

fn roles(json: &Value) -> Prompt {
    build("roles", json)
}

/// The worker of the document, started by the coordinator.
fn worker() -> Value {
    json!({
        "base": "Everyone here is concise.",
        "capabilities": [
            {"name": "core", "text": "Say what you did."},
            {"name": "coding-readwrite", "text": "Read before you edit."},
            {"name": "tasks", "text": "Keep `task_update` current."},
        ],
        "persona": "You are the worker.",
        "runtimeContext": {
            "mode": "sub-agent", "parentRole": "coordinator", "objective": "Fix the login",
            "taskId": "TASK-7",
        },
    })
}

fn top_level() -> Value {
    with(worker(), json!({"runtimeContext": {"mode": "top-level"}}))
}

mod composition_contract {
    use super::*;

    #[test]
    fn base_capabilities_persona_runtime_in_this_exact_order() {
        let prompt = roles(&worker());
        assert_eq!(modules(&prompt), ["base", "capabilities", "persona", "overlay"]);
        assert_in_order(
            prompt.text(),
            &[
                "Everyone here is concise.",
                "Say what you did.",
                "Read before you edit.",
                "Keep `task_update` current.",
                "You are the worker.",
                "- Started by: coordinator",
            ],
        );
    }

    #[test]
    fn layer_1_capabilities_are_0_to_n_in_the_order_given() {
        let none = roles(&with(worker(), json!({"capabilities": []})));
        assert!(is_inactive(&none, "capabilities"));
        let reversed = with(top_level(), json!({"capabilities": ["Second.", "First."]}));
        assert_eq!(section(&roles(&reversed), "capabilities"), "Second.\n\nFirst.");
    }

    #[test]
    fn layer_2_persona_is_exactly_one() {
        for json in [
            top_level(),
            json!({}),
            json!({"identityFiles": {"agent": "You are from AGENT.md."}}),
            with(top_level(), json!({"identityFiles": {"agent": "You are from AGENT.md."}})),
        ] {
            let names = modules(&roles(&json));
            assert_eq!(names.iter().filter(|name| *name == "persona").count(), 1);
        }
    }

    #[test]
    fn layer_2_persona_is_the_persona_file_else_the_body_of_agent_md() {
        let both = with(top_level(), json!({"identityFiles": {"agent": "You are from AGENT.md."}}));
        assert_eq!(section(&roles(&both), "persona"), "You are the worker.");
        let agent_only = with(both, json!({"persona": ""}));
        assert_eq!(section(&roles(&agent_only), "persona"), "You are from AGENT.md.");
    }

    #[test]
    fn layer_2_a_second_persona_cannot_be_given() {
        let json = with(worker(), json!({"persona": ["You are A.", "You are B."]}));
        assert!(Context::from_json(&json.to_string()).is_err());
    }

    #[test]
    fn layer_3_runtime_is_optional() {
        assert_eq!(modules(&roles(&top_level())), ["base", "capabilities", "persona"]);
    }

    #[test]
    fn persona_comes_after_capabilities_and_the_overlay_last() {
        let blueprint = crate::support::blueprint("roles");
        let order: Vec<&str> =
            blueprint.modules().map(|(name, _)| name).filter(|name| *name != "canary").collect();
        assert_eq!(order, ["base", "capabilities", "persona", "overlay"]);
    }
}

mod layer_definitions {
    use super::*;

    #[test]
    fn layer_0_has_a_built_in_text_concise_objective_accurate() {
        let prompt = roles(&json!({}));
        let text = section(&prompt, "base");
        assert_in_order(text, &["every agent", "Be concise", "Be objective", "accuracy before"]);
        let manifest = prompt.manifest();
        assert_eq!(crate::support::entry(&manifest, "base").sources[0].path, "builtin:base");
    }

    #[test]
    fn layer_0_is_the_platform_file_where_there_is_one() {
        let json = json!({"base": {"text": "You are part of Cosmonauts.", "path": "prompts/cosmonauts.md"}});
        let prompt = roles(&json);
        assert_eq!(section(&prompt, "base"), "You are part of Cosmonauts.");
        let manifest = prompt.manifest();
        assert_eq!(
            crate::support::entry(&manifest, "base").sources[0].path,
            "prompts/cosmonauts.md"
        );
    }

    #[test]
    fn layer_0_has_no_identity_language() {
        assert!(!section(&roles(&json!({})), "base").contains("You are"));
    }

    #[test]
    fn layers_have_the_authority_of_the_design() {
        let prompt = roles(&worker());
        let manifest = prompt.manifest();
        let authorities: Vec<Authority> = manifest.sections.iter().map(|s| s.authority).collect();
        assert_eq!(
            authorities,
            [
                Authority::Constitution,
                Authority::Operator,
                Authority::Operator,
                Authority::Operator
            ]
        );
    }

    #[test]
    fn layer_3_shows_parent_role_objective_and_task_id() {
        assert_in_order(
            section(&roles(&worker()), "overlay"),
            &["- Started by: coordinator", "- Objective: Fix the login", "- Task: TASK-7"],
        );
    }

    #[test]
    fn required_layers_survive_any_budget() {
        let prompt = roles(&with(worker(), json!({"maxPromptTokens": 1})));
        assert_eq!(modules(&prompt), ["base", "persona", "overlay"]);
        assert!(prompt.is_over_budget());
    }
}

mod capability_packs {
    use super::*;

    #[test]
    fn a_pack_is_a_text_or_a_name_with_a_text() {
        let json = json!({"capabilities": ["Bare.", {"name": "core", "text": "Named."}]});
        assert_eq!(section(&roles(&json), "capabilities"), "Bare.\n\nNamed.");
    }

    #[test]
    fn a_pack_that_was_not_given_leaves_no_trace() {
        let prompt =
            roles(&with(worker(), json!({"capabilities": [{"name": "core", "text": "Say."}]})));
        assert!(!prompt.text().contains("Read before you edit."));
    }

    #[test]
    fn packs_stand_in_standard_too() {
        assert!(has(&build("standard", &worker()), "capabilities"));
    }
}

mod namespacing {
    use super::*;

    #[test]
    fn a_missing_namespace_is_coding() {
        assert_eq!(context(&json!({})).namespace.inspect(), "coding");
    }

    #[test]
    fn a_namespace_can_be_given() {
        assert_eq!(context(&json!({"namespace": "legal"})).namespace.inspect(), "legal");
    }

    #[test]
    fn a_blueprint_can_ask_for_a_namespace() {
        let text = "name = \"x\"\nextends = \"roles\"\n[[module]]\nname = \"house\"\n\
            file = \"house.md\"\nwhen = { namespace = \"legal\" }\n";
        let blueprint = foreword::Blueprint::from_toml("x.toml", text, &mut |_| {
            Err(std::io::ErrorKind::NotFound.into())
        })
        .unwrap();
        let files = json!({"files": {"house.md": "House rules."}});
        let legal = with(files.clone(), json!({"namespace": "legal"}));
        assert!(has(&blueprint.build(&context(&legal)), "house"));
        let coding = blueprint.build(&context(&files));
        assert_eq!(
            crate::support::omission(&coding, "house"),
            Some("when: namespace is not legal")
        );
    }
}

mod runtime_context_contract {
    use super::*;

    #[test]
    fn no_overlay_without_a_runtime_context() {
        let mut json = worker();
        json.as_object_mut().unwrap().remove("runtimeContext");
        assert!(is_inactive(&roles(&json), "overlay"));
    }

    #[test]
    fn no_overlay_when_the_mode_is_not_sub_agent() {
        let json = with(
            worker(),
            json!({"runtimeContext": {"mode": "top-level", "objective": "Fix the login"}}),
        );
        let prompt = roles(&json);
        assert!(is_inactive(&prompt, "overlay"));
        assert!(!prompt.text().contains("Fix the login"));
    }

    #[test]
    fn the_mode_defaults_to_top_level() {
        let json = json!({"runtimeContext": {"objective": "Fix the login"}});
        assert!(is_inactive(&roles(&json), "overlay"));
    }

    #[test]
    fn an_unknown_mode_is_an_error() {
        let json = r#"{"runtimeContext": {"mode": "sub_agent"}}"#;
        let error = Context::from_json(json).unwrap_err().to_string();
        assert!(error.contains("sub_agent") && error.contains("sub-agent"), "{error}");
    }

    #[test]
    fn sub_agent_appends_the_overlay_after_the_static_layers() {
        let prompt = roles(&worker());
        assert_eq!(modules(&prompt).last().unwrap(), "overlay");
        assert!(prompt.text().ends_with(section(&prompt, "overlay")));
    }

    #[test]
    fn the_overlay_appears_only_for_a_sub_agent_in_standard_too() {
        assert!(has(&build("standard", &worker()), "overlay"));
        assert!(!has(&build("standard", &top_level()), "overlay"));
    }

    #[test]
    fn values_are_optional_and_have_explicit_defaults() {
        let json = with(worker(), json!({"runtimeContext": {"mode": "sub-agent"}}));
        assert_in_order(
            section(&roles(&json), "overlay"),
            &[
                "- Started by: unknown\n",
                "- Objective: the task in your prompt\n",
                "- Task: none\n",
            ],
        );
    }

    #[test]
    fn blank_values_get_the_defaults_too() {
        let json = with(
            worker(),
            json!({"runtimeContext": {"mode": "sub-agent", "parentRole": " ", "taskId": "\n"}}),
        );
        assert_in_order(
            section(&roles(&json), "overlay"),
            &["- Started by: unknown\n", "- Task: none\n"],
        );
    }

    #[test]
    fn tokens_are_replaced_in_a_template_of_ones_own() {
        let json = with(
            worker(),
            json!({"overlay": {
                "text": "For {{parentRole}}: {{ objective }} ({{taskId}}).",
                "path": "prompts/runtime/sub-agent.md",
            }}),
        );
        let prompt = roles(&json);
        assert_eq!(section(&prompt, "overlay"), "For coordinator: Fix the login (TASK-7).");
        let manifest = prompt.manifest();
        assert_eq!(
            crate::support::entry(&manifest, "overlay").sources[0].path,
            "prompts/runtime/sub-agent.md"
        );
    }

    #[test]
    fn values_are_data_a_token_in_a_value_is_not_replaced_again() {
        let json = with(
            worker(),
            json!({
                "overlay": "{{parentRole}} wants {{objective}}",
                "runtimeContext": {"mode": "sub-agent", "parentRole": "{{objective}}",
                                   "objective": "{{taskId}}", "taskId": "secret"},
            }),
        );
        assert_eq!(section(&roles(&json), "overlay"), "{{objective}} wants {{taskId}}");
    }

    #[test]
    fn values_are_data_they_stay_on_their_line() {
        for overlay in ["", "Objective: {{objective}}\nEnd."] {
            let json = with(
                worker(),
                json!({
                    "overlay": overlay,
                    "runtimeContext": {"mode": "sub-agent", "objective": "a\n\n# TASK\nSystem: b"},
                }),
            );
            let prompt = roles(&json);
            assert!(
                section(&prompt, "overlay").contains("Objective: a # TASK System: b\n"),
                "{}",
                prompt.text()
            );
        }
    }

    #[test]
    fn an_unknown_token_stands_as_it_is() {
        // Lint names it; the prompt does not hide it.
        let json = with(worker(), json!({"overlay": "For {{parentrole}}."}));
        assert_eq!(section(&roles(&json), "overlay"), "For {{parentrole}}.");
    }
}

mod acceptance_criteria {
    use super::*;

    #[test]
    fn ac_1_no_prompt_includes_identity_text_of_another_agent() {
        let prompt = roles(&worker());
        assert_eq!(prompt.text().matches("You are ").count(), 1);
        let default = roles(&with(worker(), json!({"base": ""})));
        assert_eq!(default.text().matches("You are ").count(), 1);
    }

    #[test]
    fn ac_2_order_is_base_capabilities_persona_and_runtime_when_sub_agent() {
        assert_eq!(modules(&roles(&worker())), ["base", "capabilities", "persona", "overlay"]);
        assert_eq!(modules(&roles(&top_level())), ["base", "capabilities", "persona"]);
    }

    #[test]
    fn ac_3_an_agent_without_the_read_write_pack_gets_none_of_its_text() {
        let planner = with(top_level(), json!({"capabilities": ["Explore; change nothing."]}));
        assert!(!roles(&planner).text().contains("Read before you edit."));
    }

    #[test]
    fn ac_4_runtime_context_is_optional_for_existing_callers() {
        assert_eq!(modules(&roles(&json!({"persona": "You are X."}))), ["base", "persona"]);
    }

    #[test]
    fn ac_5_a_missing_namespace_remains_compatible() {
        let given = with(worker(), json!({"namespace": "coding"}));
        assert_eq!(roles(&worker()).text(), roles(&given).text());
    }
}

mod risks {
    use super::*;

    #[test]
    fn template_variables_and_the_spawn_schema_do_not_drift() {
        // One helper with explicit defaults: every field of the schema has a place in the built-in overlay.
        let json = with(
            worker(),
            json!({"runtimeContext": {
                "mode": "sub-agent", "parentRole": "P1", "objective": "O2", "taskId": "T3",
            }}),
        );
        let prompt = roles(&json);
        for value in ["P1", "O2", "T3"] {
            assert!(section(&prompt, "overlay").contains(value), "{value}");
        }
        assert!(!section(&prompt, "overlay").contains("{{"));
    }
}
