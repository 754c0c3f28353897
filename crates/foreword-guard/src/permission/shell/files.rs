//! The files whose content a command shows or copies, as far as its words name them.

use super::git;

/// Programs that print, copy, pack or send the files they are given.
const READERS: [&str; 105] = [
    "cat",
    "tac",
    "head",
    "tail",
    "less",
    "more",
    "most",
    "bat",
    "batcat",
    "nl",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "zcat",
    "zless",
    "rg",
    "ag",
    "ack",
    "sed",
    "gsed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "cut",
    "sort",
    "uniq",
    "wc",
    "od",
    "xxd",
    "hexdump",
    "hd",
    "base64",
    "base32",
    "basenc",
    "strings",
    "cp",
    "mv",
    "ln",
    "install",
    "dd",
    "tar",
    "bsdtar",
    "zip",
    "gzip",
    "gunzip",
    "bzip2",
    "bzcat",
    "xz",
    "xzcat",
    "zstd",
    "zstdcat",
    "7z",
    "cpio",
    "openssl",
    "gpg",
    "age",
    "diff",
    "sdiff",
    "cmp",
    "comm",
    "paste",
    "join",
    "fold",
    "fmt",
    "pr",
    "rev",
    "split",
    "csplit",
    "shuf",
    "column",
    "expand",
    "unexpand",
    "iconv",
    "jq",
    "yq",
    "xmllint",
    "vim",
    "vi",
    "nvim",
    "view",
    "nano",
    "emacs",
    "ed",
    "ex",
    "source",
    ".",
    "curl",
    "wget",
    "scp",
    "rsync",
    "sftp",
    "nc",
    "ncat",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "b2sum",
    "uuencode",
    "xclip",
    "pandoc",
    "look",
];
/// Subcommands of git that show files.
const GIT_READERS: [&str; 12] = [
    "show",
    "diff",
    "difftool",
    "blame",
    "annotate",
    "grep",
    "cat-file",
    "archive",
    "hash-object",
    "format-patch",
    "whatchanged",
    "range-diff",
];
/// Options that make `git log` and `git stash` show files.
const GIT_PATCH_OPTIONS: [&str; 7] = ["-p", "-u", "--patch", "-c", "--cc", "-L", "--full-diff"];
const SHELLS_READ: [&str; 6] = ["bash", "sh", "dash", "zsh", "ksh", "fish"];

/// The words that may be files which a command reads.
pub(super) fn read_by(name: &str, rest: &[String]) -> Vec<String> {
    if name == "git" {
        return read_by_git(rest);
    }
    // A shell in verbose mode prints its script, and errors quote lines of it.
    if !READERS.contains(&name) && !SHELLS_READ.contains(&name) {
        return Vec::new();
    }
    rest.iter().flat_map(|word| names_in(word)).collect()
}

fn read_by_git(rest: &[String]) -> Vec<String> {
    let Some(call) = git::call(rest) else { return Vec::new() };
    let shows_patch = |word: &String| {
        GIT_PATCH_OPTIONS.iter().any(|option| word.starts_with(option)) && !word.starts_with("--co")
    };
    let reads = match call.subcommand {
        "log" | "stash" => call.words.iter().any(shows_patch),
        subcommand => GIT_READERS.contains(&subcommand),
    };
    let names = call.words.iter().filter(|_| reads).flat_map(|word| names_in(word));
    names.flat_map(|name| call.located(&name)).collect()
}

/// A word, and the file that an option or a part of it names: `-f.env`, `--file=.env`, `if=.env`,
/// `@.env`, `HEAD:.env`.
fn names_in(word: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    match word.strip_prefix('-') {
        Some(option) if !option.starts_with('-') => {
            add(option.get(1..).unwrap_or_default());
        }
        Some(_) => {}
        None => add(word),
    }
    for mark in ['=', '@', ':'] {
        for (at, _) in word.match_indices(mark).take(4) {
            add(word.get(at + 1..).unwrap_or_default().trim_start_matches('@'));
        }
    }
    names
}
