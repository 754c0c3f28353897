//! What a person allowed is used once; what was refused can be allowed.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{
    GrantId, GroupWriter, MAX_OPEN_REFUSALS, MAX_UNUSED_GRANTS, Options, RefusalState, SessionId,
    Store, StoreError,
};

fn allow(store: &Store, id: &SessionId, action: &str) -> Result<GrantId, StoreError> {
    store.write(NOW_MS, |w| w.grant_add(id, action, "user:ada", NOW_MS))
}

/// The digest of the arguments of an action.
fn digest(args: &str) -> [u8; 32] {
    *blake3::hash(args.as_bytes()).as_bytes()
}

fn take(store: &Store, id: &SessionId, action: &str) -> Option<GrantId> {
    take_for(store, id, action, "any")
}

fn take_for(store: &Store, id: &SessionId, action: &str, args: &str) -> Option<GrantId> {
    let used =
        store.write(NOW_MS, |w| w.grant_use(id, action, &digest(args), "agent:x", NOW_MS + 5));
    used.unwrap().grant.map(|grant| grant.id)
}

#[test]
fn a_grant_is_for_one_action_of_one_session_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (id, other) = (session(&store, "main"), session(&store, "other"));
    let first = allow(&store, &id, "skill_propose").unwrap();
    let second = allow(&store, &id, "skill_propose").unwrap();
    assert_eq!(take(&store, &other, "skill_propose"), None);
    assert_eq!(take(&store, &id, "memory_write"), None);
    assert_eq!(take(&store, &id, "skill_propose").as_ref(), Some(&first));
    assert_eq!(take(&store, &id, "skill_propose").as_ref(), Some(&second));
    assert_eq!(take(&store, &id, "skill_propose"), None);

    let grants = store.grants(&id).unwrap();
    assert_eq!(grants.len(), 2);
    assert_eq!((&grants[0].id, grants[0].used_at), (&second, Some(NOW_MS + 5)));
    assert_eq!((grants[1].by.as_str(), grants[1].at), ("user:ada", NOW_MS));
    let gone = SessionId::parse("gone").unwrap();
    assert!(matches!(allow(&store, &gone, "x"), Err(StoreError::NoSuchSession { .. })));
    assert!(matches!(allow(&store, &id, "two\nlines"), Err(StoreError::Unfit { .. })));
}

#[test]
fn an_action_that_fails_does_not_use_up_its_grant() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let grant = allow(&store, &id, "skill_propose").unwrap();
    let result = store.write(NOW_MS, |w| {
        let used = w.grant_use(&id, "skill_propose", &digest(""), "agent:x", NOW_MS)?;
        assert_eq!(used.grant.map(|used| used.id).as_ref(), Some(&grant));
        Err::<(), _>(StoreError::WriterStopped)
    });
    result.unwrap_err();
    assert_eq!(take(&store, &id, "skill_propose"), Some(grant));
}

#[test]
fn grants_are_used_once_under_contention() {
    const GRANTS: usize = 60;
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for _ in 0..GRANTS {
        allow(&store, &id, "skill_propose").unwrap();
    }
    let options = Options::default();
    let writer =
        GroupWriter::start(&fixture.database(), fixture.key(), fixture.heads(), options).unwrap();
    let mut used: Vec<GrantId> = std::thread::scope(|scope| {
        let connections = (0..4).map(|_| {
            scope.spawn(|| {
                let store = fixture.open();
                (0..20).filter_map(|_| take(&store, &id, "skill_propose")).collect::<Vec<_>>()
            })
        });
        let threads = (0..4).map(|_| {
            scope.spawn(|| {
                let take = |_| {
                    let id = id.clone();
                    let take = writer.write(NOW_MS, move |w| {
                        let used =
                            w.grant_use(&id, "skill_propose", &digest(""), "agent:x", NOW_MS)?;
                        Ok::<_, StoreError>(used.grant.map(|grant| grant.id))
                    });
                    take.unwrap()
                };
                (0..20).filter_map(take).collect::<Vec<_>>()
            })
        });
        let all: Vec<_> = connections.chain(threads).collect();
        all.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(used.len(), GRANTS);
    used.sort();
    used.dedup();
    assert_eq!(used.len(), GRANTS, "a grant was used twice");
    assert!(store.verify(&[]).unwrap().is_clean());
}

#[test]
fn unused_grants_do_not_pile_up() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let error = (0..=MAX_UNUSED_GRANTS).find_map(|_| allow(&store, &id, "x").err()).unwrap();
    assert_eq!(error.to_string(), "the limit of 100 unused grants is reached");
    assert!(error.hint().is_some());
    take(&store, &id, "x").unwrap();
    allow(&store, &id, "x").unwrap();
}

#[test]
fn what_was_refused_is_allowed_by_its_id_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (id, other) = (session(&store, "main"), session(&store, "other"));
    let refuse = |session: &SessionId, summary: &str, at: i64| {
        let add = store.write(NOW_MS, |w| {
            let args = digest(summary);
            w.refusal_add(session, "skill_propose", &args, summary, "tainted\nto 0.4", NOW_MS + at)
        });
        add.unwrap()
    };
    let first = refuse(&id, "skill `deploy`", 1);
    assert_eq!(refuse(&id, "skill `deploy`", 9), first, "asked for again");
    let second = refuse(&id, "skill `notes`", 2);
    let third = refuse(&other, "skill `deploy`", 3);
    assert_ne!(first, third);

    let open = |session: Option<&SessionId>| -> Vec<_> {
        let open = store.refusals(session, Some(RefusalState::Open)).unwrap();
        open.into_iter().map(|refusal| refusal.id).collect()
    };
    assert_eq!(open(None), [third, second.clone(), first.clone()]);
    assert_eq!(open(Some(&id)), [second.clone(), first.clone()]);
    let found = store.refusal(&first.as_str()[..8]).unwrap();
    assert_eq!((found.times, found.at), (2, NOW_MS + 9));
    assert_eq!(
        (found.summary.as_str(), found.reason.as_str()),
        ("skill `deploy`", "tainted to 0.4")
    );

    let grant = |id: &str| store.write(NOW_MS, |w| w.refusal_grant(id, "user:ada", NOW_MS + 20));
    let (granted, refusal) = grant(first.as_str()).unwrap();
    assert_eq!((refusal.state, refusal.decided_at), (RefusalState::Granted, Some(NOW_MS + 20)));
    assert_eq!(store.refusal(first.as_str()).unwrap(), refusal);
    let error = grant(first.as_str()).unwrap_err();
    assert_eq!(error.to_string(), format!("the refusal `{first}` is already granted"));
    assert_eq!(store.grants(&id).unwrap()[0].refusal.as_ref(), Some(&first));
    // It is for what the person saw; leave for anything is used after it.
    let anything = allow(&store, &id, "skill_propose").unwrap();
    assert_eq!(take_for(&store, &id, "skill_propose", "skill `deploy`"), Some(granted));
    assert_eq!(take_for(&store, &id, "skill_propose", "skill `deploy`"), Some(anything));
    let again = refuse(&id, "skill `deploy`", 10);
    let (bound, _) = grant(again.as_str()).unwrap();
    assert_eq!(take_for(&store, &id, "skill_propose", "skill `steal`"), None);
    assert_eq!(take_for(&store, &id, "skill_propose", "skill `deploy`"), Some(bound));

    store.write(NOW_MS, |w| w.refusal_dismiss(second.as_str(), "user:ada", NOW_MS)).unwrap();
    grant(second.as_str()).unwrap_err();
    assert_eq!(open(Some(&id)), []);
    assert_eq!(store.refusals(Some(&id), None).unwrap().len(), 3);
    assert_eq!(store.refusals(None, None).unwrap().len(), 4);
    // What was decided and is refused again is open again.
    assert_ne!(refuse(&id, "skill `deploy`", 30), first);
    for nothing in ["", "%", "_", "'; DROP TABLE audit", "11111"] {
        let error = grant(nothing).unwrap_err();
        assert!(matches!(error, StoreError::NoSuch { .. }), "{nothing}: {error}");
    }
}

#[test]
fn one_of_several_people_decides() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let refusal = store
        .write(NOW_MS, |w| w.refusal_add(&id, "spawn_agent", &digest(""), "s", "r", NOW_MS))
        .unwrap();
    let granted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let grant = fixture
                        .open()
                        .write(NOW_MS, |w| w.refusal_grant(refusal.as_str(), "user:ada", NOW_MS));
                    usize::from(grant.is_ok())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(granted, 1);
    assert_eq!(store.grants(&id).unwrap().len(), 1);
}

#[test]
fn an_agent_that_never_stops_asking_fills_nothing() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    store
        .write(NOW_MS, |w| {
            for number in 0..MAX_OPEN_REFUSALS + 20 {
                let skill = format!("skill {number}");
                w.refusal_add(&id, "skill_propose", &digest(&skill), &skill, "r", NOW_MS)?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let open = store.refusals(Some(&id), Some(RefusalState::Open)).unwrap();
    assert_eq!(open.len(), MAX_OPEN_REFUSALS);
    assert_eq!(open[0].summary, format!("skill {}", MAX_OPEN_REFUSALS + 19));
    assert_eq!(open.last().unwrap().summary, "skill 20");

    let long = store
        .write(NOW_MS, |w| w.refusal_add(&id, "a", &digest("x"), &"x".repeat(1 << 20), "r", NOW_MS))
        .unwrap();
    assert_eq!(store.refusal(long.as_str()).unwrap().summary.len(), 2048);
}
