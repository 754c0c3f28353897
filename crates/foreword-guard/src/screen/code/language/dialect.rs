//! Families of languages without a grammar: which files are theirs, how they write comments and texts.

/// A family of languages that is read by its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// Go, Rust, Java, C and their kin.
    C,
    Php,
    Perl,
    /// R, Julia, Elixir, Nim, Tcl.
    Hash,
    Lua,
    AppleScript,
    Haskell,
    Erlang,
    Basic,
}

/// How a family writes comments and texts.
#[derive(Debug)]
pub(crate) struct Signs {
    /// What a comment up to the end of its line starts with.
    pub(crate) lines: &'static [&'static str],
    /// What a longer comment starts and ends with.
    pub(crate) blocks: &'static [(&'static str, &'static str)],
    /// What a text over several lines starts and ends with.
    pub(crate) texts: &'static [(&'static str, &'static str)],
    /// Backticks run a command.
    pub(crate) runs: bool,
    /// A dot joins texts.
    pub(crate) dots: bool,
    /// A single quote opens a text.
    pub(crate) single: bool,
    /// A backslash takes its meaning from a quote.
    pub(crate) escapes: bool,
}

const TRIPLE: &[(&str, &str)] = &[("\"\"\"", "\"\"\""), ("'''", "'''")];
const PLAIN: Signs = Signs {
    lines: &[],
    blocks: &[],
    texts: &[],
    runs: false,
    dots: false,
    single: true,
    escapes: true,
};

static C: Signs = Signs { lines: &["//"], blocks: &[("/*", "*/")], texts: TRIPLE, ..PLAIN };
static PHP: Signs =
    Signs { lines: &["//", "#"], blocks: &[("/*", "*/")], runs: true, dots: true, ..PLAIN };
static PERL: Signs = Signs { lines: &["#"], runs: true, dots: true, ..PLAIN };
static HASH: Signs = Signs { lines: &["#"], texts: TRIPLE, ..PLAIN };
static LUA: Signs =
    Signs { lines: &["--"], blocks: &[("--[[", "]]")], texts: &[("[[", "]]")], ..PLAIN };
static APPLE: Signs =
    Signs { lines: &["--", "#"], blocks: &[("(*", "*)")], single: false, ..PLAIN };
static HASKELL: Signs = Signs { lines: &["-- "], blocks: &[("{-", "-}")], ..PLAIN };
static ERLANG: Signs = Signs { lines: &["%"], ..PLAIN };
static BASIC: Signs = Signs { lines: &["'", "rem "], single: false, escapes: false, ..PLAIN };

/// What a line of code starts with. Comments are no code.
static STARTS: [(Dialect, &[&str]); 7] = [
    (
        Dialect::Perl,
        &["use strict", "use warnings", "my $", "my @", "my %", "my (", "our $", "our @", "$", "@"],
    ),
    (Dialect::Lua, &["local ", "elseif ", "end)", "io.", "os.execute", "os.getenv"]),
    (Dialect::AppleScript, &["set ", "tell ", "end tell", "do shell script", "display dialog"]),
    (
        Dialect::Basic,
        &["Dim ", "Sub ", "End Sub", "Set ", "Private Sub", "Public Sub", "On Error", "Next"],
    ),
    (Dialect::Hash, &["library(", "using ", "defmodule ", "System.cmd", "source(", "proc "]),
    (Dialect::Haskell, &["main ::", "main =", "module Main", "import qualified"]),
    (
        Dialect::C,
        &[
            "package ",
            "import ",
            "func ",
            "fn ",
            "pub ",
            "use std",
            "let ",
            "public ",
            "private ",
            "class ",
            "int ",
            "void ",
            "static ",
            "#include",
            "#define",
            "using System",
            "var ",
            "val ",
            "}",
            "namespace ",
            "return ",
            "if (",
            "if err",
        ],
    ),
];
/// What a line of nothing but a comment starts with, where no code tells.
static COMMENTS: [(Dialect, &str); 4] =
    [(Dialect::C, "//"), (Dialect::Hash, "#"), (Dialect::Lua, "--"), (Dialect::Basic, "'")];

/// Lines that are looked at.
const MAX_LINES: usize = 4_000;

impl Dialect {
    /// By the extension of a file; some stand for more than one language.
    pub(super) fn of_extension(extension: &str, text: &str) -> Option<Self> {
        Some(match extension {
            "go" | "rs" | "java" | "kt" | "kts" | "scala" | "sc" | "groovy" | "gradle"
            | "swift" | "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" | "mm" | "cs" | "csx" | "dart"
            | "zig" | "fs" | "fsx" | "v" | "d" => Self::C,
            "php" | "phtml" => Self::Php,
            "pl" | "pm" | "t" => Self::Perl,
            "r" | "jl" | "nim" | "ex" | "exs" | "tcl" | "awk" | "cr" => Self::Hash,
            "lua" => Self::Lua,
            "applescript" | "scpt" => Self::AppleScript,
            "hs" => Self::Haskell,
            "erl" => Self::Erlang,
            "vb" | "vbs" | "vba" | "bas" | "cls" | "frm" => Self::Basic,
            "m" | "hta" | "wsf" => Self::guess(text),
            _ => return None,
        })
    }

    /// By the program that the first line of a file names.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        Some(match name {
            "perl" => Self::Perl,
            "php" => Self::Php,
            "lua" | "luajit" => Self::Lua,
            "Rscript" => Self::Hash,
            "osascript" => Self::AppleScript,
            _ => return None,
        })
    }

    pub(crate) fn signs(self) -> &'static Signs {
        match self {
            Self::C => &C,
            Self::Php => &PHP,
            Self::Perl => &PERL,
            Self::Hash => &HASH,
            Self::Lua => &LUA,
            Self::AppleScript => &APPLE,
            Self::Haskell => &HASKELL,
            Self::Erlang => &ERLANG,
            Self::Basic => &BASIC,
        }
    }

    /// By how most lines of code start: only for a file whose name leaves it open, because lines that
    /// do nothing can be added to any program.
    fn guess(text: &str) -> Self {
        let lines = || text.lines().map(str::trim_start).take(MAX_LINES);
        let by_code = STARTS.iter().map(|(dialect, starts)| {
            let is_own = |line: &&str| starts.iter().any(|start| line.starts_with(start));
            (lines().filter(is_own).count(), *dialect)
        });
        let by_comment = COMMENTS.iter().map(|(dialect, start)| {
            (lines().filter(|line| line.starts_with(start)).count(), *dialect)
        });
        let most = |votes: &mut dyn Iterator<Item = (usize, Self)>| {
            votes.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count)
        };
        let own = most(&mut by_code.into_iter()).or_else(|| most(&mut by_comment.into_iter()));
        own.map_or(Self::C, |(_, dialect)| dialect)
    }
}
