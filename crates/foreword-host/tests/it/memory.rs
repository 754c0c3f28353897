//! A host that runs for long keeps nothing of the turns that ended.

use foreword_host::TurnRequest;
use foreword_store::SessionId;

use crate::support::{DONE, World};

const SESSIONS: usize = 20;
/// Turns of each session before memory is measured: the page caches of the database fill (2 MB for each
/// connection), as do the allocator's heaps.
const WARM_UP: usize = 15;
const TURNS: usize = 20;
/// What the page caches and the heaps may still grow. A turn holds about 300 KB while it runs; keeping a
/// twentieth of it exceeds this.
const MAX_GROWTH_KB: u64 = 6 << 10;

/// Turns of all sessions at once.
fn run(world: &World, turns: usize) {
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            scope.spawn(move || {
                let session = Some(SessionId::parse(&format!("many-{number}")).unwrap());
                let message = "What is on today?".to_owned();
                let request = TurnRequest { message, session, ..TurnRequest::default() };
                for _ in 0..turns {
                    world.host.turn(&request, &mut ()).unwrap();
                }
            });
        }
    });
}

/// Memory of this process that is not part of a file.
fn anonymous_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn turns_that_ended_keep_no_memory() {
    let world = World::with_agent("", DONE);
    run(&world, WARM_UP);
    let before = anonymous_kb();
    run(&world, TURNS);
    let after = anonymous_kb();
    let growth = after.saturating_sub(before);
    println!("{before} KB, after {} more turns {after} KB", SESSIONS * TURNS);
    assert!(growth <= MAX_GROWTH_KB, "{growth} KB more after {} turns", SESSIONS * TURNS);
}
