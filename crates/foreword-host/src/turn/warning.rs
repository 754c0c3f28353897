//! What a person is told about a turn besides its answer.

use std::fmt;
use std::time::Duration;

use foreword::visible_line;
use foreword_guard::ScanVerdict;
use foreword_sandbox::Guarantees;

use crate::governance::GovernanceError;

/// Paths that a warning names.
const MAX_NAMED: usize = 10;

/// Something about a turn that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// About the workspace, found while its prompt was gathered.
    Gather(foreword_gather::Warning),
    /// The sandbox cannot enforce governance.
    AdvisorySandbox { sandbox: String, guarantees: Guarantees },
    /// Nothing better than a confined process is installed.
    NoStrongerSandbox { sandbox: String, guarantees: Guarantees },
    /// The scanner objects to external content that came with the message.
    SuspectContent { source: String, verdict: ScanVerdict },
    /// The scanner flagged the message.
    SuspectMessage,
    /// The agent created a file that it may not create; it was moved.
    Quarantined { path: String, moved_to: String, read_by: ReadBy },
    /// Settings of git that could not be read, so what they name is not protected.
    GitSettings { reason: String },
    /// Files the agent created could not be moved.
    QuarantineFailed { reason: String },
    /// A row of the database was changed outside Foreword, and is not used.
    Unsealed { what: &'static str, id: String, more: usize },
    /// Changes to files that run on their own were put back.
    ChangesHeld { paths: Vec<String> },
    /// Changes to files that run on their own are still in git's index or in a commit.
    ChangesStaged { paths: Vec<String> },
    /// Changes that could not be put back, because the old version was too large to copy.
    ChangesNotHeld { paths: Vec<String> },
    /// A changed file could not be put back.
    PutBackFailed { reason: String },
    /// Directories with more entries than were checked for changes.
    NotFullyChecked { directories: Vec<String> },
    /// The changes of a turn whose host was killed were accounted for.
    KilledTurn { session: String, turn: u64, held: usize },
    /// The agent reached `host.max_steps`.
    StepLimit { max_steps: u32 },
    /// The answer reached `model.max_output_tokens`.
    AnswerCut,
    /// The agent ended without an answer.
    NoAnswer,
    /// The model is asked to summarise the turns up to this one.
    Summarising { through: u64 },
    /// Large tool results of the turn were shortened while it ran.
    Shortened { results: u64, tokens_before: u64, tokens_after: u64 },
    /// Old turns of the conversation were summarised or shortened.
    Compacted { through: u64, tokens_before: u64, tokens_after: u64 },
    /// The conversation no longer fits, and there is no summary of its oldest turns.
    NotSummarised { reason: String },
    /// A model call failed for the moment and is repeated.
    Retrying { reason: String, wait: Duration },
    /// An MCP server offers other tools than those that the person reviewed.
    ToolListChanged { server: String },
    /// Screening approved a skill that an agent wrote; no person saw it.
    SkillApprovedByScreening { skill: String, by: String, commit: String },
    /// A skill that an agent wrote waits for a person.
    SkillWaits { skill: String, by: String, id: String },
}

/// Why a quarantined file matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBy {
    /// It would speak to the model with authority.
    Model,
    /// It would configure the person's own git.
    Git,
    /// A program on the person's machine would run it.
    Program,
}

impl Warning {
    pub(crate) fn of_sandbox(sandbox: &str, guarantees: Guarantees) -> Option<Self> {
        let sandbox = sandbox.to_owned();
        guarantees.advisory().then_some(Self::AdvisorySandbox { sandbox, guarantees })
    }

    pub(crate) fn put_back_failed(fault: &GovernanceError) -> Self {
        Self::PutBackFailed { reason: fault.to_string() }
    }

    /// Whether it only tells what happens: there is nothing wrong.
    pub fn is_notice(&self) -> bool {
        matches!(
            self,
            Self::Retrying { .. }
                | Self::SkillApprovedByScreening { .. }
                | Self::SkillWaits { .. }
                | Self::Summarising { .. }
                | Self::Compacted { .. }
                | Self::Shortened { .. }
        )
    }

    /// Whether it is likely the same in every turn, so that showing it once is enough.
    pub fn is_recurring(&self) -> bool {
        matches!(
            self,
            Self::Gather(_)
                | Self::AdvisorySandbox { .. }
                | Self::NoStrongerSandbox { .. }
                | Self::GitSettings { .. }
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gather(warning) => warning.fmt(f),
            Self::AdvisorySandbox { sandbox, guarantees } => {
                let gaps = guarantees.gaps().join(", ");
                write!(f, "the sandbox {sandbox} cannot enforce governance: {gaps}")
            }
            Self::NoStrongerSandbox { sandbox, guarantees } => {
                let gaps = guarantees.gaps().join(", ");
                write!(f, "no stronger sandbox than {sandbox} works here: {gaps}")
            }
            Self::SuspectContent { source, verdict } => {
                write!(f, "injection scan of {source}: {}", verdict.as_str())
            }
            Self::SuspectMessage => f.write_str("the message was flagged as possible injection"),
            Self::Quarantined { path, moved_to, read_by } => {
                let kind = match read_by {
                    ReadBy::Model => "a governed file",
                    ReadBy::Git => "a file that configures git",
                    ReadBy::Program => "a file that runs on this machine",
                };
                let (path, moved_to) = (visible_line(path), visible_line(moved_to));
                write!(f, "the agent created {path}, {kind}; moved to {moved_to}")
            }
            Self::GitSettings { reason } => {
                write!(
                    f,
                    "cannot read git settings to protect the files they point to: {}",
                    visible_line(reason)
                )
            }
            Self::QuarantineFailed { reason } => {
                let reason = visible_line(reason);
                write!(f, "cannot quarantine all files the agent created: {reason}")
            }
            Self::Unsealed { what: "session", id, .. } => {
                let id = visible_line(id);
                write!(
                    f,
                    "the taint counters of session `{id}` were changed outside Foreword; it counts as \
                     tainted until you run `foreword taint clear {id}`"
                )
            }
            Self::Unsealed { what: "list of tainted files", id, .. } => write!(
                f,
                "the list of tainted files was changed outside Foreword; every file counts as tainted \
                 until you run `foreword taint clear {id}`"
            ),
            Self::Unsealed { what, id, more } => {
                let more = if *more > 0 { format!(" (and {more} more)") } else { String::new() };
                let id = visible_line(id);
                write!(
                    f,
                    "the {what} `{id}`{more} was changed outside Foreword and is not used; run \
                     `foreword audit verify`"
                )
            }
            Self::ChangesHeld { paths } => write!(
                f,
                "changes to files that run on this machine were put back: {}; run `foreword approve` to review them",
                named(paths)
            ),
            Self::ChangesStaged { paths } => write!(
                f,
                "git still has the agent's changes to files that run on this machine: {}; review them with \
                 `git diff -R` before you check out, stash, reset or push",
                named(paths)
            ),
            Self::ChangesNotHeld { paths } => write!(
                f,
                "changes could not be put back, because the files were too large to copy: {}; review them before you run anything",
                named(paths)
            ),
            Self::PutBackFailed { reason } => {
                write!(f, "cannot put back all changes of the turn: {}", visible_line(reason))
            }
            Self::NotFullyChecked { directories } => {
                let directories: Vec<String> = directories
                    .iter()
                    .map(
                        |directory| {
                            if directory.is_empty() { ".".to_owned() } else { directory.clone() }
                        },
                    )
                    .collect();
                write!(
                    f,
                    "not fully checked for changes, because there are too many files: {}",
                    named(&directories)
                )
            }
            Self::KilledTurn { session, turn, held } => {
                let changes = if *held == 1 { "change was" } else { "changes were" };
                write!(f, "turn {turn} of session {session} was killed; {held} {changes} put back")
            }
            Self::StepLimit { max_steps } => write!(
                f,
                "the agent stopped after {max_steps} model calls (host.max_steps); its work may be unfinished"
            ),
            Self::AnswerCut => f.write_str("the answer was cut off (model.max_output_tokens)"),
            Self::NoAnswer => f.write_str("the agent ended without an answer"),
            Self::Summarising { through } => {
                let turns = first_turns(*through);
                write!(f, "the conversation is long; summarising its {turns}")
            }
            Self::Shortened { results, tokens_before, tokens_after } => {
                let results = match results {
                    1 => "a large tool result".to_owned(),
                    many => format!("{many} large tool results"),
                };
                write!(
                    f,
                    "shortened {results} of this turn: {tokens_before} to {tokens_after} tokens"
                )
            }
            Self::Compacted { through: 0, tokens_before, tokens_after } => write!(
                f,
                "shortened large tool results of earlier turns: {tokens_before} to {tokens_after} tokens"
            ),
            Self::Compacted { through, tokens_before, tokens_after } => write!(
                f,
                "replaced the {} with a summary: {tokens_before} to {tokens_after} tokens; `foreword \
                 session show` prints it",
                first_turns(*through)
            ),
            Self::NotSummarised { reason } => write!(
                f,
                "cannot summarise the oldest turns, so they are left out when the window is full: {}",
                visible_line(reason)
            ),
            Self::Retrying { reason, wait } => {
                let seconds = wait.as_secs_f64();
                write!(f, "retrying the model call in {seconds:.1} s: {}", visible_line(reason))
            }
            Self::ToolListChanged { server } => write!(
                f,
                "MCP server `{}` offers different tools than you reviewed; it is off until you run `foreword trust`",
                visible_line(server)
            ),
            Self::SkillApprovedByScreening { skill, by, commit } => {
                let (skill, by) = (visible_line(skill), visible_line(by));
                write!(
                    f,
                    "skill `{skill}` by {by} was approved by screening, not by a person; undo it with \
                     `foreword skill revert {}`",
                    commit.chars().take(12).collect::<String>()
                )
            }
            Self::SkillWaits { skill, by, id } => {
                let (skill, by) = (visible_line(skill), visible_line(by));
                write!(f, "skill `{skill}` by {by} waits for approval: `foreword approve {id}`")
            }
        }
    }
}

fn first_turns(count: u64) -> String {
    if count == 1 { "first turn".to_owned() } else { format!("first {count} turns") }
}

/// The first paths of a list, and how many more there are.
fn named(paths: &[String]) -> String {
    let mut text = paths.iter().take(MAX_NAMED).map(|path| visible_line(path)).collect::<Vec<_>>();
    if let Some(more) = paths.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        text.push(format!("and {more} more"));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_that_enforces_nothing_says_so() {
        let all = Guarantees {
            network: true,
            governed_read_only: true,
            private_hidden: true,
            home_hidden: true,
            dies_with_host: true,
            limits: true,
            kernel_calls: true,
        };
        assert_eq!(Warning::of_sandbox("bwrap", all), None);
        let warning = Warning::of_sandbox("subprocess", Guarantees::default()).unwrap();
        let text = warning.to_string();
        assert!(text.starts_with("the sandbox subprocess cannot enforce governance: "), "{text}");
        assert!(text.contains("governed files can be written"), "{text}");
        assert!(warning.is_recurring() && !Warning::NoAnswer.is_recurring());
    }
}
