//! Prints a turn while it runs: the answer on standard output, everything else on standard error.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use foreword::{Profile, Prompt, visible};
use foreword_host::{
    Observer, PermissionAnswer, PermissionQuestion, PreparedTurn, TurnReport, Wakeup, WakeupReport,
    Warning,
};
use serde_json::Value;

use crate::error::CliError;
use crate::markdown::Markdown;
use crate::review;
use crate::status_line::StatusLine;
use crate::terminal::{
    Terminal, can_ask, colours_stdout, counted, dim_err, is_terminal_output, plain_line,
};
use crate::tool_line;

/// What the agent does while nothing else is known.
const THINKING: &str = "thinking";

/// Prints turns while they run.
pub(crate) struct TurnPrinter {
    terminal: Terminal,
    /// Renders the answer, where a terminal shows it in colours.
    markdown: Option<Markdown>,
    status: StatusLine,
    ended_line: bool,
    waking: bool,
    /// Whether the default model was named.
    named_model: bool,
    /// Warnings that were printed before.
    warned: BTreeSet<String>,
    /// The prompt of the user's last message.
    pub(crate) prompt: Option<LastPrompt>,
}

/// A prompt that `/context` and `/taint` explain.
pub(crate) struct LastPrompt {
    pub(crate) prompt: Prompt,
    pub(crate) blueprint: String,
    pub(crate) threshold: f64,
    pub(crate) profile: Profile,
}

impl LastPrompt {
    pub(crate) fn of(prepared: &PreparedTurn) -> Self {
        Self {
            prompt: prepared.turn.prompt.clone(),
            blueprint: prepared.turn.blueprint.name().to_owned(),
            threshold: prepared.turn.context.taint_threshold(),
            profile: prepared.turn.context.profile(),
        }
    }
}

impl TurnPrinter {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: *terminal,
            markdown: colours_stdout().then(Markdown::default),
            status: StatusLine::new(terminal),
            ended_line: true,
            waking: false,
            named_model: false,
            warned: BTreeSet::new(),
            prompt: None,
        }
    }

    /// Ends the line of the answer.
    pub(crate) fn end(&mut self) {
        self.status.clear();
        if let Some(rest) = self.markdown.as_mut().map(Markdown::finish) {
            self.write(&rest);
        }
        if !self.ended_line {
            let _ = self.terminal.print("\n");
            self.ended_line = true;
        }
    }
}

impl TurnPrinter {
    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.ended_line = text.ends_with('\n');
    }

    /// Says something on standard error, on a line of its own.
    fn note(&mut self, text: &str) {
        self.end();
        if !text.is_empty() {
            self.terminal.say(&dim_err(text));
        }
    }
}

impl Observer for TurnPrinter {
    fn prepared(&mut self, prepared: &PreparedTurn) {
        if !self.waking {
            self.prompt = Some(LastPrompt::of(prepared));
        }
        self.status.begin(THINKING);
        if prepared.turn.is_default_model && !self.named_model {
            self.named_model = true;
            self.terminal.say(&format!(
                "using model {}, the default; set another with `--model` or as `name` under [model] in foreword.toml",
                plain_line(&prepared.model, 80)
            ));
        }
    }

    fn text(&mut self, text: &str) {
        if self.terminal.json || text.is_empty() {
            return;
        }
        self.status.begin(THINKING);
        // A terminal acts on control characters; a file or a pipe gets the exact answer.
        let safe = if is_terminal_output() { visible(text) } else { text.to_owned() };
        let shown = match &mut self.markdown {
            Some(markdown) => markdown.push(&safe),
            None => safe,
        };
        self.write(&shown);
    }

    fn tool_call(&mut self, name: &str, input: &Value) {
        self.note(&tool_line::call(name, input));
        self.status.begin(&format!("running {}", plain_line(name, 60)));
    }

    fn tool_result(&mut self, _: &str, content: &str, is_error: bool) {
        self.note(&tool_line::result(content, is_error));
        self.status.begin(THINKING);
    }

    fn tick(&mut self) {
        // Not into the middle of the answer.
        if self.ended_line {
            self.status.tick();
        }
    }

    fn warning(&mut self, warning: &Warning) {
        let text = warning.to_string();
        if !warning.is_recurring() || self.warned.insert(text.clone()) {
            self.end();
            if warning.is_notice() {
                self.terminal.say(&visible(&text));
            } else {
                self.terminal.warn(&visible(&text));
            }
        }
    }

    fn can_ask(&self) -> bool {
        !self.terminal.json && can_ask()
    }

    fn ask(&mut self, question: &PermissionQuestion) -> PermissionAnswer {
        self.end();
        let agent =
            question.agent.as_deref().map(|agent| format!("Agent `{}`", plain_line(agent, 60)));
        let agent = agent.unwrap_or_else(|| "The agent".to_owned());
        let text = format!(
            "{agent} wants to call `{}`: {}.\n{}",
            plain_line(&question.tool, 100),
            plain_line(&question.reason, 300),
            review::arguments(&question.arguments.to_string(), false),
        );
        let rule = plain_line(&question.rule, 200);
        let choices =
            format!("Allow it? [y] once, [s] this session, [a] always ({rule}), [N] no: ");
        let mut err = io::stderr();
        let _ = err
            .write_all(visible(&text).as_bytes())
            .and_then(|()| err.write_all(choices.as_bytes()));
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer).is_err() {
            return PermissionAnswer::No;
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" | "once" => PermissionAnswer::Once,
            "s" | "session" => PermissionAnswer::Session,
            "a" | "always" => PermissionAnswer::Always,
            _ => PermissionAnswer::No,
        }
    }

    fn wakes(&mut self, waking: &Wakeup) {
        self.waking = true;
        self.end();
        let message = plain_line(&waking.message, 120);
        self.terminal.say(&match (&waking.schedule, &waking.by) {
            (Some(id), Some(by)) => {
                format!("schedule {id} by {}, due {}: {message}", plain_line(by, 60), waking.due)
            }
            _ => format!("heartbeat, due {}", waking.due),
        });
    }

    fn woke(&mut self, woken: &WakeupReport) {
        self.waking = false;
        self.end();
        if let Some(error) = &woken.error {
            self.terminal.error(&CliError::failed(visible(error)));
        }
        if let Some(report) = &woken.report {
            if let Err(error) = check_end(report) {
                self.terminal.error(&error);
            }
            self.terminal.say(&summary(report));
        }
    }
}

/// Changed files that the summary names.
const MAX_NAMED: usize = 20;

/// About a turn: its session, cost and taint, and the changed files that run when called.
pub(crate) fn summary(report: &TurnReport) -> String {
    let usage = &report.usage;
    let mut line = format!(
        "session {} · turn {} · {} in, {} out",
        report.session, report.turn, usage.input_tokens, usage.output_tokens
    );
    if usage.cache_read_tokens + usage.cache_write_tokens > 0 {
        line.push_str(&format!(
            " ({} cache read, {} cache write)",
            usage.cache_read_tokens, usage.cache_write_tokens
        ));
    }
    line.push_str(&match report.cost_usd {
        Some(cost) => format!(" · ${cost:.4}"),
        None => " · cost unknown".to_owned(),
    });
    line.push_str(&format!(" · {} · taint {:.0}%", report.sandbox, report.taint_ratio * 100.0));
    if report.history_omitted > 0 {
        line.push_str(&format!(" · {} omitted", counted(report.history_omitted, "old turn")));
    }
    let changes = &report.changes;
    if !changes.held.is_empty() {
        let count = u64::try_from(changes.held.len()).unwrap_or(u64::MAX);
        line.push_str(&format!(" · {} held", counted(count, "change")));
    }
    if !changes.unchecked.is_empty() {
        line.push_str(" · not fully checked");
    }
    let named = changes.runs_when_called.iter().map(|file| plain_line(&file.path, 200));
    let mut named: Vec<String> = named.collect();
    if !named.is_empty() {
        let more = changes.more + u64::try_from(named.len().saturating_sub(MAX_NAMED)).unwrap_or(0);
        named.truncate(MAX_NAMED);
        if more > 0 {
            named.push(format!("and {more} more"));
        }
        line.push_str(&format!("\nchanged files that run when called: {}", named.join(", ")));
    }
    line
}

/// Fails if a turn did not come to its own end: its answer was withheld, or it reached a limit.
pub(crate) fn check_end(report: &TurnReport) -> Result<(), CliError> {
    if let Some(reason) = &report.held {
        return Err(held(reason));
    }
    if report.is_interrupted() {
        return Err(CliError::failed("turn interrupted; what was said and done so far is kept"));
    }
    let Some(limit) = &report.limit else { return Ok(()) };
    let error = CliError::failed(format!("the turn ended early: {limit}"));
    Err(match &report.limit_hint {
        Some(hint) => error.hint(hint),
        None => error,
    })
}

/// The error for an answer that was withheld.
fn held(reason: &str) -> CliError {
    CliError::failed(format!("answer withheld: {reason}"))
        .hint("the session has a new canary; run `foreword audit log` for details")
}
