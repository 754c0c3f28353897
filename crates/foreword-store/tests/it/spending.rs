//! What agents spent: summed by session and by day, also of sessions that are gone.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{Reader, SessionId, Spending, Spent, Store, TurnNumber, start_of_day};

fn spend(store: &Store, session: &SessionId, root: &SessionId, cost: Option<u64>, at: i64) {
    let spending = Spending {
        session: session.clone(),
        root: root.clone(),
        turn: Some(TurnNumber(1)),
        owner: "host 1".to_owned(),
        model: "m".to_owned(),
        tokens: 100,
        cost,
        millis: 0,
        at,
    };
    store.write(at, |w| w.spending_add(&spending)).unwrap();
}

fn spent(tokens: u64, cost: u64, unpriced_tokens: u64) -> Spent {
    Spent { tokens, cost, unpriced_tokens, millis: 0 }
}

#[test]
fn a_session_counts_what_its_agents_spent() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (root, child, other) =
        (session(&store, "root"), session(&store, "child"), session(&store, "other"));
    spend(&store, &root, &root, Some(5), NOW_MS);
    spend(&store, &child, &root, Some(7), NOW_MS);
    spend(&store, &other, &other, None, NOW_MS + 1);
    let reader = Reader::open(&fixture.database()).unwrap();
    assert_eq!(reader.spent_in_session(&root).unwrap(), spent(200, 12, 0));
    assert_eq!(reader.spent_in_session(&child).unwrap(), spent(100, 7, 0));
    assert_eq!(reader.spent_in_session(&other).unwrap(), spent(100, 0, 100));
    assert_eq!(reader.spent_since(NOW_MS, "host 2").unwrap(), spent(300, 12, 100));
    assert_eq!(reader.spent_since(NOW_MS + 1, "host 2").unwrap(), spent(100, 0, 100));
    assert_eq!(reader.spent_since(NOW_MS, "host 1").unwrap(), Spent::default());
}

#[test]
fn a_day_begins_at_midnight() {
    let day = 86_400_000;
    assert_eq!(start_of_day(20_000 * day), 20_000 * day);
    assert_eq!(start_of_day(20_000 * day + day - 1), 20_000 * day);
    assert_eq!(start_of_day(-1), -day);
}

#[test]
fn numbers_that_no_model_reports_do_no_harm() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for _ in 0..20 {
        let most = Spending {
            session: id.clone(),
            root: id.clone(),
            turn: None,
            owner: String::new(),
            model: "x\n".repeat(1000),
            tokens: u64::MAX,
            cost: Some(u64::MAX),
            millis: u64::MAX,
            at: NOW_MS,
        };
        store.write(NOW_MS, |w| w.spending_add(&most)).unwrap();
    }
    assert!(store.spent_in_session(&id).unwrap().tokens > 1 << 40);
}
