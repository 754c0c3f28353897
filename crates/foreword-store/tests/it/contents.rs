//! The ledger of contents: its totals follow from its rows, and say what came after the person.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{
    Content, MAX_CONTENT_TOKENS, Provenance, SessionId, StoreError, TaintLevel, TurnNumber,
};
use proptest::prelude::*;

fn content(provenance: Provenance, tokens: u64, external: bool) -> Content {
    Content { provenance, source: "here".to_owned(), tokens, external, at: NOW_MS }
}

fn any_content() -> impl Strategy<Value = Content> {
    let provenance = prop::sample::select(vec![
        Provenance::Operator,
        Provenance::User,
        Provenance::ToolResult,
        Provenance::External,
        Provenance::Memory,
    ]);
    let tokens = prop_oneof![8 => 0_u64..5000, 1 => any::<u64>()];
    (provenance, tokens, any::<bool>(), any::<String>()).prop_map(
        |(provenance, tokens, external, source)| Content {
            source,
            ..content(provenance, tokens, external)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn totals_follow_from_the_rows(
        contents in prop::collection::vec((any::<bool>(), any_content()), 0..40),
        undone in 0_usize..40,
    ) {
        let fixture = Fixture::new();
        let store = fixture.open();
        let ids = [session(&store, "one"), session(&store, "other")];
        let mut expected = [TaintLevel::default(); 2];
        for (place, (second, content)) in contents.iter().enumerate() {
            let which = usize::from(*second);
            let id = &ids[which];
            if place == undone {
                // What fails leaves neither the row nor its part of the totals.
                let result = store.write(NOW_MS, |w| {
                    w.content_add(id, None, content)?;
                    Err::<(), _>(StoreError::WriterStopped)
                });
                prop_assert!(result.is_err());
                continue;
            }
            let totals = &mut expected[which];
            let tokens = content.tokens.min(MAX_CONTENT_TOKENS);
            let counts = content.external || content.provenance == Provenance::User;
            if counts || totals.external_tokens == 0 {
                totals.total_tokens += tokens;
            }
            if content.external {
                totals.external_tokens += tokens;
                totals.external_since_person = true;
            } else if content.provenance == Provenance::User {
                totals.external_since_person = false;
            }
            let given = store.write(NOW_MS, |w| w.content_add(id, None, content)).unwrap();
            prop_assert_eq!(given, *totals);
        }
        for (id, expected) in ids.iter().zip(expected) {
            prop_assert_eq!(store.content_totals(id).unwrap(), expected);
            let rows = store.contents(id, usize::MAX).unwrap();
            let external = rows.iter().filter(|row| row.content.external);
            let external: u64 = external.map(|row| row.content.tokens).sum();
            prop_assert_eq!(external, expected.external_tokens);
            for row in rows {
                prop_assert!(row.content.source.len() <= 512);
                prop_assert!(!row.content.source.contains(|c: char| c.is_control()));
            }
        }
    }
}

#[test]
fn the_person_ends_what_came_from_outside() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let add = |content: Content| {
        let totals = store.write(NOW_MS, |w| w.content_add(&id, Some(TurnNumber(1)), &content));
        totals.unwrap().external_since_person
    };
    assert!(!add(content(Provenance::User, 10, false)));
    assert!(!add(content(Provenance::ToolResult, 10, false)));
    assert!(add(content(Provenance::ToolResult, 10, true)));
    assert!(add(content(Provenance::Operator, 10, false)));
    assert!(!add(content(Provenance::User, 10, false)));
    assert!(add(content(Provenance::External, 10, true)));
    // What a person only passes on is from outside all the same.
    assert!(add(content(Provenance::User, 10, true)));
}

#[test]
fn contents_are_listed_newest_first_and_whatever_they_are_called() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for number in 0..5 {
        let content = Content {
            source: format!("page {number}\n\u{1b}[2J{}", "x".repeat(1000)),
            ..content(Provenance::External, number, true)
        };
        store.write(NOW_MS, |w| w.content_add(&id, Some(TurnNumber(number)), &content)).unwrap();
    }
    let found = store.contents(&id, 2).unwrap();
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].turn, found[0].content.tokens), (Some(TurnNumber(4)), 4));
    let source = &found[0].content.source;
    assert!(source.starts_with("page 4  [2Jxxx") && source.ends_with('…'), "{source}");
    assert_eq!(source.len(), 512);

    let gone = SessionId::parse("gone").unwrap();
    let content = content(Provenance::User, 1, false);
    let error = store.write(NOW_MS, |w| w.content_add(&gone, None, &content)).unwrap_err();
    assert_eq!(error.to_string(), "there is no session `gone`");
    assert_eq!(store.content_totals(&gone).unwrap(), TaintLevel::default());
}
