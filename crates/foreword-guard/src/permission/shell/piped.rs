//! The files that one command of a pipeline names for the next, such as `find docs | xargs rm`.

use super::git;

/// Places and names of a call of `find` that are looked at.
const MAX_SEARCHED: usize = 8;
/// Words of a command that are looked at as names of files.
const MAX_LISTED: usize = 64;

/// The files that a command prints the names of, as far as its words tell. Empty for one that prints what it
/// reads, or something else.
pub(super) fn listed_by(name: &str, rest: &[String]) -> Vec<String> {
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    let files: Vec<String> = match name {
        "find" | "fd" | "fdfind" => searched(rest),
        "ls" | "echo" | "printf" => operands().cloned().collect(),
        // Their first word is what they look for.
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            let is_given = rest.iter().any(|word| word.starts_with("-e") || word == "--files");
            operands().skip(usize::from(!is_given)).cloned().collect()
        }
        "git" => match git::call(rest).filter(|call| call.subcommand == "ls-files") {
            Some(call) => {
                let words = call.words.iter().filter(|word| !word.starts_with('-'));
                words.flat_map(|word| call.located(word)).collect()
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    files.into_iter().take(MAX_LISTED).collect()
}

/// The word that a call of `xargs` replaces, by its options.
pub(super) fn placeholder(options: &[String]) -> &str {
    let given = options.iter().enumerate().find_map(|(at, word)| match word.as_str() {
        "-I" | "-J" => options.get(at + 1).map(String::as_str),
        word => ["-I", "-J", "-i", "--replace="].iter().find_map(|it| word.strip_prefix(it)),
    });
    given.filter(|it| !it.is_empty()).unwrap_or("{}")
}

/// A command with a file where its placeholder stands, or at its end.
pub(super) fn with_each(words: &[String], placeholder: &str, file: &str) -> Vec<String> {
    if words.iter().any(|word| word.contains(placeholder)) {
        return words.iter().map(|word| word.replace(placeholder, file)).collect();
    }
    words.iter().cloned().chain([file.to_owned()]).collect()
}

/// The files that a call of `find` looks at, with wildcards: `docs/**/*.md`.
pub(super) fn searched(rest: &[String]) -> Vec<String> {
    let is_place = |word: &&String| !word.starts_with(['-', '(', '!']);
    let mut places: Vec<&str> = rest.iter().take_while(is_place).map(String::as_str).collect();
    if places.is_empty() {
        places.push(".");
    }
    let names = rest.windows(2).filter_map(|pair| match pair {
        [option, name] if matches!(option.as_str(), "-name" | "-iname") => Some(name.as_str()),
        _ => None,
    });
    let mut names: Vec<&str> = names.collect();
    if names.is_empty() || rest.iter().any(|word| matches!(word.as_str(), "!" | "-not")) {
        names = vec!["*"];
    }
    let of = |place: &str| match place.trim_end_matches('/') {
        "." => String::new(),
        place => format!("{place}/"),
    };
    let places = places.into_iter().take(MAX_SEARCHED).map(of);
    places
        .flat_map(|place| {
            let names = names.iter().take(MAX_SEARCHED);
            names.map(|name| format!("{place}*{name}")).collect::<Vec<_>>()
        })
        .collect()
}
