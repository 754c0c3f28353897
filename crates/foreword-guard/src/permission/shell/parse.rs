//! Walking through the text of a command.

use std::rc::Rc;

use tree_sitter::Node;

use super::piped::{MAX_LISTED, listed_by, names_in};
use super::words::{is_unknown, shown, word};
use super::{ShellReading, git, words};
use crate::screen::{Language, Parsers};

/// Longer commands and more of them are not looked through.
const MAX_BYTES: usize = 64 << 10;
const MAX_NODES: usize = 50_000;
/// Parts of one piece of a pipeline that are looked at for names of files.
const MAX_PARTS: usize = 500;
pub(super) const MAX_NESTED: usize = 8;
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

impl ShellReading {
    pub(super) fn read(&mut self, text: &str, nested: usize) {
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
        let input = Rc::clone(&self.piped);
        let mut waiting = vec![(root, Rc::clone(&input))];
        let mut left = MAX_NODES;
        while let Some((node, piped)) = waiting.pop() {
            left = left.saturating_sub(1);
            if left == 0 {
                self.is_opaque = true;
                break;
            }
            let piped = given(node, text).map_or(piped, Rc::from);
            match node.kind() {
                "command" => {
                    self.piped = Rc::clone(&piped);
                    self.runs(&command_words(node, text), nested);
                    self.is_simple &= !has_assignment(node);
                }
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
            let is_pipeline = node.kind() == "pipeline";
            let mut piped = piped;
            let start = waiting.len();
            for child in node.named_children(&mut cursor) {
                waiting.push((child, Rc::clone(&piped)));
                if is_pipeline && let Some(files) = files_listed(child, text) {
                    piped = files;
                }
            }
            waiting.get_mut(start..).unwrap_or_default().reverse();
        }
        self.piped = input;
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

    /// Reads words as a script.
    pub(super) fn read_words(&mut self, words: &[String], nested: usize) {
        if words.iter().any(|word| is_unknown(word)) {
            self.is_opaque = true;
        }
        // What is known of it counts all the same; `{}` is what `xargs` and `find` put there.
        let script = words.join(" ").replace("{}", &words::UNKNOWN.to_string());
        self.read(&script, nested + 1);
    }

    /// Adds a command as it is written, with the bare name of its program, and without options of git in
    /// front of its subcommand.
    pub(super) fn add(&mut self, words: &[String], nested: usize) {
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
        self.written.push(path);
        let source = text.get(target.byte_range()).unwrap_or_default();
        let start = source.trim_start_matches('"');
        if start.starts_with("$HOME") || start.starts_with("${HOME") {
            self.targets.push("/~".to_owned());
        } else if start.starts_with('/') {
            self.targets.push(start.to_owned());
        }
    }
}

/// The words of a command, without assignments and redirections.
fn command_words(node: Node<'_>, text: &str) -> Vec<String> {
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor);
    let is_word = |child: &Node<'_>| {
        !is_redirection(*child) && !matches!(child.kind(), "variable_assignment" | "comment")
    };
    children.filter(is_word).map(|child| word(child, text)).collect()
}

/// Whether a command sets a variable such as PATH or GIT_SSH_COMMAND, which may change what runs.
fn has_assignment(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| child.kind() == "variable_assignment")
}

/// The files that a part of a pipeline names for the next one; `None` if its words name none.
fn files_listed(node: Node<'_>, text: &str) -> Option<Rc<[String]>> {
    let mut files: Vec<String> = Vec::new();
    let mut waiting = vec![node];
    let mut left = MAX_PARTS;
    while let Some(node) = waiting.pop() {
        left = left.saturating_sub(1);
        if left == 0 || files.len() > MAX_LISTED {
            break;
        }
        files.extend(given(node, text).unwrap_or_default());
        if node.kind() == "command" {
            files.extend(listed_by(&command_words(node, text)));
        } else if !is_redirection(node) {
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor).take(MAX_PARTS));
        }
    }
    Some(files.into()).filter(|files: &Rc<[String]>| !files.is_empty())
}

/// The names in the text that stands for the input of a command: `<<< text`, or a here-document.
fn given(node: Node<'_>, text: &str) -> Option<Vec<String>> {
    let mut cursor = node.walk();
    let input = node.named_children(&mut cursor).find_map(|child| match child.kind() {
        "herestring_redirect" => child.named_child(0).map(|it| word(it, text)),
        "heredoc_redirect" => {
            let mut cursor = child.walk();
            let mut parts = child.named_children(&mut cursor);
            let body = parts.find(|part| part.kind() == "heredoc_body")?;
            text.get(body.byte_range()).map(str::to_owned)
        }
        _ => None,
    })?;
    Some(names_in(std::iter::once(input.as_str())))
}

fn is_redirection(node: Node<'_>) -> bool {
    matches!(node.kind(), "file_redirect" | "herestring_redirect" | "heredoc_redirect")
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
