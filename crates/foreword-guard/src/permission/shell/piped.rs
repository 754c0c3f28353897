//! The files that one command of a pipeline names for the next, such as `find docs | xargs rm`.

use super::{git, wrappers};

/// Places of a call of `find`, and names in it, that are looked at.
const MAX_PLACES: usize = 100;
const MAX_NAMES: usize = 8;
/// Tests of `find` for some of the files below a place.
const FILTERS: [&str; 8] =
    ["-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-maxdepth", "-empty"];
/// Names of files that are looked at. A command that lists more hides what it hands on.
pub(super) const MAX_LISTED: usize = 1000;
/// Programs in front of the one that lists, such as `sudo`, and ways to read their options.
const MAX_WRAPPERS: usize = 3;

/// The files that a command prints the names of, as far as its words tell. Empty for one that prints what it
/// reads, or something else.
pub(super) fn listed_by(words: &[String]) -> Vec<String> {
    listed(words, MAX_WRAPPERS)
}

fn limited(names: impl Iterator<Item = String>) -> Vec<String> {
    names.take(MAX_LISTED + 1).collect()
}

fn listed(words: &[String], wrappers_left: usize) -> Vec<String> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let name = program.rsplit('/').next().unwrap_or(program);
    let operands = || rest.iter().filter(|word| !word.starts_with('-'));
    match name {
        "find" | "fd" | "fdfind" => searched(rest),
        "ls" if operands().next().is_none() => vec!["*".to_owned()],
        "ls" => limited(operands().cloned()),
        "echo" | "printf" => names_in(operands().map(String::as_str)),
        // Their first word is what they look for.
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            let is_given = rest.iter().any(|word| gives_pattern(word));
            limited(operands().skip(usize::from(!is_given)).cloned())
        }
        "git" => match git::call(rest).filter(|call| call.subcommand == "ls-files") {
            Some(call) => {
                let words = call.words.iter().filter(|word| !word.starts_with('-'));
                limited(words.flat_map(|word| call.located(word)))
            }
            None => Vec::new(),
        },
        // What it runs gets names of its own.
        "xargs" => Vec::new(),
        name if wrappers_left > 0 => {
            let starts = wrappers::named(name).map(|it| it.starts(rest)).unwrap_or_default();
            let commands = starts.into_iter().take(MAX_WRAPPERS).filter_map(|at| rest.get(at..));
            limited(commands.flat_map(|command| listed(command, wrappers_left - 1)))
        }
        _ => Vec::new(),
    }
}

/// The names in texts that `xargs` gets: a text may hold several.
pub(super) fn names_in<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let is_name = |name: &&str| !name.is_empty();
    limited(texts.flat_map(move |text| {
        let whole = text.contains(char::is_whitespace).then_some(text);
        let lines = text.split("\\n").flat_map(|it| it.split("\\0")).flat_map(|it| it.split("\\t"));
        let names = lines.flat_map(str::split_whitespace).filter(is_name);
        names.chain(whole).map(str::to_owned).collect::<Vec<_>>()
    }))
}

/// Whether an option of `grep` says what to look for, so that all other words are files.
fn gives_pattern(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => ["regexp", "file"].iter().any(|name| long.starts_with(name)),
        None => word.strip_prefix('-').is_some_and(|letters| letters.contains(['e', 'f'])),
    }
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
        [option, name] if option == "-name" => Some(name.clone()),
        // Rules are about names as they are written, which are rarely in capitals.
        [option, name] if option == "-iname" => Some(name.to_lowercase()),
        _ => None,
    });
    let mut names: Vec<String> = names.collect();
    let is_choice = |word: &&String| matches!(word.as_str(), "-o" | "-or" | ",");
    let has_other = rest.iter().any(|word| matches!(word.as_str(), "!" | "-not"))
        || rest.iter().filter(is_choice).count() >= names.len()
        || names.len() > MAX_NAMES;
    if has_other {
        names = vec!["*".to_owned()];
    }
    // With such a test, it is not all that lies there: the same wildcards, but not the name for all below.
    let is_test = |word: &String| FILTERS.contains(&word.as_str());
    if has_other && rest.iter().any(is_test) {
        names = vec!["{*}".to_owned()];
    }
    let of = |place: &str| match place.trim_end_matches('/') {
        "." => String::new(),
        place => format!("{place}/"),
    };
    let places = places.into_iter().take(MAX_PLACES).map(of);
    places
        .flat_map(|place| names.iter().map(|name| format!("{place}*{name}")).collect::<Vec<_>>())
        .collect()
}
