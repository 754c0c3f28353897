//! Proposals for identity files: bounded, found by their id, decided once.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{
    IdentityProposal, IdentityProposalId, IdentityState, IdentityVerdict, MAX_IDENTITY_BYTES,
    MAX_PENDING_IDENTITY, NewIdentityProposal, SessionId, Store, StoreError,
};

fn new(content: &str) -> NewIdentityProposal {
    NewIdentityProposal {
        file: "SOUL.md".to_owned(),
        content: content.to_owned(),
        base: Some([3; 32]),
        reason: Some("the person asked for it".to_owned()),
        by: "agent:main".to_owned(),
        session: None,
    }
}

fn propose(store: &Store, new: &NewIdentityProposal) -> Result<IdentityProposalId, StoreError> {
    store.write(NOW_MS, |w| w.identity_propose(new, NOW_MS))
}

fn decide(
    store: &Store,
    id: &str,
    verdict: IdentityVerdict,
) -> Result<IdentityProposal, StoreError> {
    store.write(NOW_MS, |w| w.identity_decide(id, verdict, "user:ada", Some("fine"), NOW_MS + 5))
}

#[test]
fn a_proposal_is_decided_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let session = session(&store, "main");
    let proposal = NewIdentityProposal { session: Some(session.clone()), ..new("# Soul\n") };
    let id = propose(&store, &proposal).unwrap();
    let other = propose(&store, &NewIdentityProposal { base: None, ..new("other") }).unwrap();

    let found = store.identity_proposal(&id.as_str()[..9]).unwrap();
    assert_eq!((&found.id, found.state, found.bytes), (&id, IdentityState::Pending, 7));
    assert_eq!((found.file.as_str(), found.base), ("SOUL.md", Some([3; 32])));
    assert_eq!((found.session.as_ref(), found.created_at), (Some(&session), NOW_MS));
    assert_eq!(store.identity_content(&id).unwrap().as_deref(), Some("# Soul\n"));
    assert_eq!(store.identity_proposal(other.as_str()).unwrap().base, None);

    let approved: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let decided = decide(&fixture.open(), id.as_str(), IdentityVerdict::Approve);
                    usize::from(decided.is_ok())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(approved, 1);
    let error = decide(&store, id.as_str(), IdentityVerdict::Reject).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the proposal for an identity file `{id}` is already approved")
    );
    let found = store.identity_proposal(id.as_str()).unwrap();
    assert_eq!((found.state, found.decided_at), (IdentityState::Approved, Some(NOW_MS + 5)));
    assert_eq!(found.decided_by.as_deref(), Some("user:ada"));
    assert_eq!(found.decision_reason.as_deref(), Some("fine"));
    assert_eq!(store.identity_content(&id).unwrap().as_deref(), Some("# Soul\n"));

    let rejected = decide(&store, other.as_str(), IdentityVerdict::Reject).unwrap();
    assert_eq!(rejected.state, IdentityState::Rejected);
    let ids = |state| -> Vec<_> {
        let proposals = store.identity_proposals(state).unwrap();
        proposals.into_iter().map(|proposal| proposal.id).collect()
    };
    assert_eq!(ids(None), [other, id.clone()]);
    assert_eq!(ids(Some(IdentityState::Pending)), []);
    assert_eq!(ids(Some(IdentityState::Approved)), [id]);
    for nothing in ["", "%", "1", "zzzzzzzzzzz"] {
        let error = decide(&store, nothing, IdentityVerdict::Approve).unwrap_err();
        assert!(matches!(error, StoreError::NoSuch { .. }), "{nothing}: {error}");
    }
}

#[test]
fn an_agent_cannot_fill_the_disk() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let refused = |new: &NewIdentityProposal| propose(&store, new).unwrap_err().to_string();
    assert_eq!(
        refused(&new(&"x".repeat(MAX_IDENTITY_BYTES + 1))),
        "the content of an identity file is 262145 bytes long; the limit is 262144"
    );
    let long = NewIdentityProposal { reason: Some("x".repeat(5000)), ..new("x") };
    assert_eq!(refused(&long), "the reason is 5000 bytes long; the limit is 4096");
    let file = NewIdentityProposal { file: "a\nb".to_owned(), ..new("x") };
    assert_eq!(refused(&file), "the name of an identity file must be one line of text");
    let gone = Some(SessionId::parse("gone").unwrap());
    let elsewhere = NewIdentityProposal { session: gone, ..new("x") };
    assert_eq!(refused(&elsewhere), "there is no session `gone`");

    propose(&store, &new(&"x".repeat(MAX_IDENTITY_BYTES))).unwrap();
    let error = (0..MAX_PENDING_IDENTITY).find_map(|_| propose(&store, &new("x")).err()).unwrap();
    assert_eq!(error.to_string(), "the limit of 200 proposals for identity files is reached");

    // The contents of what was decided long ago are forgotten, the decisions are not.
    let pending = store.identity_proposals(Some(IdentityState::Pending)).unwrap();
    for proposal in &pending {
        decide(&store, proposal.id.as_str(), IdentityVerdict::Reject).unwrap();
    }
    let all = store.identity_proposals(None).unwrap();
    assert_eq!(all.len(), 200);
    assert_eq!(all.iter().filter(|proposal| proposal.bytes > 0).count(), 100);
    let forgotten = all.iter().find(|proposal| proposal.bytes == 0).unwrap();
    assert_eq!(store.identity_content(&forgotten.id).unwrap(), None);
}

#[test]
fn ids_that_begin_alike_are_told() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let ids: Vec<_> = (0..40).map(|_| propose(&store, &new("x")).unwrap()).collect();
    // Forty ids and thirty-two letters: two begin with the same.
    let twice = (b'a'..=b'z')
        .chain(b'2'..=b'7')
        .map(|letter| char::from(letter).to_string())
        .find(|letter| ids.iter().filter(|id| id.as_str().starts_with(letter)).count() > 1)
        .unwrap();
    let StoreError::Ambiguous { candidates, .. } = store.identity_proposal(&twice).unwrap_err()
    else {
        panic!("{twice} is not ambiguous");
    };
    assert!(candidates.len() > 1 && candidates.iter().all(|id| id.starts_with(&twice)));
    for id in &ids {
        assert_eq!(store.identity_proposal(id.as_str()).unwrap().id, *id);
    }
}
