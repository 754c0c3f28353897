//! Programs that run another one, which their arguments name, and where in these it begins.

use std::collections::BTreeSet;

use super::words::is_unknown;

/// How a program reads the words in front of the command it runs.
pub(super) struct Wrapper {
    name: &'static str,
    /// Letters of options without a value, and with one.
    flags: &'static str,
    values: &'static str,
    /// Words in front of the command that are no options, such as the seconds of `timeout`.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    operands: usize,
) -> Wrapper {
    Wrapper { name, flags, values, operands }
}

/// An option that is not listed is read with and without a value.
const WRAPPERS: [Wrapper; 75] = [
    wrapper("sudo", "AbBEeHiKklnPSsVvN", "CDghpRrTtUu", 0),
    wrapper("doas", "Lns", "aCu", 0),
    wrapper("pkexec", "", "", 0),
    wrapper("run0", "", "", 0),
    wrapper("env", "i0v", "uCSa", 0),
    wrapper("command", "pvV", "", 0),
    wrapper("builtin", "", "", 0),
    wrapper("exec", "cl", "a", 0),
    wrapper("coproc", "", "", 0),
    wrapper("nohup", "", "", 0),
    wrapper("nice", "0123456789", "n", 0),
    wrapper("ionice", "t", "cnpPu", 0),
    wrapper("chrt", "abfiorRmpv", "DPT", 1),
    wrapper("time", "apqvVlh", "fo", 0),
    wrapper("gtime", "apqvV", "fo", 0),
    wrapper("timeout", "fpv", "ks", 1),
    wrapper("gtimeout", "fpv", "ks", 1),
    wrapper("stdbuf", "", "ioe", 0),
    wrapper("unbuffer", "p", "", 0),
    wrapper("setsid", "cfw", "", 0),
    wrapper("setpriv", "d", "", 0),
    wrapper("busybox", "", "", 0),
    wrapper("toybox", "", "", 0),
    wrapper("unshare", "cfimnprTuUC", "GRSw", 0),
    wrapper("nsenter", "aCeFmiunprTUwW", "GSt", 0),
    wrapper("chroot", "", "", 1),
    wrapper("proot", "0", "bkqrRSvwmi", 0),
    wrapper("fakechroot", "s", "bce", 0),
    wrapper("fakeroot", "uhv", "lsbif", 0),
    wrapper("faketime", "mf", "", 1),
    wrapper("firejail", "", "", 0),
    wrapper("bwrap", "", "", 0),
    wrapper("systemd-run", "dGPqrSt", "EHMpu", 0),
    wrapper("systemd-inhibit", "", "", 0),
    wrapper("dbus-run-session", "", "", 0),
    wrapper("dbus-launch", "", "", 0),
    wrapper("xvfb-run", "alh", "efnpsw", 0),
    wrapper("caffeinate", "dimsu", "tw", 0),
    wrapper("arch", "", "", 0),
    wrapper("setarch", "BFILRSTXZv3", "p", 1),
    wrapper("linux32", "BFILRSTXZv3", "p", 0),
    wrapper("linux64", "BFILRSTXZv3", "p", 0),
    wrapper("prlimit", "", "op", 0),
    wrapper("cpulimit", "bfiklmqrsvz", "cep", 0),
    wrapper("flock", "Fenosux", "wE", 1),
    wrapper("ssh-agent", "cDdks", "aEOPt", 0),
    wrapper("strace", "cCdfFhiknqrtTvVwyYzZ", "abeEIoOpPsSuUX", 0),
    wrapper("ltrace", "bcCfhiLrStTV", "aAdeFlnopsuwx", 0),
    wrapper("valgrind", "dhqv", "", 0),
    wrapper("gdb", "qn", "", 0),
    wrapper("rlwrap", "acirRvNnA", "bCDefgHlmMOpPqsStzw", 0),
    wrapper("entr", "acdnprsxz", "", 0),
    wrapper("taskset", "acp", "", 1),
    wrapper("numactl", "aHlsr", "CimNpP", 0),
    wrapper("chronic", "ev", "", 0),
    wrapper("npx", "yq", "pw", 0),
    wrapper("bunx", "", "p", 0),
    wrapper("pnpx", "", "p", 0),
    wrapper("uvx", "qvn", "pwcfi", 0),
    wrapper("pipx", "qv", "", 0),
    wrapper("torsocks", "diqi", "aPpu", 0),
    wrapper("torify", "qv", "", 0),
    wrapper("proxychains", "q", "f", 0),
    wrapper("proxychains4", "q", "f", 0),
    wrapper("dotenv", "", "efpv", 0),
    wrapper("dotenvx", "q", "ef", 0),
    wrapper("cross-env", "", "", 0),
    wrapper("watchexec", "cnprwqvjN", "aefiosWE", 0),
    wrapper("nodemon", "qVLCI", "ewxid", 0),
    wrapper("reflex", "sv", "dgrGR", 0),
    wrapper("direnv", "", "", 0),
    wrapper("tini", "gsvwl", "ep", 0),
    wrapper("dumb-init", "cv", "r", 0),
    wrapper("xargs", "0oprtxei", "aEIJLnPRsSd", 0),
    wrapper("parallel", "0kmqtuvXx", "aCdEIjLnNPsS", 0),
];

/// What follows the subcommand of a runner, such as `uv run`.
const RUNNER: Wrapper = wrapper("", "", "", 0);

/// Programs that run another one with one of their subcommands, and these.
const RUNNERS: [(&str, &[&str]); 17] = [
    ("uv", &["run"]),
    ("uv", &["tool"]),
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
    ("perf", &["stat", "record", "trace"]),
    ("dotenvx", &["run"]),
];

/// Options whose value is a script for a shell, by program.
const SCRIPTS: [(&str, char, &[&str]); 14] = [
    ("su", 'c', &["--command", "--session-command"]),
    ("runuser", 'c', &["--command", "--session-command"]),
    ("sg", 'c', &[]),
    ("flock", 'c', &["--command"]),
    ("script", 'c', &["--command"]),
    ("npx", 'c', &["--call"]),
    ("npm", 'c', &["--call"]),
    ("pnpx", 'c', &["--shell-mode"]),
    ("nix-shell", ' ', &["--run", "--command"]),
    ("nodemon", 'x', &["--exec"]),
    ("hyperfine", 'p', &["--prepare", "--setup", "--cleanup", "--conclude"]),
    ("rg", ' ', &["--pre", "--hostname-bin"]),
    ("sort", ' ', &["--compress-program"]),
    ("tar", 'I', &["--to-command", "--use-compress-program", "--info-script", "--rsh-command"]),
];

/// Options that have more than one value.
const SEVERAL_VALUES: [(&str, &str, usize); 13] = [
    ("bwrap", "--bind", 2),
    ("bwrap", "--bind-try", 2),
    ("bwrap", "--ro-bind", 2),
    ("bwrap", "--ro-bind-try", 2),
    ("bwrap", "--dev-bind", 2),
    ("bwrap", "--dev-bind-try", 2),
    ("bwrap", "--bind-data", 2),
    ("bwrap", "--ro-bind-data", 2),
    ("bwrap", "--symlink", 2),
    ("bwrap", "--setenv", 2),
    ("bwrap", "--file", 2),
    ("bwrap", "--chmod", 2),
    ("bwrap", "--overlay", 3),
];

/// How far into its words a command is looked for.
pub(super) const MAX_WORDS: usize = 500;

/// The wrapper of this name.
pub(super) fn named(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|it| it.name == name)
}

/// Whether a program runs others that its arguments name.
pub(super) fn runs_others(name: &str) -> bool {
    named(name).is_some()
        || RUNNERS.iter().any(|(known, _)| *known == name)
        || SCRIPTS.iter().any(|(known, ..)| *known == name)
        || matches!(name, "find" | "fd" | "fdfind" | "watch")
}

/// Where commands may begin behind the subcommand of a runner.
pub(super) fn runner_starts(name: &str, rest: &[String]) -> BTreeSet<usize> {
    let is_run =
        |word: &str| RUNNERS.iter().any(|(known, runs)| *known == name && runs.contains(&word));
    let Some(at) = rest.iter().position(|word| is_run(word)) else { return BTreeSet::new() };
    let behind = rest.get(at + 1..).unwrap_or_default();
    // `uv tool run`, `direnv exec DIR`.
    let more = match (name, behind.first().map(String::as_str)) {
        ("uv", Some("run")) | ("direnv", Some(_)) => 1,
        _ => 0,
    };
    let behind = behind.get(more..).unwrap_or_default();
    RUNNER.starts(behind).into_iter().map(|start| start + at + 1 + more).collect()
}

/// The scripts for a shell in the options of a program.
pub(super) fn scripts(name: &str, rest: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (_, letter, longs) in SCRIPTS.iter().filter(|(known, ..)| *known == name) {
        for (at, word) in rest.iter().enumerate() {
            let next = || rest.get(at + 1).cloned();
            if let Some((long, value)) = word.split_once('=')
                && longs.contains(&long)
            {
                found.push(value.to_owned());
            } else if longs.contains(&word.as_str()) {
                found.extend(next());
            } else if word.starts_with('-')
                && !word.starts_with("--")
                && let Some((_, value)) = word.split_once(*letter)
            {
                found.extend(if value.is_empty() { next() } else { Some(value.to_owned()) });
            }
        }
    }
    found
}

impl Wrapper {
    /// Where the command of a wrapper may begin. There are several places if an option is not listed.
    pub(super) fn starts(&self, rest: &[String]) -> BTreeSet<usize> {
        let mut starts = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut waiting = vec![(0, self.operands, false)];
        while let Some(state) = waiting.pop() {
            let (at, operands, is_literal) = state;
            let Some(word) = rest.get(at).filter(|_| at < MAX_WORDS && seen.insert(state)) else {
                continue;
            };
            if !is_literal && word == "--" {
                waiting.push((at + 1, operands, true));
            } else if !is_literal && word.starts_with('-') && word.len() > 1 {
                let widths = self.option_widths(word);
                waiting.extend(widths.into_iter().map(|width| (at + width, operands, false)));
            } else if is_assignment(word) {
                waiting.push((at + 1, operands, is_literal));
            } else if operands > 0 {
                waiting.push((at + 1, operands - 1, is_literal));
            } else {
                starts.insert(at);
                if is_unknown(word) {
                    waiting.push((at + 1, 0, is_literal));
                }
            }
        }
        starts
    }

    /// How many words an option takes, with its value.
    fn option_widths(&self, word: &str) -> BTreeSet<usize> {
        if word.starts_with("--") {
            let several = SEVERAL_VALUES
                .iter()
                .find(|(name, option, _)| *name == self.name && *option == word)
                .map(|(_, _, values)| values + 1);
            return match several {
                Some(width) => BTreeSet::from([width]),
                None if word.contains('=') => BTreeSet::from([1]),
                None => BTreeSet::from([1, 2]),
            };
        }
        let mut widths = BTreeSet::new();
        let mut letters = word.chars().skip(1).peekable();
        while let Some(letter) = letters.next() {
            let is_last = letters.peek().is_none();
            if !self.flags.contains(letter) {
                widths.insert(if is_last { 2 } else { 1 });
            }
            if self.values.contains(letter) {
                return widths;
            }
        }
        widths.insert(1);
        widths
    }
}

/// Whether a word sets a variable, as `env` takes them.
pub(super) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
