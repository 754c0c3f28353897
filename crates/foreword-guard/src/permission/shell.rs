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
const WRAPPERS: [&str; 23] = [
    "sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "time",
    "timeout", "stdbuf", "setsid", "xargs", "busybox", "unshare", "chroot", "flock", "parallel",
    "strace", "watch", "taskset", "chronic",
];
const SHELLS: [&str; 5] = ["bash", "sh", "dash", "zsh", "ksh"];
/// Places outside the workspace that anybody may write to.
const HARMLESS_TARGETS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The commands in a text for a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShellReading {
    /// The whole text.
    pub(super) text: String,
    /// Every command inside, in each of the ways it can be read.
    commands: Vec<String>,
    /// The first command, in each of the ways it can be read; without what it runs in turn.
    first: Vec<String>,
    /// Files that output is written to.
    targets: Vec<String>,
    /// Whether it is one command with plain words.
    pub(super) is_simple: bool,
    /// Whether the text does not say what is run.
    is_opaque: bool,
}

impl ShellReading {
    pub(super) fn of(text: &str) -> Self {
        let mut reading = Self { text: text.trim().to_owned(), ..Self::default() };
        reading.read(text, 0);
        reading
    }

    /// Whether one of its commands fits.
    pub(super) fn any(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.commands.iter().any(|command| fits(command))
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
        let is_name = |word: &str| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let runs_others = WRAPPERS.contains(&program) || SHELLS.contains(&program);
        match words.next() {
            None => Some(program.to_owned()),
            Some(second) if is_name(second) && !runs_others => Some(format!("{program} {second}")),
            // A path or a script: the same program with another one is something else.
            Some(_) => None,
        }
    }

    fn writes_outside(&self, call: &ToolUse<'_>) -> bool {
        let is_outside = |target: &String| {
            let path = relative(target, call.cwd, call.root);
            path.starts_with('/')
                && !path.starts_with("/tmp/")
                && !HARMLESS_TARGETS.contains(&path.as_str())
        };
        self.targets.iter().any(is_outside)
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
        self.add(words);
        if self.first.is_empty() {
            self.first.clone_from(&self.commands);
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let rest = words.get(1..).unwrap_or_default();
        match name {
            "eval" => self.read_words(rest, nested),
            "trap" => self.read_words(rest.get(..1).unwrap_or_default(), nested),
            name if SHELLS.contains(&name) => self.shell(rest, nested),
            "find" => self.found(rest, nested),
            name if WRAPPERS.contains(&name) => self.wrapped(rest, nested),
            _ => {}
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

    /// The command that a wrapper runs: what follows its options and their values.
    fn wrapped(&mut self, rest: &[Option<String>], nested: usize) {
        let mut tried = 0;
        for at in 0..rest.len() {
            let Some(words) = rest.get(at..) else { continue };
            match words.first() {
                Some(Some(word)) if word.starts_with('-') || word.contains('=') => {}
                Some(Some(word)) => {
                    self.runs(words, nested + 1);
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

    /// Adds a command as it is written, with the bare name of its program, and without options of git
    /// in front of the subcommand.
    fn add(&mut self, words: &[Option<String>]) {
        let shown: Vec<String> =
            words.iter().map(|word| word.clone().unwrap_or_else(|| "…".to_owned())).collect();
        let Some((program, rest)) = shown.split_first() else { return };
        self.commands.push(shown.join(" "));
        let name = program.rsplit('/').next().unwrap_or(program).to_owned();
        let mut rest = rest;
        if name == "git" {
            while let Some((first, behind)) = rest.split_first().filter(|(w, _)| w.starts_with('-'))
            {
                let takes_value = matches!(
                    first.as_str(),
                    "-C" | "-c"
                        | "--git-dir"
                        | "--work-tree"
                        | "--namespace"
                        | "--config-env"
                        | "--attr-source"
                        | "--super-prefix"
                );
                rest = if takes_value { behind.get(1..).unwrap_or_default() } else { behind };
            }
        }
        let plain = [std::slice::from_ref(&name), rest].concat().join(" ");
        if self.commands.last() != Some(&plain) {
            self.commands.push(plain);
        }
    }

    fn redirect(&mut self, node: Node<'_>, text: &str) {
        let source = text.get(node.byte_range()).unwrap_or_default();
        if !source.contains('>') {
            return;
        }
        let Some(target) = node.child_by_field_name("destination") else { return };
        // `2>&1` names a descriptor.
        if target.kind() == "number" || source.contains(">&") {
            return;
        }
        match word(target, text) {
            Some(path) if path.starts_with('~') => self.targets.push(format!("/{path}")),
            Some(path) => self.targets.push(path),
            // Only the sandbox knows where that is; for a pattern it is no simple command.
            None => self.is_simple = false,
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
