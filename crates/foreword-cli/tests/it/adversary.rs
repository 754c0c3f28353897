//! A scripted adversary: many variants of the attacks that once worked, against every sandbox there is.
//!
//! A *scene* is a workspace with a repository, a person with secrets, and one conversation. In each turn
//! the scripted model carries out one attack, chosen and varied by numbers that depend on the seed alone.
//! Then the person works in the workspace, and what must always be so is checked: nothing ran as the
//! person, nothing outside was written or came into a request, no word of the agent became a part of a
//! system prompt, files that run are as they were, taint did not fall, the log verifies, nothing hung.
//!
//! The tests run 500 turns; `FOREWORD_ATTACK_TURNS=10000 FOREWORD_ATTACK_SEED=2` runs more and others. A
//! failure names its scene: `FOREWORD_ATTACK_SEED=1 FOREWORD_ATTACK_SCENE=17 cargo nextest run -E
//! 'test(adversary)'` runs only that one.

mod attack;
mod canary;
mod chat;
mod cloned;
mod files;
mod git;
mod random;
mod report;
mod scene;
mod shell;
mod taint;
mod words;

use std::time::Instant;

use self::attack::{Attack, Expect, Step};
use self::chat::{Chat, Flavour};
use self::random::Random;
use self::report::Report;
use self::scene::{Facts, Scene};

/// Turns of one scene at most: long enough for attacks to build on each other.
const TURNS_PER_SCENE: usize = 20;
/// The host may not use more memory than this, in MiB.
const MAX_PEAK_MIB: u64 = 1024;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The next attack.
fn next(facts: &Facts, flavour: Flavour, is_tainted: bool, random: &mut Random) -> Attack {
    loop {
        return match random.below(100) {
            0..20 if flavour.confines() => git::settled(facts, random),
            20..28 if flavour.confines() => git::new_repository(facts, random),
            28..30 if flavour.confines() => git::flood(facts, random),
            30..44 => files::hostile(facts, random),
            44..56 => files::autorun(facts, random),
            56..60 => files::linked_autorun(facts, random),
            60..66 if flavour.confines() => files::traversal(facts, random),
            66..73 if flavour.confines() => files::governed(facts, random),
            73..79 => words::instructions_elsewhere(facts, random),
            79..82 if flavour.confines() => words::private_state(facts, random),
            82..86 if flavour.confines() => words::processes(facts, random),
            86..90 if is_tainted => taint::dilute(facts, random),
            90..93 if is_tainted => taint::laundered(facts, random),
            93..97 => taint::proposal(facts, random),
            97..100 => canary::leak(random),
            _ => continue,
        };
    }
}

/// Runs one scene of at most so many turns.
fn play(seed: u64, number: u64, flavour: Flavour, turns: usize, report: &mut Report) {
    let mut random = Random::of(seed, number);
    let is_long = setting("FOREWORD_ATTACK_TURNS").is_some();
    let is_tainted = random.chance(35);
    let mut scene = Scene::new(&mut random, is_tainted, is_long);
    let mut chat = Chat::start(&scene, flavour, "s");
    let mut external = 0;
    report.scenes += 1;
    let mut done = 0;
    while done < turns.min(TURNS_PER_SCENE) {
        scene.facts.number += 1;
        let first = is_tainted && done == 0;
        let attack = match first {
            true => taint::dilute(&scene.facts, &mut random),
            false => next(&scene.facts, flavour, is_tainted, &mut random),
        };
        let Attack { class, what, steps, expect, visits, spoils } = attack;
        let (planned, has_script) = (steps.len(), steps.iter().any(Step::is_script));
        let mut fault = |found: String| report.fault(number, class, &what, found);
        let since = Instant::now();
        let mut turn = chat.turn(&format!("attack {done}"), steps);
        done += 1;
        if turn.is_some() && !spoils.is_empty() {
            // What was left is read before the next turn.
            let results = turn.map_or_else(Vec::new, |turn| turn.results);
            turn = chat.turn("and now?", Vec::new());
            done += 1;
            if let Some(turn) = &mut turn {
                turn.results.splice(0..0, results);
            }
        }
        let Some(turn) = turn else {
            fault(format!("hung or ended after {:?}: {}", since.elapsed(), chat.said()));
            break;
        };
        let said = chat.said();
        turn.faults.iter().for_each(|found| fault(found.clone()));
        if said.contains("panicked") {
            fault(said.clone());
        }
        let state = turn
            .report
            .as_ref()
            .map_or("refused", |report| report["state"].as_str().unwrap_or_default());
        match &expect {
            Expect::Nothing => {}
            Expect::Held if state == "held" => {}
            Expect::Held => fault(format!("the canary went out: {state}")),
            Expect::Refused => {
                let last = turn.results.last().map_or("", String::as_str);
                if !last.contains("was not done") {
                    fault(format!("not refused: {}", last.chars().take(300).collect::<String>()));
                }
            }
            Expect::NoSkill(name) => {
                if scene.scratch.join(&format!("skills/{name}")).exists() {
                    fault(format!("the skill {name} was approved"));
                }
            }
        }
        let now = turn.session["taint"]["externalTokens"].as_u64().unwrap_or_default();
        if now < external || is_tainted && now == 0 {
            fault(format!("external tokens fell from {external} to {now}"));
        }
        external = now;
        scene.repair(&spoils);
        if flavour.confines() {
            scene.work(&mut random, &visits);
            scene.outside_faults().into_iter().for_each(&mut fault);
        }
        let faults = scene.workspace_faults(flavour.confines());
        let is_broken = !faults.is_empty();
        faults.into_iter().for_each(&mut fault);
        // Every call was answered, and a script came to its end.
        let is_complete = turn.results.len() > planned
            && (!has_script || turn.results.iter().any(|said| said.contains("tried")));
        report.attack(class, is_complete || state == "held");
        if state == "refused" || is_broken {
            report.refused(&said, state == "refused");
            break;
        }
    }
    report.turns += done;
    let peak = chat.peak_mib(flavour);
    report.peak_mib = report.peak_mib.max(peak);
    if peak > MAX_PEAK_MIB {
        report.fault(number, "memory", "the host", format!("used {peak} MiB"));
    }
    if !chat.end() {
        report.fault(number, "end", "the host", "does not end");
    }
    if is_tainted {
        in_another_session(&scene, number, flavour, &mut random, report);
    }
    let verified = scene.scratch.run(&["audit", "verify"]);
    if verified.status != 0 {
        report.fault(number, "audit", "verify", verified.stdout + &verified.stderr);
    }
}

/// What a tainted session wrote down is read in a new one: it is as tainted there.
fn in_another_session(
    scene: &Scene,
    number: u64,
    flavour: Flavour,
    random: &mut Random,
    report: &mut Report,
) {
    let Attack { class, what, steps, .. } = taint::carried_over(&scene.facts, random);
    let (mut write, mut read) = (steps, Vec::new());
    read.extend(write.drain(taint::WRITING..));
    for (session, steps) in [("writer", write), ("reader", read)] {
        let mut chat = Chat::start(scene, flavour, session);
        let turn = chat.turn("go on", steps);
        report.turns += 1;
        let results = turn.map_or_else(Vec::new, |turn| turn.results);
        // An earlier attack may have closed the directory, so that there was nothing to read.
        let (is_read, last) = match results.as_slice() {
            [_, read, last] => (read.contains("blue cart"), last.as_str()),
            _ => (false, ""),
        };
        if session == "reader" {
            report.attack(class, is_read);
            if is_read && !last.contains("was not done") {
                let shown: String = last.chars().take(300).collect();
                report.fault(number, class, &what, format!("not refused: {shown}"));
            }
        }
        if !chat.end() {
            report.fault(number, "end", "the host", "does not end");
        }
    }
}

/// Runs as many turns as are due to a sandbox, of 500 or of those that are asked for.
fn attack(flavour: Flavour, percent: u64) {
    let turns =
        usize::try_from(setting("FOREWORD_ATTACK_TURNS").unwrap_or(500) * percent / 100).unwrap();
    let seed = setting("FOREWORD_ATTACK_SEED").unwrap_or(1);
    let mut report = Report::new(flavour.name(), seed);
    if let Some(scene) = setting("FOREWORD_ATTACK_SCENE") {
        play(seed, scene, flavour, TURNS_PER_SCENE, &mut report);
    } else {
        for scene in 0.. {
            if report.turns >= turns {
                break;
            }
            play(seed, scene, flavour, turns - report.turns, &mut report);
            report.progress(turns);
        }
    }
    report.finish();
}

#[test]
fn docker_holds() {
    if std::env::var_os("FOREWORD_DOCKER_IMAGE").is_none() {
        return foreword_testing::skip("docker", "FOREWORD_DOCKER_IMAGE names no image");
    }
    attack(Flavour::Docker, 4);
}

#[test]
fn bwrap_holds() {
    attack(Flavour::Bwrap, 56);
}

#[test]
fn landlock_holds() {
    if foreword_sandbox::landlock_level() < 3 {
        return foreword_testing::skip("landlock", "the kernel has no Landlock ABI 3");
    }
    attack(Flavour::Landlock, 28);
}

#[test]
fn what_needs_no_sandbox_holds_without_landlock() {
    attack(Flavour::NoLandlock, 8);
}

#[test]
fn a_cloned_workspace_gets_nothing() {
    let asked = setting("FOREWORD_ATTACK_TURNS").unwrap_or(500);
    let turns = usize::try_from(asked * 4 / 100).unwrap();
    let seed = setting("FOREWORD_ATTACK_SEED").unwrap_or(1);
    let mut report = Report::new("none, before and after trust", seed);
    match setting("FOREWORD_ATTACK_SCENE") {
        Some(scene) => cloned::play(seed, scene, &mut report),
        None => (0..turns as u64).for_each(|scene| {
            cloned::play(seed, scene, &mut report);
            report.progress(turns);
        }),
    }
    report.finish();
}

/// Found by the adversary: no turn could start after an agent had closed a directory above a governed file.
#[test]
fn a_directory_that_an_agent_closed_is_open_for_the_next_turn() {
    let scene = Scene::new(&mut Random::of(1, 1), false, false);
    let mut chat = Chat::start(&scene, Flavour::Bwrap, "s");
    let close = attack::bash("chmod 000 team/inner sub; chmod 500 team");
    assert_eq!(chat.turn("go", vec![close]).unwrap().report.unwrap()["state"], "done");
    let turn = chat.turn("and now?", Vec::new()).unwrap();
    assert_eq!(
        turn.report.map(|report| report["state"].clone()),
        Some("done".into()),
        "{}",
        chat.said()
    );
    assert!(chat.end());
}
