//! What a command for `bash` runs, as far as its text says.

use tree_sitter::Node;

use super::ToolUse;
use super::rule::relative;
use crate::screen::{Language, Parsers};

/// Longer commands and more of them are not looked through.
const MAX_BYTES: usize = 64 << 10;
const MAX_NODES: usize = 50_000;
const MAX_NESTED: usize = 8;
/// Words behind a wrapper that may be values of its options and not the command.
const MAX_VALUES: usize = 2;
/// Programs that run another one, which their arguments name.
const WRAPPERS: [&str; 44] = [
    "sudo", "doas", "su", "runuser", "env", "command", "builtin", "exec", "coproc", "nohup",
    "nice", "ionice", "time", "timeout", "stdbuf", "unbuffer", "setsid", "xargs", "busybox",
    "toybox", "unshare", "nsenter", "chroot", "setpriv", "firejail", "bwrap", "flock", "parallel",
    "strace", "ltrace", "valgrind", "watch", "entr", "script", "taskset", "numactl", "chronic",
    "fd", "fdfind", "npx", "bunx", "pnpx", "uvx", "pipx",
];
/// Programs that run another one with one of their subcommands, and these.
const RUNNERS: [(&str, &[&str]); 14] = [
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("rye", &["run"]),
    ("pixi", &["run"]),
    ("conda", &["run"]),
    ("bundle", &["exec"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("mise", &["exec", "x"]),
    ("direnv", &["exec"]),
];
/// Settings of git whose value is a command, by the beginning or the end of their name.
const GIT_COMMANDS: [&str; 16] = [
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "sequence.editor",
    "diff.external",
    ".textconv",
    ".command",
    ".clean",
    ".smudge",
    ".process",
    ".driver",
    ".cmd",
    "pager.",
    "credential.helper",
];
/// Words at the beginning of a command that rules name.
const MAX_NAMED_WORDS: usize = 4;
/// Words in front of a subcommand that may be options and their values.
const MAX_OPTIONS: usize = 8;
const SHELLS: [&str; 5] = ["bash", "sh", "dash", "zsh", "ksh"];
/// Places outside the workspace that anybody may write to.
const HARMLESS_TARGETS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The commands in a text for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellReading {
    /// The whole text.
    pub(super) text: String,
    /// Every command inside, in each of the ways it can be read.
    commands: Vec<ReadCommand>,
    /// The first command, as it is written and without harmless options of git; without what it runs in
    /// turn.
    first: Vec<String>,
    /// Files that output is written to.
    targets: Vec<String>,
    /// Directories it changes to.
    moves: Vec<String>,
    /// Whether it is one command with plain words.
    pub(super) is_simple: bool,
    /// Whether the text does not say what is run.
    is_opaque: bool,
}

/// A command in one of the ways it can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReadCommand {
    text: String,
    /// Its first words, and the text behind them, if one of these is not known before the shell runs.
    unknown: Option<(Vec<Option<String>>, String)>,
}

impl ReadCommand {
    fn of(words: &[Option<String>]) -> Self {
        let (head, tail) = words.split_at_checked(MAX_NAMED_WORDS).unwrap_or((words, &[]));
        let is_known = |word: &Option<String>| word.as_ref().is_some_and(|it| !is_expanded(it));
        let is_unknown = head.iter().skip(1).any(|word| !is_known(word));
        let unknown = is_unknown.then(|| (head.to_vec(), shown(tail)));
        Self { text: shown(words), unknown }
    }

    /// The command with the words that are likely in the place of those that are not known.
    fn guessed(&self, likely: impl Fn(usize) -> Option<String>) -> Option<String> {
        let (head, tail) = self.unknown.as_ref()?;
        let word = |(at, word): (usize, &Option<String>)| {
            let known = word.clone().filter(|word| at == 0 || !is_expanded(word));
            known.or_else(|| likely(at)).or_else(|| word.clone()).unwrap_or_else(|| "…".to_owned())
        };
        let head: Vec<String> = head.iter().enumerate().map(word).collect();
        Some(format!("{} {tail}", head.join(" ")).trim_end().to_owned())
    }
}

impl ShellReading {
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self { text: text.trim().to_owned(), ..Self::default() };
        reading.read(text, 0);
        reading
    }

    /// Whether one of its commands fits. A word that is not known may be the one that `likely` names at
    /// its place: `git $X` may be `git push`.
    pub(super) fn any(
        &self,
        fits: impl Fn(&str) -> bool,
        likely: impl Fn(usize) -> Option<String>,
    ) -> bool {
        self.commands.iter().any(|command| {
            fits(&command.text) || command.guessed(&likely).is_some_and(|guessed| fits(&guessed))
        })
    }

    /// Whether the command that is written there fits, whatever it runs in turn.
    pub(super) fn is_first(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.first.iter().any(|command| fits(command))
    }

    /// Whether it is one simple command that writes nowhere else.
    pub(super) fn is_plain(&self, call: &ToolUse<'_>) -> bool {
        self.is_simple && !self.is_opaque && !self.writes_outside(call)
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
        let runs_others = WRAPPERS.contains(&program)
            || SHELLS.contains(&program)
            || RUNNERS.iter().any(|(name, _)| *name == program);
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
        // A relative path begins in the directory the command is in by then.
        let places = || {
            let moved = self.moves.iter().map(|directory| call.cwd.join(directory));
            moved.chain([call.cwd.to_path_buf()])
        };
        self.targets
            .iter()
            .any(|target| places().any(|place| is_outside(relative(target, &place, call.root))))
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
        let mut words: Vec<Option<String>> = Vec::new();
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

    /// Notes a command, and what it runs in turn.
    fn runs(&mut self, words: &[Option<String>], nested: usize) {
        if nested > MAX_NESTED {
            self.is_opaque = true;
            return;
        }
        let Some(Some(program)) = words.first() else {
            // A command of redirections and assignments alone runs nothing.
            self.is_opaque |= !words.is_empty();
            return;
        };
        // `gi?` and `{}` become a program only when they run.
        self.is_opaque |= !matches!(program.as_str(), "[" | "[[") && is_expanded(program);
        self.add(words, nested);
        let name = program.rsplit('/').next().unwrap_or(program);
        let rest = words.get(1..).unwrap_or_default();
        match name {
            "eval" => self.read_words(rest, nested),
            // What it names is found under another name later.
            "alias" => self.is_opaque |= !rest.is_empty(),
            "cd" | "pushd" => self.change_directory(rest),
            "git" => self.git(rest, nested),
            // They add words of their own.
            "xargs" | "parallel" => self.wrapped(rest, &[None], nested),
            "trap" => self.read_words(rest.get(..1).unwrap_or_default(), nested),
            name if SHELLS.contains(&name) => self.shell(rest, nested),
            "find" => self.found(rest, nested),
            name if WRAPPERS.contains(&name) => self.wrapped(rest, &[], nested),
            name => {
                let runs = RUNNERS.iter().find(|(known, _)| *known == name).map(|(_, runs)| *runs);
                let is_run = |word: &Option<String>| {
                    word.as_deref().is_some_and(|word| runs.unwrap_or_default().contains(&word))
                };
                if let Some(at) = rest.iter().position(is_run) {
                    self.wrapped(rest.get(at + 1..).unwrap_or_default(), &[], nested);
                }
            }
        }
    }

    fn change_directory(&mut self, rest: &[Option<String>]) {
        let is_option =
            |word: &&Option<String>| word.as_deref().is_some_and(|w| w.starts_with('-'));
        match rest.iter().find(|word| !is_option(word)) {
            Some(Some(path)) if path.starts_with('~') => self.moves.push(format!("/{path}")),
            Some(Some(path)) => self.moves.push(path.clone()),
            // Home; or where only the shell knows, which the sandbox limits.
            None if rest.is_empty() => self.moves.push("/~".to_owned()),
            _ => {}
        }
    }

    /// What git runs: commands in its settings and those that some subcommands are given.
    fn git(&mut self, rest: &[Option<String>], nested: usize) {
        let mut words = rest;
        while let Some((first, behind)) = words.split_first() {
            let Some(option) = first.as_deref().filter(|word| word.starts_with('-')) else { break };
            let setting = match option {
                "-c" => behind.first().cloned().flatten(),
                _ => option.strip_prefix("-c").map(str::to_owned),
            };
            match setting.as_deref().and_then(|it| it.split_once('=')) {
                Some((name, value)) => self.git_setting(name, value, behind, nested),
                None => self.is_opaque |= option.starts_with("--config-env"),
            }
            words =
                if git_takes_value(option) { behind.get(1..).unwrap_or_default() } else { behind };
        }
        let is = |at: usize, name: &str| words.get(at).and_then(Option::as_deref) == Some(name);
        if is(0, "submodule") && is(1, "foreach") || is(0, "bisect") && is(1, "run") {
            let run = words.get(2..).unwrap_or_default();
            self.wrapped(run, &[], nested);
            self.read_words(run.get(..1).unwrap_or_default(), nested);
        }
        if is(0, "rebase") {
            for (at, word) in words.iter().enumerate() {
                let word = word.as_deref().unwrap_or_default();
                if matches!(word, "-x" | "--exec") {
                    self.read_words(words.get(at + 1..at + 2).unwrap_or_default(), nested);
                } else if let Some(script) = word.strip_prefix("--exec=") {
                    self.read(script, nested + 1);
                }
            }
        }
    }

    /// A setting that is given to git for one command.
    fn git_setting(&mut self, name: &str, value: &str, behind: &[Option<String>], nested: usize) {
        let name = name.to_ascii_lowercase();
        if name.starts_with("alias.") {
            match value.strip_prefix('!') {
                Some(script) => self.read(script, nested + 1),
                None => {
                    let git = ["git"].into_iter().chain(value.split_whitespace());
                    let words: Vec<_> = git.map(|word| Some(word.to_owned())).collect();
                    self.runs(&[words.as_slice(), behind].concat(), nested + 1);
                }
            }
        } else if GIT_COMMANDS.iter().any(|it| name.starts_with(it) || name.ends_with(it)) {
            self.read(value.trim_start_matches('!'), nested + 1);
        }
    }

    /// A shell: with a script in its arguments, in a file, or on its standard input, where nobody sees it.
    fn shell(&mut self, rest: &[Option<String>], nested: usize) {
        let is_option = |word: &String| word.starts_with('-') || word.starts_with('+');
        let is_script =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
        let at = rest.iter().position(|word| word.as_ref().is_none_or(|word| !is_option(word)));
        let options = rest.get(..at.unwrap_or(rest.len())).unwrap_or_default();
        if options.iter().flatten().any(is_script) {
            return match at.and_then(|at| rest.get(at)) {
                Some(script) => self.read_words(std::slice::from_ref(script), nested),
                None => self.is_opaque = true,
            };
        }
        let asks = ["--version", "--help"];
        let reads_file = at.and_then(|at| rest.get(at)).is_some_and(Option::is_some);
        let is_known = reads_file || options.iter().flatten().any(|it| asks.contains(&it.as_str()));
        self.is_opaque |= !is_known;
    }

    /// What `find` runs on the files it finds: up to a `;` or `+` each.
    fn found(&mut self, rest: &[Option<String>], nested: usize) {
        let is = |word: &Option<String>, names: &[&str]| {
            word.as_deref().is_some_and(|word| names.contains(&word))
        };
        let mut rest = rest;
        while let Some(at) =
            rest.iter().position(|word| is(word, &["-exec", "-execdir", "-ok", "-okdir"]))
        {
            let run = rest.get(at + 1..).unwrap_or_default();
            let end = run.iter().position(|word| is(word, &[";", "+"])).unwrap_or(run.len());
            let (run, behind) = run.split_at_checked(end).unwrap_or((run, &[]));
            self.runs(run, nested + 1);
            rest = behind;
        }
    }

    /// The command that a wrapper runs: what follows its options and their values, and what it adds.
    fn wrapped(&mut self, rest: &[Option<String>], added: &[Option<String>], nested: usize) {
        let mut tried = 0;
        for at in 0..rest.len() {
            let Some(words) = rest.get(at..) else { continue };
            match words.first() {
                Some(Some(word)) if word.starts_with('-') || word.contains('=') => {}
                Some(Some(word)) => {
                    self.runs(&[words, added].concat(), nested + 1);
                    // What another wrapper runs was looked at with it.
                    if WRAPPERS.contains(&word.rsplit('/').next().unwrap_or(word)) {
                        return;
                    }
                    // The values of options, such as the seconds of `timeout`, may come first.
                    let is_value =
                        word.bytes().all(|b| b.is_ascii_digit() || b".smhd".contains(&b));
                    tried += usize::from(!is_value);
                    if tried > MAX_VALUES {
                        return;
                    }
                }
                _ => {
                    self.is_opaque = true;
                    return;
                }
            }
        }
    }

    fn read_words(&mut self, words: &[Option<String>], nested: usize) {
        let all: Option<Vec<String>> = words.iter().cloned().collect();
        match all {
            Some(words) => self.read(&words.join(" "), nested + 1),
            None => self.is_opaque = true,
        }
    }

    /// Adds a command as it is written, with the bare name of its program, and without options in front
    /// of its subcommand.
    fn add(&mut self, words: &[Option<String>], nested: usize) {
        let Some((Some(program), rest)) = words.split_first() else { return };
        let is_first = self.commands.is_empty() && nested == 0;
        let name = program.rsplit('/').next().unwrap_or(program);
        let mut readings = vec![words.to_vec()];
        let mut read = |words: &[&[Option<String>]]| {
            let reading = words.concat();
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        };
        let own = [Some(name.to_owned())];
        let mut harmless = rest;
        while let Some((Some(first), behind)) = harmless.split_first().filter(|_| name == "git")
            && first.starts_with('-')
        {
            harmless =
                if git_takes_value(first) { behind.get(1..).unwrap_or_default() } else { behind };
        }
        read(&[&own, harmless]);
        if let Some(subcommand) = name.strip_prefix("git-") {
            let git = [Some("git".to_owned()), Some(subcommand.to_owned())];
            read(&[&git, rest]);
        }
        if is_first {
            let options = rest.get(..rest.len() - harmless.len()).unwrap_or_default();
            self.first = vec![shown(words)];
            if is_system_program(program) && !options.iter().any(sets_what_git_runs) {
                self.first.push(shown(&[&own, harmless].concat()));
            }
        }
        // Options of other programs, with or without values, may stand there as well.
        let is_option = |word: &Option<String>| {
            word.as_deref().is_some_and(|word| word.starts_with(['-', '+']))
        };
        for (at, word) in rest.iter().enumerate().take(MAX_OPTIONS) {
            let before = at.checked_sub(1).and_then(|before| rest.get(before));
            if !is_option(word) && !before.is_some_and(is_option) {
                break;
            }
            let reading = [&own, rest.get(at + 1..).unwrap_or_default()].concat();
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        self.commands.extend(readings.iter().map(|words| ReadCommand::of(words)));
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let source = text.get(node.byte_range()).unwrap_or_default();
        if !source.contains('>') {
            return;
        }
        let Some(target) = node.child_by_field_name("destination") else { return };
        // `2>&1` names a descriptor, `>&file` a file.
        if target.kind() == "number" {
            return;
        }
        match word(target, text) {
            Some(path) if path == "-" || path.bytes().all(|b| b.is_ascii_digit()) => {}
            Some(path) if path.starts_with('~') => self.targets.push(format!("/{path}")),
            Some(path) => self.targets.push(path),
            // Only the sandbox knows where that is; for a pattern it is no simple command.
            None => {
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
    }
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

/// A word without its quotes; nothing if it is not known before the shell runs.
fn word(node: Node<'_>, text: &str) -> Option<String> {
    let source = text.get(node.byte_range()).unwrap_or_default();
    match node.kind() {
        "word" | "number" | "string_content" => {
            // A glob or a brace may become anything, but no other program.
            Some(source.replace('\\', ""))
        }
        "raw_string" => Some(source.trim_matches('\'').to_owned()),
        "ansi_c_string" => ansi_c(source),
        "translated_string" => {
            let inner = node.named_child(0)?;
            word(inner, text)
        }
        "command_name" | "string" | "concatenation" => {
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            if children.is_empty() {
                return Some(source.trim_matches('"').to_owned());
            }
            let pieces: Option<Vec<String>> =
                children.into_iter().map(|child| word(child, text)).collect();
            pieces.map(|pieces| pieces.concat())
        }
        _ => None,
    }
}

/// A command as text; a word that only the shell knows is a mark.
fn shown(words: &[Option<String>]) -> String {
    let words = words.iter().map(|word| word.as_deref().unwrap_or("…"));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a program is looked up by the shell or lies where the system's programs are. One at another
/// path only has the same name.
fn is_system_program(program: &str) -> bool {
    let places = ["/usr/", "/bin/", "/sbin/", "/opt/"];
    !program.contains('/') || places.iter().any(|place| program.starts_with(place))
}

/// Whether an option of git changes what it runs. A rule that allows git does not allow that.
fn sets_what_git_runs(option: &Option<String>) -> bool {
    let options = ["-c", "--config-env", "--exec-path"];
    option.as_deref().is_some_and(|option| options.iter().any(|it| option.starts_with(it)))
}

/// Whether the shell would look for files of this name, or make several words of it.
fn is_expanded(word: &str) -> bool {
    word.contains(['*', '?', '[', '{'])
}

/// Options of git that the next word belongs to.
fn git_takes_value(option: &str) -> bool {
    matches!(
        option,
        "-C" | "-c"
            | "--git-dir"
            | "--work-tree"
            | "--namespace"
            | "--config-env"
            | "--attr-source"
            | "--super-prefix"
    )
}

/// What `$'…'` stands for; nothing if it has an escape that is not read here.
fn ansi_c(source: &str) -> Option<String> {
    let inner = source.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut out = String::new();
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (radix, most) = match rest.next()? {
            c @ ('\\' | '\'' | '"' | '?') => {
                out.push(c);
                continue;
            }
            'n' => {
                out.push('\n');
                continue;
            }
            't' => {
                out.push('\t');
                continue;
            }
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            digit @ '0'..='7' => {
                let mut digits = digit.to_string();
                while digits.len() < 3
                    && let Some(next) = rest.next_if(|c| c.is_digit(8))
                {
                    digits.push(next);
                }
                out.push(char::from_u32(u32::from_str_radix(&digits, 8).ok()?)?);
                continue;
            }
            _ => return None,
        };
        let mut digits = String::new();
        while digits.len() < most
            && let Some(next) = rest.next_if(|c| c.is_digit(radix))
        {
            digits.push(next);
        }
        out.push(char::from_u32(u32::from_str_radix(&digits, radix).ok()?)?);
    }
    Some(out)
}
