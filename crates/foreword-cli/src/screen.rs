//! A turn as a person sees it go: the answer on standard output, everything else beside it.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use foreword::{Prompt, visible};
use foreword_host::{Observer, PreparedTurn, TurnReport, Wakeup, WakeupReport, Warning};
use serde_json::Value;

use crate::error::CliError;
use crate::hosting;
use crate::terminal::{Terminal, counted, is_watched, plain_line};

/// Shows turns as they go.
pub(crate) struct Screen {
    terminal: Terminal,
    ended_line: bool,
    waking: bool,
    /// What need not be said again.
    warned: BTreeSet<String>,
    /// The last prompt that a person's message went out with.
    pub(crate) prompt: Option<ShownPrompt>,
}

/// A prompt to be explained later.
pub(crate) struct ShownPrompt {
    pub(crate) prompt: Prompt,
    pub(crate) blueprint: String,
    pub(crate) threshold: f64,
}

impl ShownPrompt {
    pub(crate) fn of(prepared: &PreparedTurn) -> Self {
        Self {
            prompt: prepared.prompt.clone(),
            blueprint: prepared.blueprint.name().to_owned(),
            threshold: prepared.context.taint_threshold(),
        }
    }
}

impl Screen {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: *terminal,
            ended_line: true,
            waking: false,
            warned: BTreeSet::new(),
            prompt: None,
        }
    }

    /// Ends the line that the answer stands on.
    pub(crate) fn end(&mut self) {
        if !self.ended_line {
            let _ = self.terminal.print("\n");
            self.ended_line = true;
        }
    }
}

impl Observer for Screen {
    fn prepared(&mut self, prepared: &PreparedTurn) {
        if !self.waking {
            self.prompt = Some(ShownPrompt::of(prepared));
        }
    }

    fn text(&mut self, text: &str) {
        if self.terminal.json || text.is_empty() {
            return;
        }
        // A terminal acts on what it is shown; a file or a program gets the answer as it is.
        let shown = if is_watched() { visible(text) } else { text.to_owned() };
        let mut out = io::stdout().lock();
        let _ = out.write_all(shown.as_bytes()).and_then(|()| out.flush());
        self.ended_line = text.ends_with('\n');
    }

    fn tool_call(&mut self, name: &str, input: &Value) {
        self.end();
        self.terminal.say(&hosting::tool_line(name, input));
    }

    fn warning(&mut self, warning: &Warning) {
        let text = warning.to_string();
        if !warning.is_recurring() || self.warned.insert(text.clone()) {
            self.end();
            self.terminal.warn(&visible(&text));
        }
    }

    fn wakes(&mut self, waking: &Wakeup) {
        self.waking = true;
        self.end();
        let message = plain_line(&waking.message, 120);
        self.terminal.say(&match (&waking.schedule, &waking.by) {
            (Some(id), Some(by)) => {
                format!("schedule {id} of {}, due {}: {message}", plain_line(by, 60), waking.due)
            }
            _ => format!("heartbeat of {}", waking.due),
        });
    }

    fn woke(&mut self, woken: &WakeupReport) {
        self.waking = false;
        self.end();
        if let Some(error) = &woken.error {
            self.terminal.error(&CliError::not_right(visible(error)));
        }
        if let Some(report) = &woken.report {
            if let Some(reason) = &report.held {
                self.terminal.error(&held(reason));
            }
            self.terminal.say(&summary(report));
        }
    }
}

/// One line about a turn: the session, what it cost, how tainted it is.
pub(crate) fn summary(report: &TurnReport) -> String {
    let usage = &report.usage;
    let mut line = format!(
        "session {} · turn {} · {} in, {} out",
        report.session, report.turn, usage.input_tokens, usage.output_tokens
    );
    if usage.cache_read_tokens + usage.cache_write_tokens > 0 {
        line.push_str(&format!(
            " ({} from cache, {} into it)",
            usage.cache_read_tokens, usage.cache_write_tokens
        ));
    }
    line.push_str(&format!(" · {} · taint {:.0}%", report.sandbox, report.taint_ratio * 100.0));
    if report.history_omitted > 0 {
        line.push_str(&format!(" · {} left out", counted(report.history_omitted, "old turn")));
    }
    line
}

/// What to say of an answer that was held back.
pub(crate) fn held(reason: &str) -> CliError {
    CliError::not_right(format!("the answer was held back: {reason}"))
        .hint("its canary was changed; `foreword audit log` tells more")
}
