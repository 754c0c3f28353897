//! What to try instead of a word that the command line does not know.

use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::Cli;

/// A hint for an unexpected word.
pub(crate) fn hint_for(error: &clap::Error) -> Option<String> {
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word)), None) = (
        error.kind(),
        error.get(ContextKind::InvalidSubcommand),
        error.get(ContextKind::SuggestedSubcommand),
    ) {
        let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
        return hint_for_subcommand(word, &usage);
    }
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return None;
    };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    if word.starts_with('-') {
        None
    } else if Path::new(word).is_dir() {
        Some(format!("hint: select a workspace with -w: `-w {word}`"))
    } else if usage.contains("[TASK]") {
        Some("hint: put a task of several words in quotes".to_owned())
    } else if usage.contains("[MESSAGE]") {
        Some("hint: put a message of several words in quotes".to_owned())
    } else {
        hint_for_word(word, &usage)
    }
}

/// Names that other programs have for what a command does.
const SYNONYMS: [&[&str]; 6] = [
    &["list", "show", "log", "ls", "view", "print", "cat", "get", "history", "status", "read"],
    &["rm", "remove", "delete", "del", "forget", "clear", "uninstall", "revoke"],
    &["revert", "undo", "rollback"],
    &["add", "create", "new", "propose", "install", "import", "allow", "init"],
    &["check", "verify", "test", "validate", "lint"],
    &["run", "start", "exec", "chat", "ask"],
];

/// A hint for a name that no subcommand is spelled like: one that means the same, or all there are.
fn hint_for_subcommand(word: &str, usage: &str) -> Option<String> {
    let (path, command) = command_of(usage)?;
    let names: Vec<&str> = command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set())
        .map(clap::Command::get_name)
        .filter(|name| *name != "help")
        .collect();
    let same = SYNONYMS.iter().find(|group| group.contains(&word));
    let same: Vec<String> = same.map_or_else(Vec::new, |group| {
        let near = names.iter().filter(|name| group.contains(name));
        near.map(|name| format!("`{path} {name}`")).collect()
    });
    if !same.is_empty() {
        Some(format!("hint: did you mean {}?", same.join(" or ")))
    } else if path == "foreword" {
        None
    } else {
        Some(format!("hint: the commands of `{path}` are {}", names.join(", ")))
    }
}

/// The command that a usage line is about, with the words that call it.
fn command_of(usage: &str) -> Option<(String, clap::Command)> {
    let (mut path, mut command) = ("foreword".to_owned(), Cli::command());
    let named = usage.split_whitespace().skip_while(|part| *part != "foreword").skip(1);
    for name in named.take_while(|part| part.chars().all(|c| c.is_alphanumeric() || c == '-')) {
        command = command.find_subcommand(name)?.clone();
        path = format!("{path} {name}");
    }
    Some((path, command))
}

/// A hint for a word that a command does not take, if it has a flag of that name or works on an agent.
fn hint_for_word(word: &str, usage: &str) -> Option<String> {
    let (_, command) = command_of(usage)?;
    let has =
        |flag: &str| command.get_arguments().any(|argument| argument.get_long() == Some(flag));
    if has(word) {
        Some(format!("hint: did you mean `--{word}`?"))
    } else if has("agent") {
        Some(format!("hint: name an agent with `--agent {word}`, or a workspace with `-w {word}`"))
    } else {
        None
    }
}
