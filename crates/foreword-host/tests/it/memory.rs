//! A host that runs for long keeps nothing of the turns that ended.

use std::process::Command;
use std::sync::Mutex;

use foreword_host::TurnRequest;
use foreword_store::SessionId;

use crate::support::{DONE, World};

/// Says that this process is the one to measure, and how many KB it keeps of each turn on purpose.
const MEASURED: &str = "FOREWORD_MEASURED_LEAK_KB";
const SESSIONS: usize = 20;
/// Turns of each session before memory is measured: the page caches of the database fill (512 KiB for each
/// connection), as does the allocator's heap.
const WARM_UP: usize = 15;
const TURNS: usize = 30;
/// What the heap may still grow. Keeping 3 KB of each turn exceeds this; a turn holds about 300 KB while it runs.
const MAX_GROWTH_KB: u64 = 1800;

/// Turns of all sessions at once. `leak_kb` of each are kept.
fn run(world: &World, turns: usize, leak_kb: usize) {
    static KEPT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..SESSIONS {
            scope.spawn(move || {
                let session = Some(SessionId::parse(&format!("many-{number}")).unwrap());
                let message = "What is on today?".to_owned();
                let request = TurnRequest { message, session, ..TurnRequest::default() };
                for _ in 0..turns {
                    world.host.turn(&request, &mut ()).unwrap();
                    KEPT.lock().unwrap().push(vec![1; leak_kb << 10]);
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

/// Whether memory stayed flat in a process that keeps so much of each turn.
///
/// That process has one heap instead of one for each few threads: with many heaps, each grows for minutes to the most
/// it ever holds at once, and that growth hides a leak of the same size. The allocator reads this when a process starts.
fn is_flat(test: &str, leak_kb: usize) -> bool {
    if let Some(given) = std::env::var_os(MEASURED) {
        let leak_kb = given.to_str().unwrap().parse().unwrap();
        let world = World::with_agent("", DONE);
        run(&world, WARM_UP, leak_kb);
        let before = anonymous_kb();
        run(&world, TURNS, leak_kb);
        let after = anonymous_kb();
        println!("{before} KB, after {} more turns {after} KB", SESSIONS * TURNS);
        std::process::exit(i32::from(after > before + MAX_GROWTH_KB));
    }
    let measured = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", test])
        .env(MEASURED, leak_kb.to_string())
        .env("MALLOC_ARENA_MAX", "1")
        .status();
    measured.unwrap().success()
}

#[test]
#[cfg(target_os = "linux")]
fn turns_that_ended_keep_no_memory() {
    assert!(is_flat("memory::turns_that_ended_keep_no_memory", 0));
}

/// The test above can fail.
#[test]
#[cfg(target_os = "linux")]
fn six_kilobytes_of_each_turn_would_be_noticed() {
    assert!(!is_flat("memory::six_kilobytes_of_each_turn_would_be_noticed", 6));
}
