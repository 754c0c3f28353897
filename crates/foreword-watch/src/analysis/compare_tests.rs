use super::*;
use crate::wire::read_request;

fn anthropic(system: &str, tools: &[&str], messages: &[&str]) -> ModelRequest {
    let tools: Vec<_> = tools.iter().map(|name| serde_json::json!({"name": name})).collect();
    let messages: Vec<_> =
        messages.iter().map(|text| serde_json::json!({"role": "user", "content": text})).collect();
    let body = serde_json::json!({
        "model": "claude-sonnet-4", "system": system, "tools": tools, "messages": messages,
    });
    read_request(None, "", &body.to_string()).unwrap()
}

fn cause(before: &str, after: &str) -> Option<Cause> {
    let (old, new) = (anthropic(before, &[], &["Hi"]), anthropic(after, &[], &["Hi", "there"]));
    compare(1, Relation::Continues, &old, &new).difference.map(|difference| difference.cause)
}

#[test]
fn the_known_causes_are_told_apart() {
    for (before, after, expected) in [
        ("Now: 2026-11-17 12:00:01 UTC", "Now: 2026-11-17 12:00:04 UTC", Cause::Clock),
        ("It is Tuesday, 17 November 2026.", "It is Wednesday, 18 November 2026.", Cause::Clock),
        ("Date: 17 November 2026", "Date: 18 November 2026", Cause::Clock),
        ("at 2026-11-17T12:00:01.123Z.", "at 2026-11-17T12:00:01.877Z.", Cause::Clock),
        ("at 3:05 PM", "at 3:06 PM", Cause::Clock),
        ("ts=1763380801", "ts=1763380804", Cause::Clock),
        ("Heute: 17.11.2026", "Heute: 18.11.2026", Cause::Clock),
        ("Turn 3 of 10", "Turn 4 of 10", Cause::Counter),
        ("Tokens left: 12,345", "Tokens left: 11,002", Cause::Counter),
        ("Used 31% of the budget", "Used 32% of the budget", Cause::Counter),
        (
            "Session 0b5c2f6e-77aa-4d7b-9d9f-0c5b2f6e77aa",
            "Session 9d9f0c5b-11aa-4d7b-9d9f-0c5b2f6e77aa",
            Cause::Identifier,
        ),
        ("dir: /tmp/run-a8f3k29x", "dir: /tmp/run-77f3q29y", Cause::Identifier),
        ("Skills:\n- a\n- b\n- c\n", "Skills:\n- b\n- a\n- c\n", Cause::UnstableOrder),
        ("Skills: b, a, c", "Skills: a, c, b", Cause::UnstableOrder),
        ("The branch is main.", "The branch is fix-login.", Cause::PromptChanged),
    ] {
        assert_eq!(cause(before, after), Some(expected), "{before} / {after}");
    }
    assert_eq!(cause("Same", "Same"), None);
}

#[test]
fn tools_are_compared_by_name() {
    let find = |old: &[&str], new: &[&str]| {
        let (old, new) = (anthropic("S", old, &["Hi"]), anthropic("S", new, &["Hi"]));
        let found = compare(1, Relation::Continues, &old, &new).difference;
        found.map(|found| (found.cause, found.detail, found.place))
    };
    let place = || "tools[0]".to_owned();
    assert_eq!(find(&["a", "b"], &["b", "a"]), Some((Cause::UnstableOrder, None, place())));
    let changed = find(&["a", "b"], &["c", "b"]).unwrap();
    assert_eq!(changed, (Cause::ToolListChanged, Some("added: c; removed: a".into()), place()));
    assert_eq!(find(&["a"], &["a"]), None);
}

#[test]
fn a_comparison_says_where_and_how_much() {
    let old = anthropic("You are.\nNow: 12:00:01\nMore", &["t"], &["Hi", "One"]);
    let new = anthropic("You are.\nNow: 12:00:04\nMore", &["t"], &["Hi", "One", "Two"]);
    let found = compare(7, Relation::Continues, &old, &new);
    let tool = "{\"name\":\"t\"}".len();
    assert_eq!((found.previous, found.common_parts, found.offset), (7, 1, 21));
    assert_eq!((found.common_bytes, found.reusable_parts), (tool + 21, 4));
    let difference = found.difference.unwrap();
    assert_eq!((difference.place.as_str(), difference.line), ("system", 2));
    assert_eq!(difference.before, "Now: 12:00:0⟦1…⟧");
    assert_eq!(difference.after, "Now: 12:00:0⟦4…⟧");
}

#[test]
fn a_longer_conversation_is_no_difference_and_a_rewritten_one_is() {
    let old = anthropic("S", &[], &["Hi", "One"]);
    let longer = anthropic("S", &[], &["Hi", "One", "Two"]);
    assert_eq!(compare(1, Relation::Continues, &old, &longer).difference, None);
    let rewritten = anthropic("S", &[], &["Hi", "Summary of it all", "Two"]);
    let found = compare(1, Relation::Continues, &old, &rewritten).difference.unwrap();
    assert_eq!(
        (found.cause, found.place.as_str()),
        (Cause::HistoryRewritten, "messages[1].content")
    );
    let shorter = anthropic("S", &[], &["Hi"]);
    let found = compare(1, Relation::Continues, &old, &shorter).difference.unwrap();
    assert_eq!(found.cause, Cause::HistoryRewritten);
    let other = anthropic("S", &[], &["Something else"]);
    assert_eq!(compare(1, Relation::SharesPrompt, &old, &other).difference, None);
    let mut model = longer;
    model.model = "claude-opus-4".to_owned();
    let found = compare(1, Relation::Continues, &old, &model).difference.unwrap();
    assert_eq!(found.cause, Cause::ModelChanged);
}

#[test]
fn prefixes_end_on_characters() {
    assert_eq!(common_prefix("aé", "aè"), 1);
    assert_eq!(common_prefix("", "x"), 0);
    assert_eq!(common_prefix("日本", "日本語"), 6);
    assert_eq!(shown("日本語", 4), "日⟦本語⟧");
}
