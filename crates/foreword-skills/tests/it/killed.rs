//! Real processes that propose, approve and revert at the same time, and are killed at any moment.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{CAPABLE, Scratch, ada, agent, open, request};
use foreword_skills::SkillStore;
use foreword_store::ProposalState;

const CHILD: &str = "FOREWORD_TEST_CHILD";

/// Not a test of its own: what the processes do that the tests start.
#[test]
fn child() {
    let Ok(task) = std::env::var(CHILD) else { return };
    let parts: Vec<&str> = task.split('|').collect();
    let (root, config, who, rounds) = (
        PathBuf::from(parts[0]),
        PathBuf::from(parts[1]),
        parts[2],
        parts[3].parse::<u32>().unwrap(),
    );
    let mut store = open(&root, &config);
    for round in 0..rounds {
        let name = format!("skill-{who}-{round}");
        let text = format!("# {name}\n\nText of {name}, first.\n");
        let result = store.propose(request(&name, &text), &agent()).unwrap();
        println!("ack {name} {}", result.commit.unwrap());
        // One skill that everybody changes.
        let text = format!("# Shared\n\nWritten by {name}.\n");
        let result = store.propose(request("shared", &text), &agent()).unwrap();
        if round % 3 == 1
            && let Some(commit) = result.commit
        {
            // Others may have changed it since: then it is refused, which is fine.
            let _ = store.revert(&commit, &ada());
        }
        let id =
            store.propose(request(&format!("cap-{who}-{round}"), CAPABLE), &agent()).unwrap().id;
        if round % 2 == 0 {
            let done = store.approve(&id, &ada()).unwrap();
            println!("ack cap-{who}-{round} {}", done.commit);
        }
    }
}

fn start(scratch: &Scratch, who: &str, rounds: u32) -> Child {
    let task =
        format!("{}|{}|{who}|{rounds}", scratch.root().display(), scratch.config_dir().display());
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::child", "--nocapture", "--test-threads=1"])
        .env(CHILD, task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a process said was done before it ended.
fn acknowledged(child: &mut Child) -> Vec<(String, String)> {
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    // The harness writes in front of the first line, and the last one may be cut short.
    let lines = said.lines().filter_map(|line| line.split_once("ack ").map(|(_, rest)| rest));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs
        .filter(|(_, commit)| commit.len() == 40)
        .map(|(name, commit)| (name.to_owned(), commit.to_owned()))
        .collect()
}

/// Repository, database, directory and log tell the same story.
fn check(scratch: &Scratch, acknowledged: &[(String, String)]) {
    let store = scratch.store();
    store.recover(&ada()).unwrap();
    scratch.check_consistent();
    let log = scratch.git(&["log", "--format=%H %(trailers:key=Proposal-Id,valueonly,separator=)"]);
    let commits: BTreeMap<&str, &str> =
        log.lines().map(|line| line.split_once(' ').unwrap()).collect();
    let ids: BTreeSet<&str> = commits.values().copied().collect();
    assert_eq!(ids.len(), commits.len(), "a proposal was committed twice");
    for (name, commit) in acknowledged {
        assert!(commits.contains_key(commit.as_str()), "{name} was acknowledged and is lost");
    }
    let proposals = store.proposals(true).unwrap();
    for proposal in &proposals {
        let committed = ids.contains(proposal.id.as_str());
        assert_eq!(committed, proposal.state == ProposalState::Done, "{proposal:?}");
        assert_ne!(proposal.state, ProposalState::Intent, "{proposal:?}");
    }
    let done = proposals.iter().filter(|proposal| proposal.state == ProposalState::Done).count();
    assert_eq!(done, commits.len());
    // The directory holds what the newest commit holds, and each file is whole.
    let files = scratch.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    for path in files.lines() {
        let held = scratch.git(&["show", &format!("HEAD:{path}")]);
        assert_eq!(scratch.read(&format!("ws/skills/{path}")), held, "{path}");
    }
    let listed = store.list().unwrap();
    assert_eq!(listed.len(), files.lines().count());
}

#[test]
fn processes_side_by_side_lose_and_mix_nothing() {
    let scratch = Scratch::new();
    let mut children: Vec<Child> =
        ["a", "b", "c", "d"].iter().map(|who| start(&scratch, who, 5)).collect();
    let mut acks = Vec::new();
    for child in &mut children {
        acks.extend(acknowledged(child));
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(child.wait().unwrap().success(), "{said}");
    }
    assert_eq!(acks.len(), 4 * (5 + 3));
    check(&scratch, &acks);
    for (name, _) in &acks {
        let text = scratch.read(&format!("ws/skills/{name}/SKILL.md"));
        assert!(text.contains(&format!("Text of {name}, first.")) || name.starts_with("cap-"));
    }
}

#[test]
fn killed_at_any_moment_everything_stays_consistent() {
    let scratch = Scratch::new();
    let mut acks = Vec::new();
    // Reproducible times, spread over what one round takes.
    let mut random = 0x2545_f491_u64;
    for round in 0..24 {
        let mut children =
            [start(&scratch, &format!("x{round}"), 50), start(&scratch, &format!("y{round}"), 50)];
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_micros(20_000 + random % 230_000));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for child in &mut children {
            acks.extend(acknowledged(child));
        }
        if round % 8 == 7 {
            check(&scratch, &acks);
        }
    }
    check(&scratch, &acks);
    assert!(acks.len() > 10, "the processes hardly ran: {}", acks.len());
}
