//! The files that a command writes, moves or removes, as far as its words name them.

use super::git;

/// Programs that write, move or remove every file they are given.
const WRITERS: [&str; 19] = [
    "tee", "touch", "truncate", "rm", "unlink", "rmdir", "mkdir", "shred", "mv", "sponge", "gzip",
    "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zip", "chmod", "chown",
];
/// Programs that write the last file they are given.
const COPIERS: [&str; 5] = ["cp", "install", "ln", "rsync", "scp"];
/// Subcommands of git that change the files they are given.
const GIT_WRITERS: [&str; 7] = ["rm", "mv", "checkout", "restore", "clean", "reset", "switch"];
/// Subcommands of git that change files which the command does not name.
const GIT_APPLIERS: [&str; 9] =
    ["apply", "am", "stash", "merge", "pull", "rebase", "cherry-pick", "revert", "read-tree"];
/// Long options with the file or directory that is written.
const TARGET_OPTIONS: [&str; 8] = [
    "--target-directory",
    "--output",
    "--output-document",
    "--output-file",
    "--output-dir",
    "--directory",
    "--directory-prefix",
    "--one-top-level",
];
/// Stands for files of the working directory that the command does not name.
const SOMETHING_HERE: &str = ".";

/// Short options of a program: those with a target, and those whose value is something else.
fn letters(program: &str) -> Option<(&'static str, &'static str)> {
    Some(match program {
        "cp" | "mv" | "ln" => ("t", "S"),
        "install" => ("t", "Sgmo"),
        "curl" => ("o", "HdXAbcDeEFhKmPQrtTuUwxyYzC"),
        "wget" => ("OPoa", "ietTwQUlARDIX"),
        "sort" => ("o", "ktST"),
        "tar" | "bsdtar" => ("C", "fTXbgHIKLNV"),
        "unzip" => ("d", "xP"),
        _ => return None,
    })
}

/// The words that may be files which a command changes.
pub(super) fn written_by(name: &str, rest: &[String]) -> Vec<String> {
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    let mut written = targets(name, rest);
    match name {
        "git" => written.extend(written_by_git(rest)),
        "sed" | "gsed" | "perl" | "ruby" | "gawk" | "awk" if edits_in_place(name, rest) => {
            written.extend(operands().cloned());
        }
        "dd" => {
            let files = rest.iter().filter_map(|it| it.strip_prefix("of="));
            written.extend(files.map(str::to_owned));
        }
        "tar" | "bsdtar" => written.extend(archive(rest, !written.is_empty())),
        "unzip" | "cpio" if written.is_empty() => written.push(SOMETHING_HERE.to_owned()),
        "patch" => {
            written.extend(operands().cloned());
            written.push(SOMETHING_HERE.to_owned());
        }
        name if WRITERS.contains(&name) => written.extend(operands().cloned()),
        name if COPIERS.contains(&name) => written.extend(operands().next_back().cloned()),
        _ => {}
    }
    written
}

fn written_by_git(rest: &[String]) -> Vec<String> {
    let Some(call) = git::call(rest) else { return Vec::new() };
    if GIT_APPLIERS.contains(&call.subcommand) {
        return call.located(SOMETHING_HERE);
    }
    let words = call.words.iter().filter(|word| !word.starts_with('-'));
    let words = words.filter(|_| GIT_WRITERS.contains(&call.subcommand));
    words.flat_map(|word| call.located(word)).collect()
}

/// The directories that a command removes or overwrites with all that is in them.
pub(super) fn erased_by(name: &str, rest: &[String]) -> Vec<String> {
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    match name {
        "git" => erased_by_git(rest),
        "rm" | "chmod" | "chown" | "chgrp" if has_flag(rest, &['r', 'R'], "--recursive") => {
            operands().cloned().collect()
        }
        "rsync" if rest.iter().any(|word| word.starts_with("--del")) => {
            operands().next_back().cloned().into_iter().collect()
        }
        "mv" => {
            let targets = targets(name, rest);
            let last = operands().next_back().filter(|_| targets.is_empty());
            let is_source = |word: &&String| !targets.contains(word) && Some(*word) != last;
            operands().filter(is_source).cloned().collect()
        }
        _ => Vec::new(),
    }
}

fn erased_by_git(rest: &[String]) -> Vec<String> {
    let Some(call) = git::call(rest) else { return Vec::new() };
    let mut before = "";
    let mut places: Vec<&str> = Vec::new();
    for word in call.words {
        let excludes = before == "--exclude" || (is_bundle(before) && before.ends_with('e'));
        let is_excluded = call.subcommand == "clean" && excludes;
        if !word.starts_with('-') && !is_excluded {
            places.push(word);
        }
        before = word;
    }
    match call.subcommand {
        "clean" if has_flag(call.words, &['n'], "--dry-run") => places.clear(),
        "clean" if places.is_empty() => places.push(SOMETHING_HERE),
        "reset" if call.words.iter().any(|word| word == "--hard") => places = vec![SOMETHING_HERE],
        "clean" | "checkout" | "restore" | "rm" => {}
        _ => places.clear(),
    }
    let located = |place| {
        let mut places = call.located(place);
        // With one `-C`, that is where it runs; a reset is about the whole repository.
        if places.len() == 2 && call.subcommand != "reset" {
            places.truncate(1);
        }
        places
    };
    places.into_iter().flat_map(located).collect()
}

fn is_bundle(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--")
}

/// Whether an option is given, among other letters or shortened. What follows an `e` is a value.
fn has_flag(words: &[String], letters: &[char], long: &str) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| {
        let bundle = word.split('e').next().unwrap_or_default();
        (is_bundle(word) && bundle.contains(letters))
            || (word.len() > 2 && long.starts_with(word.as_str()))
    })
}

/// Whether `sed -Ei`, `perl -0pi` and their like write to the files they read.
fn edits_in_place(program: &str, rest: &[String]) -> bool {
    if program.ends_with("awk") {
        return rest.iter().any(|word| word.ends_with("inplace"));
    }
    // What follows one of these letters is a script, a file or a module.
    let values = if program.ends_with("sed") { "efl" } else { "eEfFMIrW" };
    rest.iter().any(|word| {
        let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
        let flags = letters.map(|it| it.split(|c| values.contains(c)).next().unwrap_or_default());
        word.starts_with("--in-place") || flags.is_some_and(|flags| flags.contains('i'))
    })
}

/// What `tar` writes: its archive, or the files it unpacks if no directory is named.
fn archive(rest: &[String], has_directory: bool) -> Option<String> {
    let mode = rest.first().map_or("", String::as_str);
    let is_long = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let mut bundles = rest.iter().enumerate().filter(|(at, word)| {
        let is_option = word.starts_with('-') && !word.starts_with("--");
        is_option || (*at == 0 && !word.starts_with('-'))
    });
    let packs = is_long(&["--create", "--append", "--update"])
        || bundles.clone().any(|(_, word)| word.contains(['c', 'r', 'u']));
    let unpacks = is_long(&["--extract", "--get"]) || mode.trim_start_matches('-').contains('x');
    if packs && !unpacks {
        let (at, word) = bundles.find(|(_, word)| word.contains('f'))?;
        let glued = word.split_once('f').map_or("", |(_, file)| file);
        // In `-cfz`, without a blank, the file is called `z`; `tar cfz` takes the next word.
        let file = if glued.is_empty() || at == 0 { rest.get(at + 1) } else { None };
        return file.cloned().or_else(|| Some(glued.to_owned()));
    }
    (unpacks && !has_directory).then(|| SOMETHING_HERE.to_owned())
}

/// The values of options that name what is written: `-t docs`, `-rtdocs`, `--output=docs/a`.
fn targets(program: &str, rest: &[String]) -> Vec<String> {
    let Some((targets, values)) = letters(program) else { return Vec::new() };
    let mut found = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        let next = || rest.get(at + 1).cloned().unwrap_or_default();
        if word.starts_with("--") {
            let (option, value) = word.split_once('=').unwrap_or((word, ""));
            if TARGET_OPTIONS.contains(&option) {
                found.push(if value.is_empty() { next() } else { value.to_owned() });
            }
            continue;
        }
        let Some(bundle) = word.strip_prefix('-') else { continue };
        let Some((letter_at, letter)) =
            bundle.char_indices().find(|(_, c)| targets.contains(*c) || values.contains(*c))
        else {
            continue;
        };
        if targets.contains(letter) {
            let glued = bundle.get(letter_at + letter.len_utf8()..).unwrap_or_default();
            found.push(if glued.is_empty() { next() } else { glued.to_owned() });
        }
    }
    found
}
