//! What must hold for any text that is read as a schedule.
//!
//! The targets in `fuzz_targets/` and the harness on stable (`crates/foreword-host/tests/it/fuzz_smoke.rs`)
//! share this function.

use foreword_host::Cron;

/// Any text is a schedule that comes, or is refused with a message.
pub(crate) fn schedule(text: &str) {
    match Cron::parse(text) {
        Ok(cron) => {
            let next = cron.next_after(1_772_116_200).expect("what was taken comes");
            assert!(next > 1_772_116_200 && cron.matches(next), "{cron}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
