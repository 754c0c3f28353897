//! Processes that are killed at random points leave whole transactions behind, and nothing else.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::fixture::{Fixture, NOW_MS, new_session, proposal};
use foreword_store::{
    AuditKey, Decision, Event, FinishedTurn, GroupWriter, Heads, LogFilter, NewSession, Options,
    Order, Outcome, ProposalState, SessionId, Store, StoreError, TurnEnd, TurnNumber, TurnRange,
    TurnState, TurnUsage,
};

const DATABASE: &str = "FOREWORD_TEST_CRASH_DATABASE";
const CONFIG: &str = "FOREWORD_TEST_CRASH_CONFIG";
const ROUNDS: usize = 24;

fn started_as_child() -> Option<(PathBuf, PathBuf)> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    Some((path(DATABASE)?, path(CONFIG)?))
}

/// Says on standard output that everything up to this entry was acknowledged.
fn acknowledged(seq: i64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "acknowledged {seq}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: what the processes do until they are killed.
#[test]
fn child_changes_proposals() {
    let Some((database, config)) = started_as_child() else {
        return;
    };
    let key = AuditKey::load_or_create(&config).unwrap();
    let store = Store::open(&database, key, Heads::new(&config)).unwrap();
    loop {
        let (id, _) = store
            .write(NOW_MS, |w| -> Result<_, StoreError> {
                let id = w.insert_proposal(&proposal("notes", &[b'x'; 3000]))?;
                let event = Event::new("agent", "crash.propose", id.as_str(), Outcome::Pending);
                Ok((id, w.audit(&event)?))
            })
            .unwrap();
        let head = store
            .write(NOW_MS, |w| {
                w.set_state(
                    &id,
                    ProposalState::Pending,
                    ProposalState::Done,
                    &Decision::default(),
                )?;
                w.audit(&Event::new("user", "crash.done", id.as_str(), Outcome::Done))
            })
            .unwrap();
        acknowledged(head.seq);
    }
}

/// Not a test of its own: what the other processes do until they are killed.
#[test]
fn child_appends_from_many_threads() {
    let Some((database, config)) = started_as_child() else {
        return;
    };
    let key = AuditKey::load_or_create(&config).unwrap();
    let writer =
        GroupWriter::start(&database, key, Heads::new(&config), Options::default()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let event = Event::new("agent", "crash.append", "many", Outcome::Done);
                    acknowledged(writer.write(NOW_MS, move |w| w.audit(&event)).unwrap().seq);
                }
            });
        }
    });
}

/// Says on standard output that this turn was acknowledged as finished.
fn finished(session: &SessionId, turn: TurnNumber) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "finished {session}/{turn}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: sessions that take turns until their process is killed.
#[test]
fn child_takes_turns() {
    let Some((database, config)) = started_as_child() else {
        return;
    };
    let key = AuditKey::load_or_create(&config).unwrap();
    let options = Options::default();
    let writer = GroupWriter::start(&database, key, Heads::new(&config), options).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| take_turns(&writer));
        }
    });
}

fn take_turns(writer: &GroupWriter) {
    let id = SessionId::random().unwrap();
    let new = NewSession { id: id.clone(), ..new_session("x") };
    writer.write(NOW_MS, move |w| w.session_create(&new, NOW_MS)).unwrap();
    let event = |action: &str, id: &SessionId, turn: TurnNumber| {
        Event::new("host", action, format!("{id}/{turn}"), Outcome::Done)
    };
    loop {
        let session = id.clone();
        let begin = writer.write(NOW_MS, move |w| {
            let turn = w.turn_begin(&session, "hello", "a host", NOW_MS)?;
            w.audit(&event("crash.begin", &session, turn))?;
            Ok::<_, StoreError>(turn)
        });
        let turn = begin.unwrap();
        let session = id.clone();
        let finish = writer.write(NOW_MS, move |w| {
            w.turn_finish(&session, turn, &finished_turn(&session, turn))?;
            w.audit(&event("crash.finish", &session, turn))
        });
        acknowledged(finish.unwrap().seq);
        finished(&id, turn);
    }
}

fn finished_turn(session: &SessionId, turn: TurnNumber) -> FinishedTurn {
    FinishedTurn {
        messages: format!("[\"{session}\", {turn}, \"{}\"]", "x".repeat(2000)),
        answer: format!("{session}/{turn}"),
        usage: TurnUsage { calls: turn.0, ..TurnUsage::default() },
        state: TurnEnd::Done,
        at: NOW_MS,
    }
}

fn start(fixture: &Fixture, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("crash::{what}"), "--nocapture", "--test-threads=1"])
        .env(DATABASE, fixture.database())
        .env(CONFIG, fixture.config())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child knew to be durable when it was killed.
#[derive(Debug, Default)]
struct Known {
    last_entry: i64,
    turns: BTreeSet<(String, u64)>,
}

/// Kills the child.
fn kill(mut child: Child) -> Known {
    child.kill().unwrap();
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    let lines = BufReader::new(child.stdout.take().unwrap()).split(b'\n');
    let mut known = Known::default();
    for line in lines {
        let line = String::from_utf8(line.unwrap()).unwrap();
        // The last line may be cut off, which makes its number smaller, never larger.
        if let Some((_, seq)) = line.rsplit_once("acknowledged ") {
            known.last_entry = known.last_entry.max(seq.parse().unwrap_or(0));
        }
        if let Some((_, turn)) = line.rsplit_once("finished ")
            && let Some((session, turn)) = turn.split_once('/')
            && let Ok(turn) = turn.parse()
        {
            known.turns.insert((session.to_owned(), turn));
        }
    }
    child.wait().unwrap();
    known
}

fn subjects(store: &Store, action: &str) -> BTreeSet<String> {
    let filter = LogFilter {
        action_prefix: Some(action.to_owned()),
        order: Order::OldestFirst,
        ..LogFilter::default()
    };
    let entries = store.entries(&filter).unwrap();
    let subjects: BTreeSet<_> = entries.iter().map(|entry| entry.subject.clone()).collect();
    assert_eq!(subjects.len(), entries.len(), "an entry was written twice");
    subjects
}

fn ids(store: &Store, state: Option<ProposalState>) -> BTreeSet<String> {
    let proposals = store.proposals(state).unwrap();
    proposals.iter().map(|proposal| proposal.id.to_string()).collect()
}

#[test]
fn killed_at_random_points() {
    let fixture = Fixture::new();
    let mut rounds_with_work = 0;
    for round in 0..ROUNDS {
        let children = [
            start(&fixture, "child_changes_proposals"),
            start(&fixture, "child_changes_proposals"),
            start(&fixture, "child_appends_from_many_threads"),
        ];
        let mut random = [0; 1];
        getrandom::fill(&mut random).unwrap();
        // Some are killed while they start, some in the midst of their work.
        std::thread::sleep(Duration::from_millis(5 + u64::from(random[0])));
        let last = children.map(|child| kill(child).last_entry).into_iter().max().unwrap();
        rounds_with_work += usize::from(last > 0);

        let store = fixture.open();
        let verification = store.verify(&[]).unwrap();
        assert!(verification.is_clean(), "round {round}: {:?}", verification.faults);
        assert!(verification.last_seq >= last, "round {round}: an acknowledged entry is lost");
        assert_eq!(ids(&store, None), subjects(&store, "crash.propose"), "round {round}");
        assert_eq!(
            ids(&store, Some(ProposalState::Done)),
            subjects(&store, "crash.done"),
            "round {round}"
        );
    }
    assert!(rounds_with_work >= ROUNDS / 2, "{rounds_with_work}");
}

#[test]
fn no_finished_turn_is_lost() {
    let fixture = Fixture::new();
    let mut finished = BTreeSet::new();
    let mut lost = 0;
    for round in 0..ROUNDS {
        let children = [start(&fixture, "child_takes_turns"), start(&fixture, "child_takes_turns")];
        let mut random = [0; 1];
        getrandom::fill(&mut random).unwrap();
        std::thread::sleep(Duration::from_millis(20 + u64::from(random[0])));
        let known = children.map(kill);
        let last = known.iter().map(|known| known.last_entry).max().unwrap();
        finished.extend(known.into_iter().flat_map(|known| known.turns));

        let store = fixture.open();
        let verification = store.verify(&[]).unwrap();
        assert!(verification.is_clean(), "round {round}: {:?}", verification.faults);
        assert!(verification.last_seq >= last, "round {round}: an acknowledged entry is lost");
        // What is left of the dead is given up.
        for turn in store.running_turns(None).unwrap() {
            let abandon =
                store.write(NOW_MS, |w| w.turns_abandon(&turn.session, &turn.owner, NOW_MS));
            lost += abandon.unwrap();
        }
    }
    assert!(finished.len() > ROUNDS && lost > 0, "{} finished, {lost} lost", finished.len());

    let store = fixture.open();
    let (mut begun, mut done) = (BTreeSet::new(), BTreeSet::new());
    for session in store.sessions(usize::MAX).unwrap() {
        let turns = store.turns(&session.id, TurnRange::newest(usize::MAX)).unwrap();
        assert_eq!(u64::try_from(turns.len()).unwrap(), session.turns);
        for turn in turns {
            let name = format!("{}/{}", session.id, turn.number);
            if turn.state == TurnState::Done {
                let expected = finished_turn(&session.id, turn.number);
                let messages = store.turn_messages(&session.id, turn.number).unwrap();
                assert_eq!(messages, Some(expected.messages));
                assert_eq!((turn.answer, turn.usage), (Some(expected.answer), expected.usage));
                finished.remove(&(session.id.to_string(), turn.number.0));
                done.insert(name.clone());
            } else {
                assert_eq!(turn.state, TurnState::Lost, "{name}");
            }
            begun.insert(name);
        }
    }
    assert_eq!(finished, BTreeSet::new(), "finished and not there");
    assert_eq!(begun, subjects(&store, "crash.begin"));
    assert_eq!(done, subjects(&store, "crash.finish"));
}
