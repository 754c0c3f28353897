//! The check of `fuzz/schedule_checks.rs` on arbitrary text and damaged schedules. `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/schedule_checks.rs"]
mod checks;
#[path = "../../../../fuzz/harness.rs"]
mod harness;

use harness::{damaged, fuzz};

const SCHEDULES: &[&str] =
    &["30 9 * * MON-FRI", "*/15 0-5,12 1,15 */3 5-7/2", "0 0 29 FEB *", "@daily", "5/20 * 31 4 *"];

#[test]
fn any_text_as_a_schedule() {
    fuzz(damaged(SCHEDULES), checks::schedule);
}
