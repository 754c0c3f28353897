//! The progress of a long command.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// One line on standard error that is overwritten; silent without a terminal.
pub(crate) struct Progress {
    visible: bool,
    last: Option<Instant>,
    started: Instant,
    drawn: bool,
}

impl Progress {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let visible = !terminal.quiet && io::stderr().is_terminal();
        Self { visible, last: None, started: Instant::now(), drawn: false }
    }

    pub(crate) fn at(&mut self, what: &str, done: usize, total: Option<usize>) {
        let often = Duration::from_millis(200);
        if !self.visible || self.last.is_some_and(|last| last.elapsed() < often) {
            return;
        }
        self.last = Some(Instant::now());
        self.drawn = true;
        let rate = done as f64 / self.started.elapsed().as_secs_f64().max(0.001);
        let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let _ = write!(io::stderr(), "\r\x1b[K{what} {done}{of}, {rate:.0}/s");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
