//! What must hold for any text of the old setup: no panic, and nothing silently wider than before.

use proptest::prelude::*;

use super::permissions::{MappedRule, mapped_rule};
use super::source::Source;
use super::{codex, header, imports, json5, tool_names};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_header_is_too_odd(text in "(---\n|[a-z]{1,4}:|[ \"'\\[\\],()|>\n-]|\\PC){0,60}") {
        if let Ok(parts) = header::split(&text) {
            for key in parts.keys() {
                let (line, list) = (parts.line(key), parts.list(key));
                prop_assert!(line.is_none_or(|line| !line.contains('\n')));
                prop_assert!(list.iter().all(|item| !item.is_empty()));
            }
        }
    }

    #[test]
    fn json_without_comments_stays_the_same(text in "\\PC{0,40}", number in any::<i32>()) {
        let value = serde_json::json!({"a": [text, number, {"b": null}]});
        prop_assert_eq!(json5::parse(&value.to_string()), Ok(value.clone()));
        let commented = format!("// x\n{}\n/* y */", value.to_string().replace("]}", ",]}"));
        prop_assert_eq!(json5::parse(&commented).is_ok(), true);
    }

    #[test]
    fn any_text_is_json_or_an_error(text in "([{}\\[\\]\",:/*\\\\]|//|/\\*|\\*/|\\PC|\n){0,60}") {
        let _ = json5::parse(&text);
    }

    #[test]
    fn a_rule_keeps_its_argument_or_is_lost(name in "[A-Za-z_]{1,12}", argument in "\\PC{1,20}") {
        let rule = format!("{name}({argument})");
        if let MappedRule::Patterns(patterns) = mapped_rule(&rule) {
            let limited = !matches!(argument.trim(), "" | "*");
            prop_assert!(patterns.iter().all(|pattern| pattern.contains('(') == limited));
        }
    }

    #[test]
    fn a_list_of_tools_never_becomes_all_tools(listed in prop::collection::vec("[A-Za-z_]{1,12}(\\(x\\))?", 1..6)) {
        let tools = tool_names::mapped_all(&listed);
        prop_assert!(!tools.names.is_empty() && !tools.all);
    }

    #[test]
    fn imports_end_whatever_the_text(text in "(@[a-c./~]{0,6}|`|```\n|- |\\PC|\n| ){0,60}") {
        let directory = tempfile::tempdir()?;
        for name in ["a", "b", "c"] {
            std::fs::write(directory.path().join(name), &text)?;
        }
        let source = Source::open(directory.path()).map_err(|error| TestCaseError::fail(error.message))?;
        let out = imports::expand(&source, "a", &text, imports::Following::default());
        prop_assert!(out.included.len() <= 2);
        prop_assert!(out.text.len() <= text.len() * 4 + 200);
    }

    #[test]
    fn rules_of_codex_are_read_or_refused(text in "(prefix_rule\\(|pattern|=|\\[|\\]|\"|\\)|\\PC|\n){0,40}") {
        let _ = codex::prefix_rule(&text);
    }
}
