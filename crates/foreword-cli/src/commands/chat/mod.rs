//! `foreword chat`: a conversation in the terminal.

mod lines;
mod slash;

use std::path::Path;
use std::sync::Arc;

use foreword_host::{Host, TurnRequest};
use foreword_store::SessionId;

use self::lines::{Input, Lines};
use self::slash::Slash;
use crate::args::ChatArgs;
use crate::error::CliError;
use crate::hosting;
use crate::interrupts::Interrupts;
use crate::person::now_ms;
use crate::screen::{Screen, ShownPrompt, held, summary};
use crate::terminal::Terminal;

struct Chat<'t> {
    host: Arc<Host>,
    session: SessionId,
    /// What every turn of this conversation is asked for.
    request: TurnRequest,
    interrupts: Interrupts,
    screen: Screen,
    terminal: &'t Terminal,
    messages: u64,
    unanswered: u64,
    /// Why schedules cannot run, as it was said last.
    complaint: Option<String>,
}

pub(crate) fn run(workspace: &Path, args: &ChatArgs, terminal: &Terminal) -> Result<(), CliError> {
    let mut request = hosting::request(&args.choice)?;
    let host = hosting::open(workspace)?;
    hosting::ensure_trusted(&host, args.choice.trust, terminal)?;
    let session = match &request.session {
        Some(session) => session.clone(),
        None => SessionId::random()?,
    };
    request.session = Some(session.clone());
    let interrupts = Interrupts::listen()?;
    let mut lines = Lines::open(&host, &session)?;
    if lines.is_terminal() {
        let turns = host.reader().session(&session)?.map_or(0, |session| session.turns);
        let before = if turns > 0 { format!(", {turns} turns so far") } else { String::new() };
        terminal.say(&format!("session {session}{before}. /help lists commands, Ctrl-D ends."));
    }
    let mut chat = Chat {
        host,
        session,
        request,
        interrupts,
        screen: Screen::new(terminal),
        terminal,
        messages: 0,
        unanswered: 0,
        complaint: None,
    };
    chat.talk(&mut lines)?;
    chat.part(&lines)
}

impl Chat<'_> {
    fn talk(&mut self, lines: &mut Lines) -> Result<(), CliError> {
        while !self.interrupts.ended() {
            self.run_due();
            let said = match lines.next() {
                Ok(Input::Said(said)) => said,
                Ok(Input::Cleared) => continue,
                Ok(Input::End) => return Ok(()),
                Err(error) if error.kind == crate::error::Kind::Internal => return Err(error),
                Err(error) => {
                    self.messages += 1;
                    self.unanswered += 1;
                    self.terminal.error(&error);
                    continue;
                }
            };
            if said.trim().is_empty() {
                continue;
            }
            let done = match slash::parse(&said) {
                Some(Ok((Slash::Quit, _))) => return Ok(()),
                Some(Ok((command, rest))) => self.answer_itself(command, rest),
                Some(Err(error)) => Err(error),
                None => {
                    self.messages += 1;
                    let done = self.turn(said);
                    self.unanswered += u64::from(done.is_err());
                    done
                }
            };
            if let Err(error) = done {
                self.terminal.error(&error);
            }
        }
        Ok(())
    }

    /// One turn. Whatever goes wrong in it, the conversation goes on.
    fn turn(&mut self, message: String) -> Result<(), CliError> {
        hosting::ensure_trusted(&self.host, false, self.terminal)?;
        let tree = self.host.tree()?;
        let request = TurnRequest { message, tree: Some(tree.clone()), ..self.request.clone() };
        let (host, screen) = (&self.host, &mut self.screen);
        let done = self.interrupts.during(&tree, || host.turn(&request, screen));
        self.screen.end();
        let report = match done {
            Ok(report) => report,
            // An agent that Ctrl-C reached by itself may have had other last words.
            Err(_) if tree.is_cancelled() => {
                return Err(CliError::not_right("cancelled; the session goes on"));
            }
            Err(error) => return Err(error.into()),
        };
        if self.terminal.json {
            self.terminal.print_json_line(&report)?;
        } else {
            self.terminal.say(&summary(&report));
        }
        report.held.as_deref().map_or(Ok(()), |reason| Err(held(reason)))
    }

    /// Schedules that are due run between two turns.
    fn run_due(&mut self) {
        if let Err(error) = self.try_due() {
            if self.complaint.as_ref() != Some(&error.message) {
                self.terminal.error(&error);
                self.complaint = Some(error.message);
            }
        }
    }

    fn try_due(&mut self) -> Result<(), CliError> {
        let due = self.host.reader().schedules_due(now_ms())?.len();
        if due == 0 {
            return Ok(());
        }
        self.terminal.say(&match due {
            1 => "a schedule is due and runs first".to_owned(),
            _ => format!("{due} schedules are due and run first"),
        });
        hosting::ensure_trusted(&self.host, false, self.terminal)?;
        let tree = self.host.tree()?;
        let request = TurnRequest { tree: Some(tree.clone()), ..self.request.clone() };
        let (host, screen) = (&self.host, &mut self.screen);
        let woken = self.interrupts.during(&tree, || host.run_due(&request, screen))?;
        if self.terminal.json {
            for woken in &woken {
                self.terminal.print_json_line(woken)?;
            }
        }
        Ok(())
    }

    fn answer_itself(&self, command: Slash, rest: &str) -> Result<(), CliError> {
        let terminal = self.terminal;
        match command {
            Slash::Help | Slash::Quit => slash::help(terminal),
            Slash::Context => self.look_back(|shown| slash::context(shown, terminal)),
            Slash::Skills => slash::skills(&self.host, terminal),
            Slash::Taint => self.look_back(|shown| {
                slash::taint(&self.host, &self.session, shown.threshold, terminal)
            }),
            Slash::Approve => slash::approve(&self.host, rest, false, terminal),
            Slash::Reject => slash::approve(&self.host, rest, true, terminal),
            Slash::Session => slash::session(&self.host, &self.session, terminal),
        }
    }

    /// Shows something of the last turn's prompt; before the first one, of the prompt it would have.
    fn look_back(
        &self,
        show: impl FnOnce(&ShownPrompt) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match &self.screen.prompt {
            Some(shown) => show(shown),
            None => show(&ShownPrompt::of(&self.host.dry_run(&self.request)?)),
        }
    }

    /// Ends the conversation. A script hears of messages that got no answer.
    fn part(&self, lines: &Lines) -> Result<(), CliError> {
        if lines.is_terminal() {
            if self.messages > 0 {
                let id = &self.session;
                self.terminal.say(&format!("go on with `foreword chat --session {id}`"));
            }
            return Ok(());
        }
        match self.unanswered {
            0 => Ok(()),
            count => Err(CliError::not_right(format!(
                "{count} of {} messages got no answer",
                self.messages
            ))),
        }
    }
}
