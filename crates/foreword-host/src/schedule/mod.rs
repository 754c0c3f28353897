//! Turns that start without a message from a person.
//!
//! The command line calls [`Host::run_due`](crate::Host::run_due) and
//! [`Host::heartbeat`](crate::Host::heartbeat) from time to time. `cron` says when a schedule is due;
//! `wakeup` claims it, so that only one host runs it, and runs an ordinary turn.

mod cron;
mod wakeup;

pub use cron::{Cron, CronError};
pub use wakeup::{Wakeup, WakeupReport};

use foreword::Timestamp;

/// A time in milliseconds since 1970 as ISO 8601, in UTC and whole seconds.
pub(crate) fn iso_time(ms: i64) -> String {
    Timestamp::from_unix(ms.div_euclid(1000)).as_str().to_owned()
}
