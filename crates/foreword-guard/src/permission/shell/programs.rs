//! What programs run in turn: wrappers, shells, and programs with commands among their arguments.

use std::path::PathBuf;

use super::parse::MAX_NESTED;
use super::piped::{MAX_LISTED, placeholder, searched, with_each};
use super::words::{is_expanded, is_unknown};
use super::{ShellReading, files, words, wrappers, written};

const MAX_COMMANDS: usize = 5000;
const MAX_MOVES: usize = 32;
/// Words of a command times the files that it gets the names of.
const MAX_INPUT_WORDS: usize = 100_000;
pub(super) const SHELLS: [&str; 9] =
    ["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"];
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

impl ShellReading {
    /// Notes a command, and what it runs in turn.
    pub(super) fn runs(&mut self, words: &[String], nested: usize) {
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
        self.written.extend(written::written_by(name, rest));
        self.erased.extend(written::erased_by(name, rest));
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
            let (options, words) = rest.split_at_checked(start).unwrap_or((rest, &[]));
            match name {
                "xargs" => self.runs_on_input(words, placeholder(options), &[], nested),
                _ => self.runs(words, nested + 1),
            }
        }
    }

    /// A command that gets words from its standard input, or these: nobody knows which, and as far as the text says
    /// each of them.
    fn runs_on_input(
        &mut self,
        words: &[String],
        placeholder: &str,
        given: &[String],
        nested: usize,
    ) {
        // What it runs has another input.
        let piped = std::mem::take(&mut self.piped);
        self.runs(&[words, &[words::UNKNOWN.to_string()]].concat(), nested + 1);
        let count = given.len() + piped.len();
        let is_long = count.saturating_mul(words.len()) > MAX_INPUT_WORDS;
        if count > MAX_LISTED || is_long {
            self.is_opaque = true;
        }
        let files = given.iter().chain(piped.iter()).take(if is_long { 0 } else { MAX_LISTED });
        for file in files {
            self.runs(&with_each(words, placeholder, file), nested + 1);
        }
        self.piped = piped;
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
            let words = command.get(*start..).unwrap_or_default();
            // One word may be a whole script.
            self.read_words(words, nested);
            let given = behind.get(1..).unwrap_or_default();
            self.runs_on_input(words, "{}", given, nested);
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

    /// What `find` and `fd` run on the files they find: up to a `;` or `+` each. `{}` stands for these files, as far
    /// as the places and the name they are looked for by tell.
    fn found(&mut self, rest: &[String], options: &[&str], nested: usize) {
        let files = searched(rest);
        if rest.iter().any(|word| word == "-delete") {
            self.written.extend(files.iter().cloned());
        }
        let mut rest = rest;
        while let Some(at) = rest.iter().position(|word| options.contains(&word.as_str())) {
            let run = rest.get(at + 1..).unwrap_or_default();
            let is_end = |word: &String| matches!(word.as_str(), ";" | "+");
            let end = run.iter().position(is_end).unwrap_or(run.len());
            let (run, behind) = run.split_at_checked(end).unwrap_or((run, &[]));
            let is_file = |word: &String| word == "{}";
            match run.iter().any(is_file) {
                true => {
                    for file in &files {
                        let put = |word: &String| if is_file(word) { file } else { word }.clone();
                        self.runs(&run.iter().map(put).collect::<Vec<_>>(), nested + 1);
                    }
                }
                false => self.runs(run, nested + 1),
            }
            rest = behind;
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
