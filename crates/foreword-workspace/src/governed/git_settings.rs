//! What git's settings resolve to: the files that git would run, or read to learn what to run.
//!
//! Settings name programs in many keys. Each key that can hold a command is in [`COMMANDS`]; of its
//! value every word that is a path inside the workspace counts. Conditions of `includeIf` are not
//! evaluated: whatever may be included is governed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::WorkspaceError;
use crate::tree::{Opened, fault};

/// Git itself reads settings of any size; nobody writes this much by hand.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// Files of settings of one repository, included ones too.
const MAX_FILES: usize = 200;
/// Paths that the settings of one repository may name.
const MAX_NAMED: usize = 1000;

/// Keys that hold a command, as `section.key`; the names in between (`filter.NAME.clean`) are free.
const COMMANDS: [&str; 42] = [
    "browser.cmd",
    "browser.path",
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    "core.pager",
    "core.sshcommand",
    "credential.helper",
    "diff.command",
    "diff.external",
    "diff.textconv",
    "difftool.cmd",
    "difftool.path",
    "filter.clean",
    "filter.process",
    "filter.smudge",
    "gpg.defaultkeycommand",
    "gpg.program",
    "guitool.cmd",
    "hook.command",
    "imap.tunnel",
    "instaweb.httpd",
    "interactive.difffilter",
    "man.cmd",
    "man.path",
    "merge.driver",
    "mergetool.cmd",
    "mergetool.path",
    "pager.",
    "receive.procreceiverefs",
    "remote.receivepack",
    "remote.uploadpack",
    "remote.vcs",
    "sendemail.",
    "sequence.editor",
    "submodule.update",
    "tar.command",
    "trailer.cmd",
    "trailer.command",
    "uploadpack.packobjectshook",
];

/// Files that hold no command themselves and say where git looks for more.
const FILES: [&str; 2] = ["core.attributesfile", "lfs.customtransfer"];

/// The person's own git settings, which also count in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonalGit {
    /// The person's home directory, which `~/` stands for.
    pub home: Option<PathBuf>,
    /// Files of settings that apply to every repository.
    pub files: Vec<PathBuf>,
}

impl PersonalGit {
    /// The files git reads for a person: `.gitconfig` in the home directory, `git/config` in the
    /// configuration directory (`$XDG_CONFIG_HOME`, by default `.config` in the home directory), the one
    /// that `$GIT_CONFIG_GLOBAL` names, and those of the system.
    #[must_use]
    pub fn of(home: Option<&Path>, config_home: Option<&Path>, global: Option<&Path>) -> Self {
        let mut files =
            vec![PathBuf::from("/etc/gitconfig"), PathBuf::from("/usr/local/etc/gitconfig")];
        files.extend(home.map(|home| home.join(".gitconfig")));
        let config_home = config_home.map(Path::to_path_buf).filter(|path| path.is_absolute());
        let config_home = config_home.or_else(|| home.map(|home| home.join(".config")));
        files.extend(config_home.map(|directory| directory.join("git/config")));
        files.extend(global.map(Path::to_path_buf));
        Self { home: home.map(Path::to_path_buf), files }
    }

    /// A path as git's settings write one: `~/` is the home directory, and relative ones start at
    /// `directory`.
    fn path(&self, written: &str, directory: &Path) -> Option<PathBuf> {
        match written.strip_prefix("~/") {
            Some(below) => self.home.as_ref().map(|home| home.join(below)),
            None if written.is_empty() => None,
            None => Some(directory.join(written)),
        }
    }
}

/// What the settings of one repository name, as absolute paths that need not exist.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Files that are run or included.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Directories of hooks.
    pub(crate) hooks: BTreeSet<PathBuf>,
    /// Settings that could not be read.
    pub(crate) faults: Vec<WorkspaceError>,
}

impl Named {
    /// Reads the settings in `files` and those they include, for a repository whose files are in
    /// `work_tree`.
    pub(crate) fn by(files: Vec<PathBuf>, work_tree: &Path, person: &PersonalGit) -> Self {
        let mut named = Self::default();
        let mut seen = BTreeSet::new();
        let mut files = files;
        files.extend(person.files.iter().cloned());
        while let Some(file) = files.pop() {
            if seen.len() >= MAX_FILES || named.files.len() + named.hooks.len() >= MAX_NAMED {
                let path = file.display().to_string();
                named.faults.push(WorkspaceError::TooManyEntries { path, limit: MAX_FILES });
                break;
            }
            if !seen.insert(file.clone()) {
                continue;
            }
            match read(&file) {
                Ok(settings) => {
                    for setting in settings {
                        files.extend(named.take(&setting, &file, work_tree, person));
                    }
                }
                Err(fault) => named.faults.push(fault),
            }
        }
        named
    }

    /// Takes in what a setting names; gives the file it includes.
    fn take(
        &mut self,
        setting: &Setting,
        file: &Path,
        work_tree: &Path,
        person: &PersonalGit,
    ) -> Option<PathBuf> {
        let value = setting.value.as_str();
        let (section, key) = (setting.section.as_str(), setting.key.as_str());
        if matches!(section, "include" | "includeif") && key == "path" {
            let included = person.path(value, file.parent()?)?;
            self.files.insert(included.clone());
            return Some(included);
        }
        let full = format!("{section}.{key}");
        if full == "core.hookspath" {
            self.hooks.extend(person.path(value, work_tree));
        } else if FILES.contains(&full.as_str()) {
            self.files.extend(person.path(value, work_tree));
        } else if is_command(section, &full, value) {
            for word in words(value).into_iter().filter(|word| word.contains('/')) {
                self.files.extend(person.path(&word, work_tree));
            }
            // Without a slash a word is a program on the path, or an argument that is a file here.
            let beside = words(value).into_iter().filter(|word| !word.contains('/'));
            self.files
                .extend(beside.map(|word| work_tree.join(word)).filter(|path| path.is_file()));
        }
        None
    }
}

fn is_command(section: &str, full: &str, value: &str) -> bool {
    match section {
        // The others are names of git's own commands.
        "alias" => value.starts_with('!'),
        _ => {
            COMMANDS.contains(&full)
                || COMMANDS.iter().any(|known| known.strip_suffix('.') == Some(section))
        }
    }
}

/// The words of a command, as a shell would see most of them: split at blanks and operators, and once
/// more with blanks inside quotes kept, without quotes and without the `!` of an alias.
fn words(command: &str) -> Vec<String> {
    let is_break = |c: char| c.is_whitespace() || "\"'`$(){};|&<>=!,".contains(c);
    let plain = command.split(is_break).filter(|word| !word.is_empty()).map(str::to_owned);
    let mut words: Vec<String> = plain.collect();
    let quoted = quoted_words(command).into_iter().filter(|word| word.contains(is_break));
    words.extend(quoted);
    words
}

/// The words of a command with quotes and backslashes resolved, split at blanks and `;|&<>` only.
fn quoted_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        let is_break = c.is_whitespace() || ";|&<>()".contains(c);
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if is_break => words.push(String::new()),
            (quote, c) => {
                let c = if c == '\\' && quote != Some('\'') { rest.next() } else { Some(c) };
                if let (Some(word), Some(c)) = (words.last_mut(), c) {
                    word.push(c);
                }
            }
        }
    }
    words.iter().map(|word| word.trim_start_matches('!').to_owned()).collect()
}

/// One `key = value` of a file of settings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The section in lower case, without its subsection.
    pub(crate) section: String,
    /// The subsection, as it is written.
    pub(crate) subsection: String,
    /// The key in lower case.
    pub(crate) key: String,
    /// The value, quotes and escapes resolved; empty if there is none.
    pub(crate) value: String,
}

/// Reads a file of settings; one that does not exist has none. The person's own settings may be links.
pub(crate) fn read(file: &Path) -> Result<Vec<Setting>, WorkspaceError> {
    use rustix::io::Errno;
    let shown = file.display().to_string();
    match Opened::named(file) {
        Ok(opened) => Ok(parse(&opened.read(&shown, MAX_SETTINGS_BYTES)?)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(Vec::new()),
        Err(error) => Err(fault(shown, error)),
    }
}

/// Parses settings as git does, and passes over lines at which git would stop.
pub(crate) fn parse(bytes: &[u8]) -> Vec<Setting> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut settings = Vec::new();
    let (mut section, mut subsection) = (String::new(), String::new());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' | ';' => while rest.next_if(|c| *c != '\n').is_some() {},
            '[' => {
                let mut name = String::new();
                while let Some(c) = rest.next_if(|c| !matches!(c, ']' | '"' | '\n')) {
                    name.push(c);
                }
                subsection.clear();
                if rest.next_if_eq(&'"').is_some() {
                    while let Some(c) = rest.next_if(|c| !matches!(c, '"' | '\n')) {
                        let c = if c == '\\' { rest.next().unwrap_or(c) } else { c };
                        subsection.push(c);
                    }
                    rest.next_if_eq(&'"');
                }
                while rest.next_if(|c| !matches!(c, ']' | '\n')).is_some() {}
                rest.next_if_eq(&']');
                let name = name.trim().to_lowercase();
                section = match name.split_once('.') {
                    Some((outer, inner)) => {
                        inner.clone_into(&mut subsection);
                        outer.to_owned()
                    }
                    None => name,
                };
            }
            c if c.is_alphanumeric() => {
                let mut key = String::from(c);
                while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '-') {
                    key.push(c);
                }
                while rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                let value =
                    if rest.next_if_eq(&'=').is_some() { value(&mut rest) } else { String::new() };
                let (section, subsection) = (section.clone(), subsection.clone());
                settings.push(Setting { section, subsection, key: key.to_lowercase(), value });
            }
            _ => {}
        }
    }
    settings
}

/// The value after `=`, to the end of its line or of its last continued one.
fn value(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut value = String::new();
    // Blanks at the end count only inside quotes.
    let (mut quoted, mut kept) = (false, 0);
    while let Some(c) = rest.next_if(|c| *c != '\n') {
        match c {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => {
                while rest.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '\\' => match rest.next() {
                Some('\n') | None => continue,
                Some('\r') if rest.next_if_eq(&'\n').is_some() => continue,
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('b') => {
                    value.pop();
                }
                Some(other) => value.push(other),
            },
            c if c.is_whitespace() && !quoted => {
                if !value.is_empty() {
                    value.push(c);
                }
                continue;
            }
            c => value.push(c),
        }
        kept = value.len();
    }
    value.truncate(kept.min(value.len()));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let settings = parse(text.as_bytes());
        let name = |s: &Setting| match s.subsection.as_str() {
            "" => format!("{}.{}", s.section, s.key),
            sub => format!("{}.{sub}.{}", s.section, s.key),
        };
        settings.iter().map(|s| (name(s), s.value.clone())).collect()
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "\u{feff}# c\n[core] hooksPath = .husky ; why\n\tbare\n[Filter \"a\\\"B\"]\n\
                    clean = \"sh  x.sh \" # c\n smudge = a \\\n  b\t\n[diff.Old]\ncommand=\\\"q\\\"\n\
                    nonsense ~~~\n[include]\r\n\tpath = ../x\r\n";
        let expected = [
            ("core.hookspath", ".husky"),
            ("core.bare", ""),
            ("filter.a\"B.clean", "sh  x.sh "),
            ("filter.a\"B.smudge", "a   b"),
            ("diff.old.command", "\"q\""),
            ("diff.old.nonsense", ""),
            ("include.path", "../x"),
        ];
        assert_eq!(pairs(text), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn git_agrees() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        let text = "[a]\nk = x \"y  z \" w ; c\n[b \"S.s\"]\nk=1\\\n2\n[c] k = \"a#b\"#c\nempty =\n\
                    [d]\n\tk = a\\tb\\\\\n";
        std::fs::write(&file, text).unwrap();
        let listed = std::process::Command::new("git")
            .args(["config", "--null", "--list", "--file"])
            .arg(&file)
            .output()
            .unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let theirs: Vec<(String, String)> = listed
            .split_terminator('\0')
            .map(|pair| pair.split_once('\n').unwrap_or((pair, "")))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        assert_eq!(pairs(text), theirs);
    }

    #[test]
    fn what_settings_name_is_found_through_includes() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for (path, text) in [
            (
                "w/.git/config",
                "[core]\nhooksPath = .husky\npager = less\n[include]\npath = ../shared\n\
                 [includeIf \"gitdir:~/\"]\npath = ~/more\n",
            ),
            (
                "w/shared",
                "[filter \"x\"]\nclean = sh ./tools/clean.sh %f\n[include]\npath = shared\n",
            ),
            ("home/more", "[alias]\nst = !scripts/st.sh && status\nplain = log -p\n"),
            (
                "home/.gitconfig",
                "[core]\nfsmonitor = .monitor\nsshCommand = \"ssh -F 'cfg/ssh'\"\n",
            ),
            ("w/.monitor", ""),
        ] {
            std::fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            std::fs::write(at(path), text).unwrap();
        }
        let person = PersonalGit { home: Some(at("home")), files: vec![at("home/.gitconfig")] };
        let named = Named::by(vec![at("w/.git/config")], &at("w"), &person);
        let below = |paths: &BTreeSet<PathBuf>| -> Vec<String> {
            let below = paths.iter().map(|path| path.strip_prefix(dir.path()).unwrap());
            below.map(|path| path.display().to_string()).collect()
        };
        assert_eq!(below(&named.hooks), ["w/.husky"]);
        assert_eq!(
            below(&named.files),
            [
                "home/more",
                "w/.git/../shared",
                "w/.monitor",
                "w/cfg/ssh",
                "w/scripts/st.sh",
                "w/./tools/clean.sh",
            ]
        );
        assert!(named.faults.is_empty());
    }

    #[test]
    fn words_of_a_command_may_hold_blanks_in_quotes() {
        for command in
            ["sh 'a b/c.sh'", "sh \"a b/c.sh\" x", "sh a\\ b/c.sh;x", "!f() { 'a b/c.sh'; }; f"]
        {
            assert!(
                words(command).contains(&"a b/c.sh".to_owned()),
                "{command}: {:?}",
                words(command)
            );
        }
        assert_eq!(words("sh tools/x.sh %f"), ["sh", "tools/x.sh", "%f"]);
    }

    #[test]
    fn settings_that_are_a_pipe_or_huge_are_a_fault_with_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("config");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let huge = dir.path().join("huge");
        std::fs::File::create(&huge).unwrap().set_len(3 << 30).unwrap();
        let named = Named::by(vec![pipe, huge], dir.path(), &PersonalGit::default());
        let faults: Vec<_> = named.faults.iter().map(ToString::to_string).collect();
        assert!(faults[0].contains("huge: is 3221225472 bytes long"), "{faults:?}");
        assert!(faults[1].contains("config: is not a regular file"), "{faults:?}");
    }
}
