//! Proposals and tracked files: stored, found, decided once.

use crate::fixture::{Fixture, NOW_MS, proposal};
use foreword_store::{
    AuditKey, ChangeKind, Decision, Event, FileChange, MAX_FILE_BYTES, MAX_PENDING, NewProposal,
    Outcome, ProposalId, ProposalState, Store, StoreError, TrackedFile,
};

fn insert(store: &Store, new: &NewProposal) -> Result<ProposalId, StoreError> {
    store.write(NOW_MS, |w| w.insert_proposal(new))
}

fn decide(
    store: &Store,
    id: &ProposalId,
    from: ProposalState,
    to: ProposalState,
) -> Result<(), StoreError> {
    let decision = Decision {
        by: Some("user:ada".to_owned()),
        reason: Some("fine".to_owned()),
        commit: Some("4f0c".to_owned()),
    };
    store.write(NOW_MS + 5, |w| w.set_state(id, from, to, &decision))
}

#[test]
fn what_is_stored_is_read_back() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let mut new = proposal("notes", b"# Notes\n\0\xff");
    new.kind = ChangeKind::Revert;
    new.reverts = Some("99aa".to_owned());
    new.files.push(FileChange {
        path: "notes/old.sh".to_owned(),
        content: None,
        executable: true,
        base: Some([3; 32]),
    });
    let id = insert(&store, &new).unwrap();
    drop(store);

    let store = fixture.open();
    let found = store.proposal(id.as_str()).unwrap();
    assert_eq!(found.files, new.files);
    assert_eq!(found.summary, store.proposals(Some(ProposalState::Pending)).unwrap()[0]);
    assert_eq!(
        (found.kind, found.skill.as_str(), found.path.as_str()),
        (ChangeKind::Revert, "notes", "notes/SKILL.md")
    );
    assert_eq!(found.reverts.as_deref(), Some("99aa"));
    assert_eq!(found.reason.as_deref(), Some("because"));
    assert_eq!(
        (found.state, found.created_at, found.decided_at),
        (ProposalState::Pending, NOW_MS, None)
    );
    assert_eq!(id.as_str().len(), 10);
}

#[test]
fn a_proposal_is_found_by_the_beginning_of_its_id() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ids: Vec<_> = (0..40).map(|_| insert(&store, &proposal("notes", b"x")).unwrap()).collect();
    for id in &ids {
        assert_eq!(store.proposal(&id.as_str()[..8]).unwrap().id, *id);
        assert_eq!(store.proposal(&id.as_str().to_uppercase()).unwrap().id, *id);
        let mut wrong = id.to_string();
        wrong.replace_range(9.., "1");
        let error = store.proposal(&wrong).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no proposal `{wrong}`"));
        assert_eq!(error.hint(), Some(format!("did you mean `{id}`?")));
    }
    // Forty ids and thirty-two letters: two begin with the same.
    let twice = (b'a'..=b'z')
        .chain(b'2'..=b'7')
        .map(|letter| char::from(letter).to_string())
        .find(|letter| ids.iter().filter(|id| id.as_str().starts_with(letter)).count() > 1)
        .unwrap();
    let StoreError::AmbiguousProposal { candidates, .. } = store.proposal(&twice).unwrap_err()
    else {
        panic!("{twice} is not ambiguous");
    };
    assert!(candidates.len() > 1 && candidates.iter().all(|id| id.starts_with(&twice)));
    for nothing in ["", "%", "_", "'; DROP TABLE audit"] {
        let error = store.proposal(nothing).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchProposal { .. }), "{nothing}: {error}");
    }
}

#[test]
fn only_one_of_two_approvers_wins() {
    let fixture = Fixture::new();
    let id = insert(&fixture.open(), &proposal("notes", b"x")).unwrap();
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let store = fixture.open();
                    usize::from(
                        decide(&store, &id, ProposalState::Pending, ProposalState::Intent).is_ok(),
                    )
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 1);

    let store = fixture.open();
    let error = decide(&store, &id, ProposalState::Pending, ProposalState::Rejected).unwrap_err();
    assert_eq!(error.to_string(), format!("the proposal `{id}` is intent, not pending"));
    let intents = store.intents().unwrap();
    assert_eq!(intents.len(), 1);
    assert_eq!(intents[0].files[0].content.as_deref(), Some(&b"x"[..]));

    // Undone, it waits as before; then it is carried out.
    decide(&store, &id, ProposalState::Intent, ProposalState::Pending).unwrap();
    let waiting = store.proposal(id.as_str()).unwrap();
    assert_eq!((waiting.decided_by.as_deref(), waiting.decided_at), (None, None));
    decide(&store, &id, ProposalState::Pending, ProposalState::Done).unwrap();
    let done = store.proposal(id.as_str()).unwrap();
    assert_eq!(done.decided_by.as_deref(), Some("user:ada"));
    assert_eq!(done.decision_reason.as_deref(), Some("fine"));
    assert_eq!(done.commit.as_deref(), Some("4f0c"));
    assert_eq!(done.decided_at, Some(NOW_MS + 5));
}

#[test]
fn an_agent_cannot_fill_the_disk() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let large = vec![b'x'; usize::try_from(MAX_FILE_BYTES).unwrap() + 1];
    let error = insert(&store, &proposal("notes", &large)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`notes/SKILL.md` is 1048577 bytes long; the limit for a proposal is 1048576"
    );
    let mut many = proposal("notes", b"");
    many.files = (0..9)
        .map(|number| FileChange {
            path: number.to_string(),
            content: Some(large[1..].to_vec()),
            executable: false,
            base: None,
        })
        .collect();
    let error = insert(&store, &many).unwrap_err();
    assert!(error.to_string().starts_with("the proposal is 943"), "{error}");

    many.files.pop();
    many.files.pop();
    let error = (0..20).find_map(|_| insert(&store, &many).err()).unwrap();
    assert!(error.to_string().contains("bytes of proposals are waiting"), "{error}");
    assert!(error.hint().unwrap().contains("approve or reject"));

    let error =
        (0..=MAX_PENDING).find_map(|_| insert(&store, &proposal("notes", b"")).err()).unwrap();
    assert_eq!(error.to_string(), "1000 proposals are waiting for a decision; the limit is 1000");
    // Who may act without asking is not held up.
    let mut direct = proposal("notes", b"x");
    direct.state = ProposalState::Intent;
    insert(&store, &direct).unwrap();
}

#[test]
fn files_of_proposals_decided_long_ago_are_forgotten() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ids: Vec<_> = (0..205)
        .map(|_| {
            let id = insert(&store, &proposal("notes", b"x")).unwrap();
            decide(&store, &id, ProposalState::Pending, ProposalState::Rejected).unwrap();
            id
        })
        .collect();
    let files = |id: &ProposalId| store.proposal(id.as_str()).unwrap().files.len();
    assert_eq!(files(&ids[4]), 0);
    assert_eq!(files(&ids[5]), 1);
    assert_eq!(files(&ids[204]), 1);
}

#[test]
fn a_change_that_fails_leaves_nothing() {
    let fixture = Fixture::new();
    let store = fixture.with_entries(2);
    let before = store.head().unwrap();
    let result = store.write(NOW_MS, |w| {
        let id = w.insert_proposal(&proposal("notes", b"x"))?;
        w.audit(&Event::new("a", "b", id.as_str(), Outcome::Done))?;
        w.set_state(&id, ProposalState::Intent, ProposalState::Done, &Decision::default())
    });
    assert!(matches!(result, Err(StoreError::StateChanged { .. })));
    assert_eq!(store.proposals(None).unwrap(), []);
    assert_eq!(store.head().unwrap(), before);
    crate::fixture::append(&store, 3, 1);
    assert!(store.verify(&[]).unwrap().is_clean());
}

fn tracked(path: &str, commit: &str) -> TrackedFile {
    TrackedFile {
        path: path.to_owned(),
        digest: [7; 32],
        blob: "b10b".to_owned(),
        commit: commit.to_owned(),
        by: "user:ada".to_owned(),
        at: NOW_MS,
        approved: true,
        proposal: Some("abc".to_owned()),
        can_do: Some(format!("runs: {path}")).filter(|_| path.contains("tea")),
    }
}

#[test]
fn what_is_tracked_follows_the_repository() {
    let fixture = Fixture::new();
    let store = fixture.open();
    assert_eq!(store.tracked().unwrap(), Default::default());
    store
        .write(NOW_MS, |w| w.replace_tracked(Some("c1"), &[tracked("b", "c1"), tracked("a", "c1")]))
        .unwrap();
    let update = |old: Option<&str>, new: &str| {
        store.write(NOW_MS, |w| {
            w.update_tracked(old, new, &[tracked("a", new), tracked("c", new)], &["b".to_owned()])
        })
    };
    let error = update(Some("c0"), "c2").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the skill repository was changed by another process: expected commit c0, found c1"
    );
    update(Some("c1"), "c2").unwrap();
    let set = store.tracked().unwrap();
    assert_eq!(set.head.as_deref(), Some("c2"));
    assert_eq!(set.files, [tracked("a", "c2"), tracked("c", "c2")]);

    store.write(NOW_MS, |w| w.replace_tracked(None, &[])).unwrap();
    assert_eq!(store.tracked().unwrap(), Default::default());
    store.write(NOW_MS, |w| w.replace_tracked(Some("c3"), &[])).unwrap();
    assert_eq!(store.tracked().unwrap().head.as_deref(), Some("c3"));
    update(Some("c3"), "c4").unwrap();
}

#[test]
fn what_is_tracked_counts_only_with_the_key_it_was_written_with() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let mut foreign = tracked("a", "c1");
    foreign.approved = false;
    store.write(NOW_MS, |w| w.replace_tracked(Some("c1"), &[foreign, tracked("b", "c1")])).unwrap();
    assert_eq!(store.tracked_with(store.key()).unwrap(), store.tracked().unwrap());
    let other = store.tracked_with(&AuditKey::from_bytes([7; 32])).unwrap();
    assert_eq!((other.head.as_deref(), other.files), (Some("c1"), vec![]));
    drop(store);
    let raw = rusqlite::Connection::open(fixture.database()).unwrap();
    raw.execute("UPDATE tracked SET approved = 1 WHERE path = 'a'", []).unwrap();
    raw.execute("UPDATE tracked SET digest = zeroblob(32) WHERE path = 'b'", []).unwrap();
    drop(raw);
    let store = fixture.open();
    assert_eq!(store.tracked_with(store.key()).unwrap().files, []);
}
