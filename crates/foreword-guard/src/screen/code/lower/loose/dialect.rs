//! How a language writes comments and texts.

/// The signs of a family of languages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What a comment up to the end of its line starts with.
    pub(super) lines: &'static [&'static str],
    /// What a longer comment starts and ends with.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// What a text over several lines starts and ends with.
    pub(super) texts: &'static [(&'static str, &'static str)],
    /// Backticks run a command.
    pub(super) runs: bool,
    /// A dot joins texts.
    pub(super) dots: bool,
    /// A single quote opens a text.
    pub(super) single: bool,
}

const TRIPLE: &[(&str, &str)] = &[("\"\"\"", "\"\"\""), ("'''", "'''")];
const PLAIN: Dialect =
    Dialect { lines: &[], blocks: &[], texts: &[], runs: false, dots: false, single: true };

/// Go, Rust, Java, C and their kin.
static C: Dialect = Dialect { lines: &["//"], blocks: &[("/*", "*/")], texts: TRIPLE, ..PLAIN };
static PHP: Dialect =
    Dialect { lines: &["//", "#"], blocks: &[("/*", "*/")], runs: true, dots: true, ..PLAIN };
static PERL: Dialect = Dialect { lines: &["#"], runs: true, dots: true, ..PLAIN };
/// R, Julia, Elixir, Nim, Tcl.
static HASH: Dialect = Dialect { lines: &["#"], texts: TRIPLE, ..PLAIN };
static LUA: Dialect =
    Dialect { lines: &["--"], blocks: &[("--[[", "]]")], texts: &[("[[", "]]")], ..PLAIN };
static APPLE: Dialect =
    Dialect { lines: &["--", "#"], blocks: &[("(*", "*)")], single: false, ..PLAIN };
static HASKELL: Dialect = Dialect { lines: &["-- "], blocks: &[("{-", "-}")], ..PLAIN };
static BASIC: Dialect = Dialect { lines: &["'", "rem "], single: false, ..PLAIN };

/// What a line of code starts with. Comments are no code.
static STARTS: [(&Dialect, &[&str]); 7] = [
    (
        &PERL,
        &["use strict", "use warnings", "my $", "my @", "my %", "my (", "our $", "our @", "$", "@"],
    ),
    (&LUA, &["local ", "elseif ", "end)", "io.", "os.execute", "os.getenv"]),
    (&APPLE, &["set ", "tell ", "end tell", "do shell script", "display dialog"]),
    (&BASIC, &["Dim ", "Sub ", "End Sub", "Set ", "Private Sub", "Public Sub", "On Error", "Next"]),
    (&HASH, &["library(", "using ", "defmodule ", "System.cmd", "source(", "proc "]),
    (&HASKELL, &["main ::", "main =", "module Main", "import qualified"]),
    (
        &C,
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
static COMMENTS: [(&Dialect, &str); 4] = [(&C, "//"), (&HASH, "#"), (&LUA, "--"), (&BASIC, "'")];

/// Lines that are looked at.
const MAX_LINES: usize = 4_000;

impl Dialect {
    /// By what opens the file, else by how most lines of code start.
    pub(super) fn of(text: &str) -> &'static Self {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let first = text.lines().next().unwrap_or_default();
        if let Some(program) = first.strip_prefix("#!") {
            let known = [
                ("perl", &PERL),
                ("php", &PHP),
                ("lua", &LUA),
                ("Rscript", &HASH),
                ("osascript", &APPLE),
            ];
            let mut words = program.split([' ', '/', '\t']);
            let own = words.find_map(|word| known.iter().find(|(name, _)| word.starts_with(name)));
            if let Some((_, dialect)) = own {
                return dialect;
            }
        }
        if text.starts_with('<') && (text.contains("<?php") || text.contains("<?=")) {
            return &PHP;
        }
        let lines = || text.lines().map(str::trim_start).take(MAX_LINES);
        let by_code = STARTS.iter().map(|(dialect, starts)| {
            let is_own = |line: &&str| starts.iter().any(|start| line.starts_with(start));
            (lines().filter(is_own).count(), *dialect)
        });
        let by_comment = COMMENTS.iter().map(|(dialect, start)| {
            (lines().filter(|line| line.starts_with(start)).count(), *dialect)
        });
        let most = |votes: &mut dyn Iterator<Item = (usize, &'static Self)>| {
            votes.filter(|(count, _)| *count > 0).max_by_key(|(count, _)| *count)
        };
        let own = most(&mut by_code.into_iter()).or_else(|| most(&mut by_comment.into_iter()));
        own.map_or(&C, |(_, dialect)| dialect)
    }
}
