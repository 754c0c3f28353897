//! What a command for `bash` runs, and which files it reads, as far as its text says.
//!
//! Every command inside is noted: in lists, substitutions and functions, and behind programs that run
//! another one. What cannot be read makes the text opaque, which the defaults ask about.

mod files;
mod git;
mod words;
mod wrappers;

use std::path::{Path, PathBuf};

use tree_sitter::Node;

use super::ToolUse;
use super::pattern::CommandPattern;
use super::rule::relative;
use crate::screen::{Language, Parsers};
use words::{is_expanded, is_unknown, shown, word};

/// Longer commands and more of them are not looked through.
const MAX_BYTES: usize = 64 << 10;
const MAX_NODES: usize = 50_000;
const MAX_NESTED: usize = 8;
const MAX_COMMANDS: usize = 5000;
const MAX_MOVES: usize = 32;
const SHELLS: [&str; 9] = ["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"];
/// Options of shells that have no value; the others are listed where they are read.
const SHELL_FLAGS: [&str; 20] = [
    "--norc",
    "--noprofile",
    "--posix",
    "--login",
    "--verbose",
    "--restricted",
    "--interactive",
    "--noediting",
    "--debugger",
    "--dump-strings",
    "--dump-po-strings",
    "--pretty-print",
    "--protected",
    "--no-config",
    "--no-execute",
    "--private",
    "--no-globalrcs",
    "--no-rcs",
    "--help",
    "--version",
];
/// Variables whose value is a command.
const COMMAND_VARIABLES: [&str; 17] = [
    "GIT_SSH_COMMAND",
    "GIT_SSH",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "SSH_ASKPASS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "PROMPT_COMMAND",
    "RUSTC_WRAPPER",
];
/// Places outside the workspace that anybody may write to.
const HARMLESS_TARGETS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The commands in a text for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellReading {
    /// The whole text.
    pub(super) text: String,
    /// Every command inside, in each of the ways it can be read.
    commands: Vec<Vec<String>>,
    /// The first command, as it is written and without harmless options of git; without what it runs in
    /// turn.
    first: Vec<String>,
    /// Files that output is written to.
    targets: Vec<String>,
    /// Files that are read.
    sources: Vec<String>,
    /// Directories it changes to.
    moves: Vec<PathBuf>,
    /// Whether it is one command with plain words.
    pub(super) is_simple: bool,
    /// Whether the text does not say what is run.
    is_opaque: bool,
}

impl ShellReading {
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self { text: text.trim().to_owned(), ..Self::default() };
        if !text.contains("\\\n") {
            reading.read(text, 0);
            return reading;
        }
        reading.read(&words::without_continuations(text), 0);
        // Where a here-document ends is the shell's to say: both readings count.
        if text.contains("<<") {
            let is_simple = reading.is_simple;
            reading.read(&text.replace("\\\n", ""), 0);
            reading.read(text, 0);
            reading.is_simple &= is_simple;
        }
        reading
    }

    /// Whether one of its commands fits. A word that is not known may be the one that the pattern names:
    /// `git $X` may be `git push`.
    pub(super) fn any(&self, pattern: &CommandPattern) -> bool {
        self.commands
            .iter()
            .any(|words| pattern.fits_words(words) || pattern.fits_text(&shown(words)))
    }

    /// Whether the command that is written there fits, whatever it runs in turn.
    pub(super) fn is_first(&self, pattern: &CommandPattern) -> bool {
        self.first.iter().any(|command| pattern.fits_text(command))
    }

    /// Whether it is one simple command that writes nowhere else.
    pub(super) fn is_plain(&self, call: &ToolUse<'_>) -> bool {
        self.is_simple && !self.is_opaque && !self.writes_outside(call)
    }

    /// The files it reads, from the root of the workspace, in each directory it may be in by then.
    pub(super) fn reads(&self, call: &ToolUse<'_>) -> Vec<String> {
        let mut paths = std::collections::BTreeSet::new();
        for place in self.places(call.cwd) {
            paths.extend(self.sources.iter().map(|it| relative(it, &place, call.root)));
        }
        paths.into_iter().collect()
    }

    /// What the rules cannot see of it.
    pub(super) fn hides(&self, call: &ToolUse<'_>) -> Option<&'static str> {
        if self.is_opaque {
            return Some("it does not say in plain words what it runs");
        }
        self.writes_outside(call).then_some("it writes to a file outside the workspace")
    }

    /// The program and its subcommand or first option, for a rule that covers calls like this one; nothing
    /// where that would cover too much.
    pub(super) fn simple_prefix(&self) -> Option<String> {
        // Without the options of git in front of its subcommand.
        let command = self.first.last().filter(|_| self.is_simple && !self.is_opaque)?;
        let mut words = command.split(' ');
        let program = words.next()?;
        // An option is no subcommand: `rm -rf` with another path is something else.
        let is_name = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_alphanumeric())
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let runs_others = wrappers::runs_others(program) || SHELLS.contains(&program);
        match words.next() {
            None => Some(program.to_owned()),
            Some(second) if is_name(second) && !runs_others => Some(format!("{program} {second}")),
            // A path or a script: the same program with another one is something else.
            Some(_) => None,
        }
    }

    fn writes_outside(&self, call: &ToolUse<'_>) -> bool {
        let is_outside = |path: String| {
            path.starts_with('/')
                && !path.starts_with("/tmp/")
                && !HARMLESS_TARGETS.contains(&path.as_str())
        };
        let places = self.places(call.cwd);
        self.targets
            .iter()
            .any(|target| places.iter().any(|place| is_outside(relative(target, place, call.root))))
    }

    /// The directories it may be in by the time of a command.
    fn places(&self, cwd: &Path) -> Vec<PathBuf> {
        let moved = self.moves.iter().map(|directory| cwd.join(directory));
        moved.chain([cwd.to_path_buf()]).collect()
    }

    fn read(&mut self, text: &str, nested: usize) {
        if text.len() > MAX_BYTES || nested > MAX_NESTED {
            self.is_opaque = true;
            return;
        }
        let Some(tree) = Parsers::default().parse(Language::Shell, text) else {
            self.is_opaque = true;
            return;
        };
        let root = tree.root_node();
        if root.has_error() {
            self.is_opaque = true;
        }
        if nested == 0 {
            self.is_simple = !root.has_error() && is_one_command(root);
        }
        let mut waiting = vec![root];
        let mut left = MAX_NODES;
        while let Some(node) = waiting.pop() {
            left = left.saturating_sub(1);
            if left == 0 {
                self.is_opaque = true;
                return;
            }
            match node.kind() {
                "command" => self.command(node, text, nested),
                "file_redirect" => self.redirect(node, text),
                "variable_assignment" => self.assignment(node, text, nested),
                "command_substitution"
                | "process_substitution"
                | "simple_expansion"
                | "expansion"
                | "arithmetic_expansion"
                | "subshell" => self.is_simple = false,
                _ => {}
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            waiting.extend(children.into_iter().rev());
        }
    }

    fn command(&mut self, node: Node<'_>, text: &str, nested: usize) {
        let mut words: Vec<String> = Vec::new();
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                // A variable such as PATH or GIT_SSH_COMMAND may change what runs.
                "variable_assignment" => self.is_simple = false,
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" | "comment" => {}
                _ => words.push(word(child, text)),
            }
        }
        self.runs(&words, nested);
    }

    /// A variable whose value is a command that another program runs.
    fn assignment(&mut self, node: Node<'_>, text: &str, nested: usize) {
        let source = text.get(node.byte_range()).unwrap_or_default();
        let name = source.split(['=', '+']).next().unwrap_or_default();
        if name.starts_with("GIT_CONFIG_")
            && !matches!(name, "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM")
        {
            self.is_opaque = true;
        }
        if COMMAND_VARIABLES.contains(&name)
            && let Some(value) = node.child_by_field_name("value")
        {
            let value = word(value, text);
            self.read_words(&[value], nested);
        }
    }

    /// Notes a command, and what it runs in turn.
    fn runs(&mut self, words: &[String], nested: usize) {
        if nested > MAX_NESTED || self.commands.len() > MAX_COMMANDS {
            self.is_opaque = true;
            return;
        }
        // A command of redirections and assignments alone runs nothing.
        let Some((program, rest)) = words.split_first() else { return };
        // `gi?` and `{}` become a program only when they run.
        let is_hidden = is_expanded(program) || is_unknown(program);
        self.is_opaque |= !matches!(program.as_str(), "[" | "[[") && is_hidden;
        self.add(words, nested);
        let name = program.rsplit('/').next().unwrap_or(program);
        self.sources.extend(files::read_by(name, rest));
        for script in wrappers::scripts(name, rest) {
            self.read_words(&[script], nested);
        }
        let first = rest.first().map_or("", String::as_str);
        match name {
            "eval" => self.read_words(rest, nested),
            // What these name is found under another name later.
            "alias" => self.is_opaque |= !rest.is_empty(),
            "hash" | "enable" => {
                let names = |it: &String| it.starts_with('-') && it.contains(['p', 'f']);
                self.is_opaque |= rest.iter().any(names);
            }
            "cd" | "pushd" => self.change_directory(rest),
            "source" | "." => self.is_opaque |= is_stream(first),
            // They read commands from their standard input, or hand them to another process.
            "at" | "batch" => self.is_opaque = true,
            "tmux" | "screen" => self.is_opaque |= !is_listing(first),
            "make" | "gmake" => self.is_opaque |= has_hidden_rules(rest),
            "git" => self.git(rest, nested),
            "trap" => {
                let at = rest.iter().position(|word| !word.starts_with('-'));
                self.read_words(at.and_then(|at| rest.get(at..=at)).unwrap_or_default(), nested);
            }
            name if SHELLS.contains(&name) => self.shell(rest, nested),
            "find" => self.found(rest, &["-exec", "-execdir", "-ok", "-okdir"], nested),
            "fd" | "fdfind" => self.found(rest, &["-x", "-X", "--exec", "--exec-batch"], nested),
            // The command that `command -v` names is only looked up.
            "command" if first.starts_with('-') && first.contains(['v', 'V']) => {}
            "su" | "runuser" | "sg" => self.as_user(name, rest, nested),
            "watch" => self.watched(rest, nested),
            "hyperfine" => {
                for script in rest.iter().filter(|word| !word.starts_with('-')) {
                    self.read_words(std::slice::from_ref(script), nested);
                }
            }
            "parallel" => self.in_parallel(rest, nested),
            "yarn" if first == "workspace" => self.same_program(name, rest.get(2..), nested),
            "yarn" if first == "workspaces" => {
                for at in 1..rest.len().min(12) {
                    self.same_program(name, rest.get(at..), nested);
                }
            }
            "cargo" if first == "watch" => self.cargo_watch(rest, nested),
            name if is_python(name) => {
                if let Some(at) = rest.iter().position(|word| word.starts_with("-m"))
                    && rest.iter().take(at).all(|word| word.starts_with('-'))
                {
                    let module =
                        rest.get(at).and_then(|it| it.strip_prefix("-m")).unwrap_or_default();
                    let behind = rest.get(at + 1..).unwrap_or_default().to_vec();
                    let attached = Some(module.to_owned()).filter(|it| !it.is_empty());
                    let words: Vec<String> = attached.into_iter().chain(behind).collect();
                    self.runs(&words, nested + 1);
                }
            }
            name => self.wrapped(name, rest, nested),
        }
    }

    /// The command that a wrapper runs: what follows its options and their values.
    fn wrapped(&mut self, name: &str, rest: &[String], nested: usize) {
        let starts = match wrappers::named(name) {
            Some(wrapper) => wrapper.starts(rest),
            None => wrappers::runner_starts(name, rest),
        };
        self.is_opaque |= starts.is_empty() && rest.len() > wrappers::MAX_WORDS;
        if name == "env" {
            for (at, word) in rest.iter().enumerate() {
                let next = rest.get(at + 1..).unwrap_or_default();
                let long = word.strip_prefix("--split-string=");
                let short = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
                let split = short.and_then(|it| it.split_once('S')).map(|(_, value)| value);
                match long.or(split) {
                    Some("") => self.read_words(next, nested),
                    Some(value) => {
                        self.read_words(&[&[value.to_owned()], next].concat(), nested);
                    }
                    None if word == "--split-string" => self.read_words(next, nested),
                    None => {}
                }
            }
        }
        for start in starts {
            let mut words = rest.get(start..).unwrap_or_default().to_vec();
            if name == "xargs" {
                // It adds words of its own.
                words.push(words::UNKNOWN.to_string());
            }
            self.runs(&words, nested + 1);
        }
    }

    /// The same program again, with fewer words.
    fn same_program(&mut self, name: &str, rest: Option<&[String]>, nested: usize) {
        let words = [&[name.to_owned()], rest.unwrap_or_default()].concat();
        self.runs(&words, nested + 1);
    }

    fn cargo_watch(&mut self, rest: &[String], nested: usize) {
        for pair in rest.windows(2) {
            match pair {
                [option, run] if matches!(option.as_str(), "-x" | "--exec") => {
                    self.read_words(&["cargo".to_owned(), run.clone()], nested);
                }
                [option, run] if matches!(option.as_str(), "-s" | "--shell") => {
                    self.read_words(std::slice::from_ref(run), nested);
                }
                _ => {}
            }
        }
    }

    /// `su`, `runuser` and `sg` run a script, a command, or a shell that reads its standard input.
    fn as_user(&mut self, name: &str, rest: &[String], nested: usize) {
        let has_script = !wrappers::scripts(name, rest).is_empty();
        let mut runs_command = false;
        for (at, word) in rest.iter().enumerate().take(16) {
            let is_behind = at
                .checked_sub(1)
                .and_then(|at| rest.get(at))
                .is_some_and(|it| it == "--" || name == "sg" || !it.starts_with('-') || it == "-u");
            if !word.starts_with('-') && is_behind {
                runs_command = true;
                self.runs(rest.get(at..).unwrap_or_default(), nested + 1);
            }
        }
        self.is_opaque |= !has_script && !runs_command;
    }

    /// `watch` hands its words to a shell, as one text.
    fn watched(&mut self, rest: &[String], nested: usize) {
        let mut words = rest;
        while let Some((option, behind)) = words.split_first().filter(|(it, _)| it.starts_with('-'))
        {
            let takes = ["-n", "-q", "--interval", "--equexit"].contains(&option.as_str());
            words = behind.get(usize::from(takes)..).unwrap_or_default();
        }
        if !words.is_empty() {
            self.read_words(words, nested);
        }
    }

    /// `parallel` adds what stands behind `:::`; without a command, that is one.
    fn in_parallel(&mut self, rest: &[String], nested: usize) {
        let end = rest.iter().position(|word| word.starts_with(":::")).unwrap_or(rest.len());
        let (command, behind) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let starts = wrappers::named("parallel").map(|it| it.starts(command)).unwrap_or_default();
        for start in &starts {
            let added = words::UNKNOWN.to_string();
            let words = command.get(*start..).unwrap_or_default();
            // One word may be a whole script.
            self.read_words(words, nested);
            self.runs(&[words, &[added]].concat(), nested + 1);
        }
        if starts.is_empty() {
            self.is_opaque |= behind.is_empty() || behind.iter().any(|word| word == "::::");
            for word in behind.iter().skip(1) {
                self.read_words(std::slice::from_ref(word), nested);
            }
        }
    }

    fn change_directory(&mut self, rest: &[String]) {
        let target = rest.iter().find(|word| !word.starts_with('-'));
        let to = match target {
            Some(path) if path.starts_with('~') => PathBuf::from(format!("/{path}")),
            // Where only the shell knows, the sandbox limits it.
            Some(path) if is_unknown(path) => return,
            Some(path) => PathBuf::from(path),
            None if rest.is_empty() => PathBuf::from("/~"),
            None => return,
        };
        let further: Vec<PathBuf> = self.moves.iter().map(|from| from.join(&to)).collect();
        self.moves.extend(further);
        self.moves.push(to);
        self.moves.dedup();
        self.moves.truncate(MAX_MOVES);
    }

    /// A shell: with a script in its arguments, in a file, or on its standard input, where nobody sees it.
    fn shell(&mut self, rest: &[String], nested: usize) {
        let (mut has_script, mut reads_input, mut is_asked) = (false, false, false);
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            if word == "--" || word == "-" {
                at += 1;
                break;
            }
            if let Some(long) = word.strip_prefix("--") {
                let value = long.split_once('=').map(|(_, value)| value.to_owned());
                let next = || value.clone().or_else(|| rest.get(at + 1).cloned());
                match long.split('=').next().unwrap_or(long) {
                    "command" | "init-command" => {
                        has_script = true;
                        self.read_words(&next().into_iter().collect::<Vec<_>>(), nested);
                        at += usize::from(value.is_none());
                    }
                    "rcfile" | "init-file" | "emulate" | "features" | "debug" | "profile" => {
                        at += usize::from(value.is_none());
                    }
                    "help" | "version" => is_asked = true,
                    _ => self.is_opaque |= !SHELL_FLAGS.contains(&word.as_str()),
                }
                at += 1;
                continue;
            }
            let Some(letters) = word.strip_prefix(['-', '+']).filter(|it| !it.is_empty()) else {
                break;
            };
            has_script |= word.starts_with('-') && letters.contains('c');
            reads_input |= word.starts_with('-') && letters.contains('s');
            // Each of these takes one of the next words.
            at += 1 + letters.matches(['o', 'O', 'C']).count();
            if letters.contains('C') && word.starts_with('-') {
                self.read_words(rest.get(at - 1..at).unwrap_or_default(), nested);
            }
        }
        let operand = rest.get(at).map(String::as_str);
        match operand {
            Some(script) if has_script => self.read_words(&[script.to_owned()], nested),
            Some(file) if !reads_input => self.is_opaque |= is_stream(file),
            _ => self.is_opaque |= !is_asked && !rest.iter().any(|it| it.starts_with("--command=")),
        }
    }

    /// What `find` and `fd` run on the files they find: up to a `;` or `+` each.
    fn found(&mut self, rest: &[String], options: &[&str], nested: usize) {
        let mut rest = rest;
        while let Some(at) = rest.iter().position(|word| options.contains(&word.as_str())) {
            let run = rest.get(at + 1..).unwrap_or_default();
            let is_end = |word: &String| matches!(word.as_str(), ";" | "+");
            let end = run.iter().position(is_end).unwrap_or(run.len());
            let (run, behind) = run.split_at_checked(end).unwrap_or((run, &[]));
            self.runs(run, nested + 1);
            rest = behind;
        }
    }

    /// Reads words as a script.
    fn read_words(&mut self, words: &[String], nested: usize) {
        if words.iter().any(|word| is_unknown(word)) {
            self.is_opaque = true;
        }
        // What is known of it counts all the same; `{}` is what `xargs` and `find` put there.
        let script = words.join(" ").replace("{}", &words::UNKNOWN.to_string());
        self.read(&script, nested + 1);
    }

    /// Adds a command as it is written, with the bare name of its program, and without options of git in
    /// front of its subcommand.
    fn add(&mut self, words: &[String], nested: usize) {
        let Some((program, rest)) = words.split_first() else { return };
        let is_first = self.commands.is_empty() && nested == 0;
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut readings = vec![words.to_vec()];
        let mut read = |reading: Vec<String>| {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        };
        let own = [name.to_owned()];
        let mut harmless = rest;
        while let Some((first, behind)) = harmless.split_first().filter(|_| name == "git")
            && first.starts_with('-')
        {
            harmless =
                if git::takes_value(first) { behind.get(1..).unwrap_or_default() } else { behind };
        }
        read([&own, harmless].concat());
        if let Some(subcommand) = name.strip_prefix("git-") {
            read([&["git".to_owned(), subcommand.to_owned()], rest].concat());
        }
        if is_first {
            let options = rest.get(..rest.len() - harmless.len()).unwrap_or_default();
            self.first = vec![shown(words)];
            if is_system_program(program) && !options.iter().any(|it| git::sets_what_runs(it)) {
                self.first.push(shown(&[&own, harmless].concat()));
            }
        }
        self.commands.extend(readings);
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let source = text.get(node.byte_range()).unwrap_or_default();
        let Some(target) = node.child_by_field_name("destination") else { return };
        // `2>&1` names a descriptor, `>&file` a file.
        if target.kind() == "number" {
            return;
        }
        let path = word(target, text);
        if path == "-" || path.bytes().all(|b| b.is_ascii_digit()) {
            return;
        }
        let home = |path: &str| path.starts_with('~').then(|| format!("/{path}"));
        let written = text.get(node.start_byte()..target.start_byte()).unwrap_or(source);
        if written.contains('<') {
            self.sources.push(home(&path).unwrap_or_else(|| path.clone()));
        }
        if !written.contains('>') {
            return;
        }
        if !is_unknown(&path) {
            self.targets.push(home(&path).unwrap_or(path));
            return;
        }
        // Only the sandbox knows where that is; for a pattern it is no simple command.
        self.is_simple = false;
        let source = text.get(target.byte_range()).unwrap_or_default();
        let start = source.trim_start_matches('"');
        if start.starts_with("$HOME") || start.starts_with("${HOME") {
            self.targets.push("/~".to_owned());
        } else if start.starts_with('/') {
            self.targets.push(start.to_owned());
        }
    }
}

/// Whether a script comes from where only the shell knows.
fn is_stream(file: &str) -> bool {
    let streams = ["/dev/stdin", "/dev/fd/", "/proc/"];
    file.is_empty()
        || file == "-"
        || file.starts_with(words::UNKNOWN)
        || streams.iter().any(|it| file.starts_with(it))
}

/// Whether a call of `tmux` or `screen` only shows something.
fn is_listing(first: &str) -> bool {
    let shows =
        ["ls", "-ls", "-list", "-V", "-v", "info", "has-session", "capture-pane", "display"];
    shows.contains(&first) || first.starts_with("list-") || first.starts_with("show-")
}

/// Whether `make` takes rules from its standard input or its arguments.
fn has_hidden_rules(rest: &[String]) -> bool {
    rest.iter().enumerate().any(|(at, word)| {
        let next = rest.get(at + 1).map_or("", String::as_str);
        let file = match word.as_str() {
            "-f" | "--file" | "--makefile" => Some(next),
            word => ["--file=", "--makefile=", "-f"].iter().find_map(|it| word.strip_prefix(it)),
        };
        file.is_some_and(is_stream) || word.starts_with("--eval") || word.starts_with("-E")
    })
}

fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    name == "py" || version.is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

/// Whether a program is one command and no list, pipeline or background job.
fn is_one_command(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    let mut parts = root.children(&mut cursor).filter(|node| node.kind() != "comment");
    let (Some(only), None) = (parts.next(), parts.next()) else { return false };
    match only.kind() {
        "command" => true,
        "redirected_statement" => {
            only.child_by_field_name("body").is_some_and(|body| body.kind() == "command")
        }
        _ => false,
    }
}

/// Whether a program is looked up by the shell or lies where the system's programs are. One at another
/// path only has the same name.
fn is_system_program(program: &str) -> bool {
    let places = ["/usr/", "/bin/", "/sbin/", "/opt/"];
    !program.contains('/') || places.iter().any(|place| program.starts_with(place))
}
