//! What agents spent: summed by session and by day, also of sessions that are gone.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{
    Reader, SessionId, Spending, SpendingMark, Spent, Store, TurnNumber, start_of_day,
};

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
    let since = |at, except| reader.spent_since(at, except, SpendingMark::default()).unwrap().0;
    assert_eq!(since(NOW_MS, "host 2"), spent(300, 12, 100));
    assert_eq!(since(NOW_MS + 1, "host 2"), spent(100, 0, 100));
    assert_eq!(since(NOW_MS, "host 1"), Spent::default());
}

#[test]
fn a_sum_goes_on_from_where_it_ended() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let reader = Reader::open(&fixture.database()).unwrap();
    let since = |at, mark| reader.spent_since(at, "host 2", mark).unwrap();

    let (none, start) = since(NOW_MS, SpendingMark::default());
    assert_eq!((none, start), (Spent::default(), SpendingMark::default()));
    spend(&store, &id, &id, Some(5), NOW_MS);
    let (first, mark) = since(NOW_MS, start);
    assert_eq!(first, spent(100, 5, 0));
    assert_eq!(since(NOW_MS, mark), (Spent::default(), mark));

    // A clock that goes back changes neither what is new nor what belongs to the time asked for.
    spend(&store, &id, &id, Some(7), NOW_MS + 1);
    spend(&store, &id, &id, Some(9), NOW_MS - 1);
    let (second, later) = since(NOW_MS, mark);
    assert_eq!(second, spent(100, 7, 0));

    // Rows of the host that asks are not summed, and not read again either.
    let (own, passed) = reader.spent_since(NOW_MS, "host 1", mark).unwrap();
    assert_eq!((own, passed), (Spent::default(), later));
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
