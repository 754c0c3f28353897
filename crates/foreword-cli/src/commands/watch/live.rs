//! One line per call, while the program runs.

use std::io;
use std::sync::{Mutex, PoisonError};

use foreword::{Prices, visible_line};
use foreword_watch::CallSummary;
use rustix::termios::{LocalModes, tcgetattr};

use super::print::{money, seconds, thousands};
use crate::terminal::{Terminal, dim_err, paint_err};

/// Prints calls, or keeps them while a program draws on the whole screen.
pub(super) struct Live {
    terminal: Terminal,
    prices: Prices,
    held: Mutex<Vec<String>>,
}

impl Live {
    pub(super) fn new(terminal: &Terminal, prices: Prices) -> Self {
        Self { terminal: *terminal, prices, held: Mutex::default() }
    }

    pub(super) fn call(&self, call: &CallSummary) {
        let line = line(call, &self.prices);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if is_screen_in_use() {
            held.push(line);
            return;
        }
        for line in held.drain(..).chain([line]) {
            self.terminal.say(&line);
        }
    }

    /// Prints what was kept.
    pub(super) fn finish(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for line in held.drain(..) {
            self.terminal.say(&line);
        }
    }
}

/// Whether the program reads single keys, as those with a full-screen interface do. A line in between would
/// spoil it.
fn is_screen_in_use() -> bool {
    tcgetattr(io::stderr()).is_ok_and(|modes| !modes.local_modes.contains(LocalModes::ICANON))
}

fn line(call: &CallSummary, prices: &Prices) -> String {
    let mut out = format!(
        "watch #{}  {}  {}  {} tokens",
        call.number,
        visible_line(&call.model),
        seconds(call.total_ms),
        thousands(call.tokens)
    );
    if let Some(usage) = call.usage {
        let sent = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
        out.push_str(&format!(
            "  (provider: {} in, {} cached, {} out)",
            thousands(sent),
            thousands(usage.cache_read_tokens),
            thousands(usage.output_tokens)
        ));
        if let Some(price) = prices.of(&call.model) {
            out.push_str(&format!("  {}", money(foreword_cost(price.cost(usage)))));
        }
    }
    let mut out = dim_err(&out);
    if let Some((cause, place, previous)) = &call.cache_break {
        let found =
            format!("cache lost since #{previous}: {} at {}", cause.name(), visible_line(place));
        out.push_str(&format!("  {}", paint_err(&found, "33")));
    }
    if call.secrets > 0 {
        out.push_str(&format!("  {}", paint_err("secret sent", "31")));
    }
    if let Some(problem) = &call.problem {
        let problem: String = visible_line(problem).chars().take(160).collect();
        out.push_str(&format!("  {}", paint_err(&problem, "31")));
    }
    out
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
fn foreword_cost(micros: u64) -> f64 {
    micros as f64 / 1_000_000.0
}
