//! `foreword chat`: a conversation in the terminal.

mod lines;
pub(crate) mod slash;

use std::sync::Arc;

use clap::Args;
use foreword_host::{Host, SkillCall, TurnRequest};
use foreword_store::SessionId;

use self::lines::{Input, Lines};
use self::slash::Slash;
use crate::args::TurnArgs;
use crate::commands::approve;
use crate::error::CliError;
use crate::hosting;
use crate::interrupts::Interrupts;
use crate::terminal::{Terminal, counted};
use crate::turn_printer::{LastPrompt, TurnPrinter, check_end, summary};
use crate::user_env::now_ms;
use crate::workspace_arg::{WorkspaceArg, below};

/// Chat with an agent in the terminal
///
/// Type /help for commands. End a line with \ to continue it on the next one. Ctrl-C cancels the current turn, Ctrl-D ends
/// the conversation.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword chat
  foreword chat --session ops
  foreword chat --agent planner --runner claude-code")]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    turn: TurnArgs,
}

struct Chat<'t> {
    host: Arc<Host>,
    session: SessionId,
    /// The request of every turn, without its message.
    request: TurnRequest,
    interrupts: Interrupts,
    printer: TurnPrinter,
    terminal: &'t Terminal,
    messages: u64,
    unanswered: u64,
    /// The last error about schedules, so that it is printed once.
    schedule_error: Option<String>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &ChatArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let workspace = &*workspace.find()?;
    let mut request = hosting::request(&args.turn)?;
    request.cwd = request.cwd.or_else(|| below(workspace));
    let host = hosting::open(workspace)?;
    hosting::ensure_trusted(&host, request.cwd.as_deref(), args.turn.trust, terminal)?;
    hosting::apply_retention(&host, terminal);
    let session = match &request.session {
        Some(session) => session.clone(),
        None => SessionId::random()?,
    };
    request.session = Some(session.clone());
    let interrupts = Interrupts::listen()?;
    let mut lines = Lines::open(&host, &session)?;
    if lines.is_terminal() {
        let turns = host.reader().session(&session)?.map_or(0, |session| session.turns);
        let before =
            if turns > 0 { format!(", {}", counted(turns, "turn")) } else { String::new() };
        terminal
            .say(&format!("session {session}{before}. Type /help for commands, Ctrl-D to end."));
    }
    let mut chat = Chat {
        host,
        session,
        request,
        interrupts,
        printer: TurnPrinter::new(terminal),
        terminal,
        messages: 0,
        unanswered: 0,
        schedule_error: None,
    };
    chat.talk(&mut lines)?;
    chat.end(&lines)
}

impl Chat<'_> {
    fn talk(&mut self, lines: &mut Lines) -> Result<(), CliError> {
        while !self.interrupts.ended() {
            self.run_due();
            let prompt = if lines.is_terminal() { self.prompt_line() } else { String::new() };
            let said = match lines.next(&prompt) {
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
                Some(Ok((command, rest))) => self.slash(command, rest),
                unknown => match (self.host.skill_call(&said), unknown) {
                    (Ok(None), Some(Err(error))) => Err(error),
                    (Ok(skill), _) => {
                        match hosting::check_skill_name(&self.host, &said, skill.as_ref()) {
                            Ok(()) => {
                                self.messages += 1;
                                let done = self.turn(said, skill);
                                self.unanswered += u64::from(done.is_err());
                                done
                            }
                            unknown => unknown,
                        }
                    }
                    (Err(error), _) => Err(error.into()),
                },
            };
            if let Err(error) = done {
                self.terminal.error(&error);
            }
        }
        Ok(())
    }

    /// What stands in front of the user's message: how many decisions wait.
    fn prompt_line(&self) -> String {
        match approve::pending(&self.host) {
            Ok(count @ 1..) => format!("({count} to /approve) > "),
            _ => "> ".to_owned(),
        }
    }

    /// Runs one turn. An error does not end the conversation.
    fn turn(&mut self, message: String, skill: Option<SkillCall>) -> Result<(), CliError> {
        hosting::ensure_trusted(&self.host, self.request.cwd.as_deref(), false, self.terminal)?;
        hosting::ensure_sandbox(&self.host, &mut self.request, self.terminal)?;
        let tree = self.host.tree()?;
        let tree_of_turn = Some(tree.clone());
        let request = TurnRequest { message, skill, tree: tree_of_turn, ..self.request.clone() };
        let (host, printer) = (&self.host, &mut self.printer);
        let done = self.interrupts.during(&tree, || host.turn(&request, printer));
        self.printer.end();
        let report = match done {
            Ok(report) => report,
            // Ctrl-C may reach the agent first, with another error.
            Err(_) if tree.is_cancelled() => {
                return Err(CliError::failed("turn cancelled; the session continues"));
            }
            Err(error) => return Err(error.into()),
        };
        if self.terminal.json {
            self.terminal.print_json_line(&report)?;
        } else {
            self.terminal.say(&summary(&report));
        }
        check_end(&report)
    }

    /// Runs due schedules between two turns.
    fn run_due(&mut self) {
        if let Err(error) = self.try_due()
            && self.schedule_error.as_ref() != Some(&error.message)
        {
            self.terminal.error(&error);
            self.schedule_error = Some(error.message);
        }
    }

    fn try_due(&mut self) -> Result<(), CliError> {
        let due = self.host.reader().schedules_due(now_ms())?.len();
        if due == 0 {
            return Ok(());
        }
        self.terminal.say(&match due {
            1 => "running 1 due schedule first".to_owned(),
            _ => format!("running {due} due schedules first"),
        });
        hosting::ensure_trusted(&self.host, self.request.cwd.as_deref(), false, self.terminal)?;
        hosting::ensure_sandbox(&self.host, &mut self.request, self.terminal)?;
        let tree = self.host.tree()?;
        let request = TurnRequest { tree: Some(tree.clone()), ..self.request.clone() };
        let (host, printer) = (&self.host, &mut self.printer);
        let woken = self.interrupts.during(&tree, || host.run_due(&request, printer))?;
        if self.terminal.json {
            for woken in &woken {
                self.terminal.print_json_line(woken)?;
            }
        }
        Ok(())
    }

    fn slash(&self, command: Slash, rest: &str) -> Result<(), CliError> {
        let terminal = self.terminal;
        match command {
            Slash::Help | Slash::Quit => slash::help(terminal),
            Slash::Context => self.with_last_prompt(|last| slash::context(last, terminal)),
            Slash::Skills => slash::skills(&self.host, terminal),
            Slash::Taint => self
                .with_last_prompt(|last| slash::taint(&self.host, &self.session, last, terminal)),
            Slash::Approve => slash::approve(&self.host, rest, false, terminal),
            Slash::Reject => slash::approve(&self.host, rest, true, terminal),
            Slash::Session => slash::session(&self.host, &self.session, terminal),
        }
    }

    /// Passes the prompt of the last turn to `show`; before the first turn, the prompt it would have.
    fn with_last_prompt(
        &self,
        show: impl FnOnce(&LastPrompt) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match &self.printer.prompt {
            Some(last) => show(last),
            None => show(&LastPrompt::of(&self.host.dry_run(&self.request)?)),
        }
    }

    /// Ends the conversation. In a pipe, messages without an answer are an error.
    fn end(&self, lines: &Lines) -> Result<(), CliError> {
        if lines.is_terminal() {
            if self.messages > 0 {
                let id = &self.session;
                self.terminal.say(&format!("continue with `foreword chat --session {id}`"));
            }
            return Ok(());
        }
        match self.unanswered {
            0 => Ok(()),
            count => Err(CliError::failed(format!(
                "{count} of {} messages got no answer",
                self.messages
            ))),
        }
    }
}
