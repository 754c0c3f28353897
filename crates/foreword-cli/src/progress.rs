//! How far a long command is, for a person who watches.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// One line on standard error that is written over; nothing where nobody looks.
pub(crate) struct Progress {
    shown: bool,
    last: Option<Instant>,
    started: Instant,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let shown = !terminal.quiet && io::stderr().is_terminal();
        Self { shown, last: None, started: Instant::now(), drawn: false }
    }

    pub(crate) fn at(&mut self, what: &str, done: usize, total: Option<usize>) {
        let often = Duration::from_millis(200);
        if !self.shown || self.last.is_some_and(|last| last.elapsed() < often) {
            return;
        }
        self.last = Some(Instant::now());
        self.drawn = true;
        let rate = done as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let _ = write!(io::stderr(), "\r\x1b[K{what} {done}{of}, {rate:.0} a second");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
