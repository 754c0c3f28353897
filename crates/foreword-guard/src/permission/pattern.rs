//! What a rule is compared with: a command, a path, a URL or any other text.
//!
//! A pattern for `bash` is read with the quotes of a shell, as commands are. An allow compares it with the
//! text of a command. An ask or deny also compares it word by word: the program, its subcommands in order,
//! and each option of the pattern wherever it stands in the command, alone or together with others.

/// A pattern as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pattern {
    /// `*` stands for anything.
    Glob(String),
    /// Claude Code's `text:*`: the text, alone or followed by a space.
    Prefix(String),
    /// This and nothing else, written `=text`.
    Exact(String),
}

impl Pattern {
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Glob(pattern) => glob(&pieces(pattern), text, true),
            Self::Prefix(prefix) => text
                .strip_prefix(prefix.as_str())
                .is_some_and(|r| r.is_empty() || r.starts_with(' ')),
            Self::Exact(exact) => exact == text,
        }
    }

    pub(super) fn fits_path(&self, path: &str) -> bool {
        match self {
            Self::Glob(pattern) => {
                let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
                // A name alone stands for files of that name anywhere, as in .gitignore.
                let name = path.rsplit('/').next().unwrap_or(path);
                let parts = pieces(pattern);
                glob(&parts, path, false) || (!pattern.contains('/') && glob(&parts, name, false))
            }
            Self::Prefix(prefix) => path.starts_with(prefix.as_str()),
            Self::Exact(exact) => exact == path,
        }
    }

    /// Whether a file that this names may be among those that a shell makes of a word with wildcards.
    pub(super) fn may_be_among(&self, word: &str) -> bool {
        let (Self::Glob(text) | Self::Prefix(text) | Self::Exact(text)) = self;
        let text = text.strip_prefix("./").unwrap_or(text);
        let name = word.rsplit('/').next().unwrap_or(word);
        overlap(&pieces(text), &wildcards(word))
            || (!text.contains('/') && overlap(&pieces(text), &wildcards(name)))
    }

    pub(super) fn fits_url(&self, url: &str) -> bool {
        let domain = match self {
            Self::Glob(pattern) => pattern.strip_prefix("domain:"),
            Self::Prefix(_) | Self::Exact(_) => None,
        };
        match domain {
            Some(domain) => crate::HttpUrl::parse(url).is_ok_and(|url| {
                let host = url.host().name();
                host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
            }),
            None => self.fits(url),
        }
    }
}

/// A piece of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Piece {
    /// `*`
    Any,
    /// `?`
    One,
    Char(char),
}

impl Piece {
    fn of(c: char) -> Self {
        match c {
            '*' => Self::Any,
            '?' => Self::One,
            c => Self::Char(c),
        }
    }
}

pub(super) fn pieces(text: &str) -> Vec<Piece> {
    text.chars().map(Piece::of).collect()
}

/// The pieces of a word that a shell would expand.
pub(super) fn wildcards(word: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut inside = None;
    for c in word.chars() {
        match (inside, c) {
            (Some(end), c) if c == end => inside = None,
            (Some(_), _) => {}
            (None, '[') => {
                out.push(Piece::One);
                inside = Some(']');
            }
            (None, '{') => {
                // Twice, because it may stand for a dot at the beginning of a name.
                out.extend([Piece::Any; 2]);
                inside = Some('}');
            }
            (None, '…') => out.push(Piece::Any),
            (None, c) => out.push(Piece::of(c)),
        }
    }
    out
}

/// Whether some path fits both. `*` stops at a slash; `**` of the rule does not.
pub(super) fn overlap(rule: &[Piece], word: &[Piece]) -> bool {
    const MAX_STATES: usize = 200_000;
    if rule.len().saturating_mul(word.len()) > MAX_STATES {
        return true;
    }
    let mut seen = std::collections::HashSet::new();
    let mut waiting = vec![(0, 0)];
    while let Some((at, place)) = waiting.pop() {
        if !seen.insert((at, place)) {
            continue;
        }
        let is_double = rule.get(at) == Some(&Piece::Any) && rule.get(at + 1) == Some(&Piece::Any);
        match (rule.get(at), word.get(place)) {
            (None, None) => return true,
            (Some(Piece::Any), other) => {
                let behind = if is_double { at + 2 } else { at + 1 };
                waiting.push((behind, place));
                if is_double && rule.get(behind) == Some(&Piece::Char('/')) {
                    waiting.push((behind + 1, place));
                }
                match other {
                    Some(Piece::Any) => waiting.extend([(at, place + 1), (behind, place)]),
                    Some(other) if is_double || *other != Piece::Char('/') => {
                        waiting.push((at, place + 1));
                    }
                    _ => {}
                }
            }
            (other, Some(Piece::Any)) => {
                waiting.push((at, place + 1));
                if other.is_some_and(|other| *other != Piece::Char('/')) {
                    // The shell's `*` does not stand for a dot at the beginning of a name.
                    let starts = place == 0 || word.get(place - 1) == Some(&Piece::Char('/'));
                    if !(starts
                        && other == Some(&Piece::Char('.'))
                        && word.get(place + 1).is_none())
                    {
                        waiting.push((at + 1, place));
                    }
                }
            }
            (Some(one), Some(other)) => {
                let fits = match (one, other) {
                    (Piece::One, other) | (other, Piece::One) => *other != Piece::Char('/'),
                    (one, other) => one == other,
                };
                if fits {
                    waiting.push((at + 1, place + 1));
                }
            }
            _ => {}
        }
    }
    false
}

/// A pattern for `bash`, in words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CommandPattern {
    words: Vec<Vec<Piece>>,
    /// The pattern was `text:*`.
    is_prefix: bool,
}

/// Words of a command that are looked at for a subcommand.
const MAX_WORDS: usize = 512;
/// Programs whose options of several letters begin with one dash.
const LONG_WITH_ONE_DASH: [&str; 9] =
    ["find", "terraform", "java", "javac", "go", "openssl", "ffmpeg", "clang", "gcc"];
/// Letters of options whose value may follow without a space, by program and subcommand.
const VALUE_LETTERS: [(&str, &str, &str); 7] = [
    ("git", "checkout", "bB"),
    ("git", "switch", "cCt"),
    ("git", "branch", "u"),
    ("git", "restore", "s"),
    ("git", "clean", "e"),
    ("git", "commit", "mFCc"),
    ("git", "push", "o"),
];

impl CommandPattern {
    /// Reads a pattern; one whose quotes are not closed counts as it is written.
    pub(super) fn of(pattern: &Pattern) -> Option<Self> {
        let (text, is_prefix) = match pattern {
            Pattern::Glob(text) => (text, false),
            Pattern::Prefix(text) => (text, true),
            Pattern::Exact(_) => return None,
        };
        let plain = || text.split_whitespace().map(pieces).collect();
        Some(Self { words: unquoted(text).unwrap_or_else(plain), is_prefix })
    }

    /// Whether the text of a command fits.
    pub(super) fn fits_text(&self, text: &str) -> bool {
        let mut whole = self.words.join(&Piece::Char(' '));
        if !self.is_prefix {
            return glob(&whole, text, true);
        }
        if glob(&whole, text, true) {
            return true;
        }
        whole.extend([Piece::Char(' '), Piece::Any]);
        glob(&whole, text, true)
    }

    /// Whether a command fits, wherever its options stand.
    pub(super) fn fits_words(&self, words: &[String]) -> bool {
        let (Some((program, pattern)), Some((name, rest))) =
            (self.words.split_first(), words.split_first())
        else {
            return false;
        };
        if pattern.is_empty() || !glob(program, name, true) {
            return false;
        }
        let is_flag = |word: &&Vec<Piece>| word.first() == Some(&Piece::Char('-'));
        let (flags, operands): (Vec<_>, Vec<_>) = pattern.iter().partition(is_flag);
        let is_open =
            self.is_prefix || pattern.last().is_some_and(|word| word.last() == Some(&Piece::Any));
        if !is_open && rest.len() != pattern.len() {
            return false;
        }
        let given = Flags::of(name, rest);
        flags.iter().all(|flag| given.has(flag)) && operands_fit(&operands, rest, self.is_prefix)
    }
}

/// Whether subcommands stand in a command in this order, with only options and what may be their values
/// between them.
fn operands_fit(operands: &[&Vec<Piece>], words: &[String], is_prefix: bool) -> bool {
    let words = words.get(..MAX_WORDS).unwrap_or(words);
    let mut places = std::collections::BTreeSet::from([0]);
    for (at, operand) in operands.iter().enumerate() {
        let is_any = operand.as_slice() == [Piece::Any];
        if is_any && at + 1 == operands.len() && !is_prefix {
            return places.iter().any(|place| *place < words.len());
        }
        if is_any {
            let Some(first) = places.first().copied() else { return false };
            places = (first..=words.len()).collect();
            continue;
        }
        let mut next = std::collections::BTreeSet::new();
        for place in places {
            for (at, word) in words.iter().enumerate().skip(place) {
                if may_be(operand, word) {
                    next.insert(at + 1);
                }
                let is_value = at > place && words.get(at - 1).is_some_and(|it| is_option(it));
                if !is_option(word) && !is_value {
                    break;
                }
            }
        }
        places = next;
    }
    !places.is_empty()
}

fn is_option(word: &str) -> bool {
    word.starts_with(['-', '+'])
}

/// Whether a word fits, or may become one that does when the shell expands it.
fn may_be(pattern: &[Piece], word: &str) -> bool {
    if glob(pattern, word, true) {
        return true;
    }
    let is_name = matches!(pattern.first(), Some(Piece::Char(c)) if c.is_ascii_alphanumeric());
    let Some(end) = word.find(['…', '*', '?', '[', '{']).filter(|_| is_name) else {
        return false;
    };
    let known = word.get(..end).unwrap_or_default();
    let mut both = pattern.iter().zip(known.chars()).take_while(|(piece, _)| **piece != Piece::Any);
    both.all(|(piece, c)| *piece == Piece::Char(c) || *piece == Piece::One)
}

/// The options of a command.
struct Flags<'c> {
    words: Vec<&'c str>,
    letters: Vec<char>,
}

impl<'c> Flags<'c> {
    fn of(program: &str, rest: &'c [String]) -> Self {
        let end = rest.iter().position(|word| word == "--").map_or(rest.len(), |end| end + 1);
        let rest = rest.get(..end).unwrap_or_default();
        let words: Vec<&str> =
            rest.iter().map(String::as_str).filter(|word| word.starts_with('-')).collect();
        let subcommand = rest.iter().find(|word| !is_option(word)).map_or("", String::as_str);
        let values = VALUE_LETTERS
            .iter()
            .find(|(of, sub, _)| *of == program && *sub == subcommand)
            .map_or("", |(_, _, letters)| letters);
        let mut letters = Vec::new();
        if !LONG_WITH_ONE_DASH.contains(&program) {
            for word in words.iter().filter(|word| !word.starts_with("--")) {
                for letter in word.chars().skip(1).take_while(char::is_ascii_alphanumeric) {
                    letters.push(letter);
                    if values.contains(letter) {
                        break;
                    }
                }
            }
        }
        Self { words, letters }
    }

    /// Whether one of them is the option of a pattern, which may be shortened or stand among others.
    fn has(&self, flag: &[Piece]) -> bool {
        if self.words.iter().any(|word| glob(flag, word, true)) {
            return true;
        }
        let plain = flag.strip_suffix(&[Piece::Any]).unwrap_or(flag);
        let text: Option<String> = plain
            .iter()
            .map(|piece| match piece {
                Piece::Char(c) => Some(*c),
                Piece::Any | Piece::One => None,
            })
            .collect();
        let Some(text) = text else { return false };
        if text.starts_with("--") {
            return self.words.iter().any(|word| {
                let name = word.split(['=', '…']).next().unwrap_or(word);
                name.len() > 2 && name.starts_with("--") && text.starts_with(name)
            });
        }
        let mut letters = text.chars().skip(1);
        (2..=4).contains(&text.len()) && letters.all(|letter| self.letters.contains(&letter))
    }
}

/// The words of a pattern without their quotes; a star inside quotes is a star. Nothing if a quote is not
/// closed.
fn unquoted(text: &str) -> Option<Vec<Vec<Piece>>> {
    let mut words: Vec<Vec<Piece>> = Vec::new();
    let mut word: Option<Vec<Piece>> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c == '"' => word.push(Piece::Char(chars.next()?)),
                        inside => word.push(Piece::Char(inside)),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(Piece::Char(chars.next()?)),
            c => word.get_or_insert_default().push(Piece::of(c)),
        }
    }
    words.extend(word);
    Some(words)
}

/// Whether a text fits a pattern. `*` stands for anything; in paths, not for a slash unless doubled.
/// Takes time proportional to the product of both lengths at most.
fn glob(pattern: &[Piece], text: &str, across: bool) -> bool {
    // Most texts differ in what stands before the first star, which costs nothing to see.
    let mut start = text.chars();
    for piece in pattern {
        match piece {
            Piece::Char(c) if start.next() != Some(*c) => return false,
            Piece::Char(_) => {}
            Piece::Any | Piece::One => break,
        }
    }
    let text: Vec<char> = text.chars().collect();
    // For each length of a beginning of the text, whether the pattern so far fits it.
    let mut fits = vec![false; text.len() + 1];
    if let Some(first) = fits.first_mut() {
        *first = true;
    }
    let mut at = 0;
    while let Some(piece) = pattern.get(at) {
        let mut next = vec![false; text.len() + 1];
        if *piece == Piece::Any {
            let is_double = pattern.get(at + 1) == Some(&Piece::Any);
            // `**/` also stands for no directory at all.
            let slash = is_double && !across && pattern.get(at + 2) == Some(&Piece::Char('/'));
            let crosses = across || is_double;
            let mut reached = false;
            for (place, fits_here) in fits.iter().enumerate() {
                let stopped = place > 0 && !crosses && text.get(place - 1) == Some(&'/');
                reached = *fits_here || (reached && !stopped);
                if let Some(slot) = next.get_mut(place) {
                    // After `**/`, only where a directory ended, or at once.
                    let at_slash = place > 0 && text.get(place - 1) == Some(&'/');
                    *slot = reached && (!slash || *fits_here || at_slash);
                }
            }
            at += if slash {
                3
            } else if is_double {
                2
            } else {
                1
            };
        } else {
            for (place, fits_here) in fits.iter().enumerate() {
                let same = text.get(place).is_some_and(|t| match piece {
                    Piece::Char(c) => t == c,
                    Piece::One => *t != '/',
                    Piece::Any => false,
                });
                if *fits_here
                    && same
                    && let Some(slot) = next.get_mut(place + 1)
                {
                    *slot = true;
                }
            }
            at += 1;
        }
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}
