//! The files whose content a command shows or copies, and those it changes, as far as its words name them.

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
const GIT_READERS: [&str; 8] =
    ["show", "diff", "blame", "annotate", "grep", "cat-file", "archive", "hash-object"];
const SHELLS_READ: [&str; 6] = ["bash", "sh", "dash", "zsh", "ksh", "fish"];

/// The words that may be files which a command reads.
pub(super) fn read_by(name: &str, rest: &[String]) -> Vec<String> {
    let git = || {
        let subcommand = rest.iter().find(|word| !word.starts_with('-'));
        name == "git" && subcommand.is_some_and(|it| GIT_READERS.contains(&it.as_str()))
    };
    // A shell in verbose mode prints its script, and errors quote lines of it.
    if !READERS.contains(&name) && !SHELLS_READ.contains(&name) && !git() {
        return Vec::new();
    }
    rest.iter().flat_map(|word| names_in(word)).collect()
}

/// Programs that write, move or remove every file they are given.
const WRITERS: [&str; 13] = [
    "tee", "touch", "truncate", "rm", "unlink", "rmdir", "mkdir", "shred", "mv", "sponge", "gzip",
    "gunzip", "chmod",
];
/// Programs that write the last file they are given.
const COPIERS: [&str; 5] = ["cp", "install", "ln", "rsync", "scp"];
/// Options with the file or directory that is written.
const TARGET_OPTIONS: [&str; 8] = [
    "-t",
    "--target-directory",
    "-o",
    "--output",
    "-O",
    "--output-document",
    "--output-file",
    "-C",
];

/// The words that may be files which a command changes.
pub(super) fn written_by(name: &str, rest: &[String]) -> Vec<String> {
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    let in_place = |word: &String| {
        word.starts_with("--in-place") || (word.starts_with("-i") || word.starts_with("-pi"))
    };
    match name {
        name if WRITERS.contains(&name) => operands().cloned().collect(),
        name if COPIERS.contains(&name) => {
            operands().next_back().into_iter().cloned().chain(targets(rest)).collect()
        }
        "sed" | "gsed" | "perl" | "ruby" if rest.iter().any(in_place) => {
            operands().cloned().collect()
        }
        "dd" => rest.iter().filter_map(|it| it.strip_prefix("of=")).map(str::to_owned).collect(),
        "curl" | "wget" | "sort" | "tar" | "bsdtar" | "unzip" => targets(rest).collect(),
        _ => Vec::new(),
    }
}

/// The values of options that name what is written.
fn targets(rest: &[String]) -> impl Iterator<Item = String> + '_ {
    rest.iter().enumerate().filter_map(|(at, word)| {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        TARGET_OPTIONS.contains(&option).then(|| match value {
            "" => rest.get(at + 1).cloned().unwrap_or_default(),
            value => value.to_owned(),
        })
    })
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
