//! One line on standard error that says what is going on, and is overwritten.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// Nothing is said about a wait that is shorter.
const PATIENCE: Duration = Duration::from_millis(700);
/// How often it is drawn.
const EVERY: Duration = Duration::from_millis(120);
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The status of a turn; silent without a terminal.
#[derive(Debug)]
pub(crate) struct StatusLine {
    visible: bool,
    what: String,
    since: Instant,
    drawn: Option<Instant>,
    frame: usize,
}

impl StatusLine {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        let visible = !terminal.quiet && !terminal.json && io::stderr().is_terminal();
        Self { visible, what: String::new(), since: Instant::now(), drawn: None, frame: 0 }
    }

    /// Something else begins.
    pub(crate) fn begin(&mut self, what: &str) {
        self.clear();
        what.clone_into(&mut self.what);
        self.since = Instant::now();
    }

    /// Draws the line, if the wait is long enough to be worth it.
    pub(crate) fn tick(&mut self) {
        let elapsed = self.since.elapsed();
        let is_recent = self.drawn.is_some_and(|drawn| drawn.elapsed() < EVERY);
        if !self.visible || self.what.is_empty() || elapsed < PATIENCE || is_recent {
            return;
        }
        self.drawn = Some(Instant::now());
        self.frame = (self.frame + 1) % FRAMES.len();
        let mark = FRAMES.get(self.frame).copied().unwrap_or("·");
        let _ = write!(io::stderr(), "\r\x1b[K{mark} {} ({} s)", self.what, elapsed.as_secs());
        let _ = io::stderr().flush();
    }

    /// Removes the line, so that something else can be written.
    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
            let _ = io::stderr().flush();
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}
