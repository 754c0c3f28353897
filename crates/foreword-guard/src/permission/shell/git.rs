//! What git runs: commands in its settings, and those that some subcommands are given.

use super::ShellReading;

/// Settings of git whose value is a command, by the beginning or the end of their name.
const COMMANDS: [&str; 19] = [
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.askpass",
    "core.gitproxy",
    "sequence.editor",
    "diff.external",
    "interactive.difffilter",
    ".textconv",
    ".command",
    ".clean",
    ".smudge",
    ".process",
    ".driver",
    ".cmd",
    ".uploadpack",
    "pager.",
    "credential.helper",
];
/// Options whose value is a command, of any subcommand.
const OPTIONS: [&str; 6] = [
    "--exec",
    "--extcmd",
    "--upload-pack",
    "--receive-pack",
    "--open-files-in-pager",
    "--upload-archive",
];
/// A subcommand, its options with a value, and the one whose value is a command.
const LETTERS: [(&str, &str, char); 4] = [
    ("rebase", "XsSC", 'x'),
    ("difftool", "t", 'x'),
    ("clone", "bocj", 'u'),
    ("grep", "eABCfm", 'O'),
];

impl ShellReading {
    pub(super) fn git(&mut self, rest: &[String], nested: usize) {
        let mut words = rest;
        while let Some((option, behind)) = words.split_first().filter(|(it, _)| it.starts_with('-'))
        {
            let setting = match option.as_str() {
                "-c" => behind.first().map(String::as_str),
                _ => option.strip_prefix("-c"),
            };
            match setting.and_then(|it| it.split_once('=')) {
                Some((name, value)) => self.git_setting(name, value, behind, nested),
                None => self.is_opaque |= option.starts_with("--config-env"),
            }
            words = if takes_value(option) { behind.get(1..).unwrap_or_default() } else { behind };
        }
        let Some((subcommand, words)) = words.split_first() else { return };
        match subcommand.as_str() {
            "submodule" | "bisect" => {
                let runs = if subcommand == "bisect" { "run" } else { "foreach" };
                if let Some(at) = words.iter().position(|word| word == runs) {
                    let behind = words.get(at + 1..).unwrap_or_default();
                    let start = behind.iter().position(|word| !word.starts_with('-'));
                    let run = start.and_then(|at| behind.get(at..)).unwrap_or_default();
                    self.runs(run, nested + 1);
                    self.read_words(run.get(..1).unwrap_or_default(), nested);
                }
            }
            "for-each-repo" => {
                for at in 0..words.len().min(4) {
                    let behind = words.get(at..).unwrap_or_default();
                    self.runs(&[&["git".to_owned()], behind].concat(), nested + 1);
                }
            }
            "config" => {
                for pair in words.windows(2) {
                    if let [name, value] = pair {
                        self.git_setting(name, value, &[], nested);
                    }
                }
            }
            "clone" | "init" => {
                for (at, word) in words.iter().enumerate() {
                    let next = words.get(at + 1).map(String::as_str);
                    let setting = match word.as_str() {
                        "-c" | "--config" => next,
                        word => word.strip_prefix("--config=").or_else(|| word.strip_prefix("-c")),
                    };
                    if let Some((name, value)) = setting.and_then(|it| it.split_once('=')) {
                        self.git_setting(name, value, &[], nested);
                    }
                }
            }
            _ => {}
        }
        for script in scripts(subcommand, words) {
            self.read_words(std::slice::from_ref(&script), nested);
        }
    }

    /// A setting that is given to git, for one command or for good.
    fn git_setting(&mut self, name: &str, value: &str, behind: &[String], nested: usize) {
        let name = name.to_ascii_lowercase();
        let value = value.to_owned();
        if name.starts_with("alias.") {
            match value.strip_prefix('!') {
                Some(script) => self.read_words(&[script.to_owned()], nested),
                None => {
                    let git = ["git"].into_iter().chain(value.split_whitespace());
                    let words: Vec<_> = git.map(str::to_owned).collect();
                    self.runs(&[words.as_slice(), behind].concat(), nested + 1);
                }
            }
        } else if COMMANDS.iter().any(|it| name.starts_with(it) || name.ends_with(it)) {
            self.read_words(&[value.trim_start_matches('!').to_owned()], nested);
        }
    }
}

/// The commands in the options of a subcommand.
fn scripts(subcommand: &str, words: &[String]) -> Vec<String> {
    let letters = LETTERS.iter().find(|(name, ..)| *name == subcommand);
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = || words.get(at + 1).cloned();
        if let Some((option, value)) = word.split_once('=')
            && OPTIONS.contains(&option)
        {
            found.push(value.to_owned());
        } else if OPTIONS.contains(&word.as_str()) {
            found.extend(next());
        } else if let Some((_, values, runs)) = letters
            && word.starts_with('-')
            && !word.starts_with("--")
        {
            let end = word.find(|c| values.contains(c) || c == *runs);
            let behind = end.and_then(|end| word.get(end..)).and_then(|it| it.strip_prefix(*runs));
            match behind {
                Some("") => found.extend(next()),
                Some(script) => found.push(script.to_owned()),
                None => {}
            }
        }
    }
    found
}

/// Whether an option of git changes what it runs. A rule that allows git does not allow that.
pub(super) fn sets_what_runs(option: &str) -> bool {
    ["-c", "--config-env", "--exec-path"].iter().any(|it| option.starts_with(it))
}

/// A call of git without the options in front of its subcommand.
pub(super) struct GitCall<'a> {
    pub(super) subcommand: &'a str,
    pub(super) words: &'a [String],
    /// Where `-C` and `--work-tree` say that it runs.
    directories: Vec<&'a str>,
}

impl GitCall<'_> {
    /// A file that it names, here and in the directories it runs in.
    pub(super) fn located(&self, name: &str) -> Vec<String> {
        let there = self.directories.iter().map(|directory| format!("{directory}/{name}"));
        there.chain([name.to_owned()]).collect()
    }
}

/// What a call of git runs, if it names a subcommand.
pub(super) fn call(rest: &[String]) -> Option<GitCall<'_>> {
    let (mut words, mut directories) = (rest, Vec::new());
    loop {
        let (first, behind) = words.split_first()?;
        if !first.starts_with('-') {
            return Some(GitCall { subcommand: first, words: behind, directories });
        }
        let (option, glued) = first.split_once('=').unwrap_or((first, ""));
        let takes_next = glued.is_empty() && takes_value(first);
        if matches!(option, "-C" | "--work-tree") {
            let next = behind.first().map_or("", String::as_str);
            directories.push(if takes_next { next } else { glued });
        }
        words = if takes_next { behind.get(1..).unwrap_or_default() } else { behind };
    }
}

/// Options of git that the next word belongs to.
pub(super) fn takes_value(option: &str) -> bool {
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
