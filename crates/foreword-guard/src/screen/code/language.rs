//! The languages that are parsed, and how a file or a fence shows its own.

use tree_sitter::{Language as Grammar, Parser, Tree};

/// A language with a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    Shell,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    PowerShell,
    Ruby,
}

impl Language {
    /// By the extension of a file, else by its first line.
    pub(crate) fn of_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.') {
            Some((_, extension)) => Self::of_name(extension).or_else(|| Self::of_shebang(text)),
            None => Self::of_shebang(text),
        }
    }

    /// By the name that a fence, an extension or a shebang gives.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "sh" | "bash" | "zsh" | "shell" | "console" | "ksh" | "dash" | "command" | "bats"
            | "terminal" | "shell-session" => Self::Shell,
            "py" | "python" | "python3" | "pyw" | "py3" => Self::Python,
            "js" | "javascript" | "mjs" | "cjs" | "node" | "jsx" => Self::JavaScript,
            "ts" | "typescript" | "mts" | "cts" | "deno" | "bun" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "ps1" | "psm1" | "powershell" | "pwsh" | "posh" => Self::PowerShell,
            "rb" | "ruby" => Self::Ruby,
            _ => return None,
        })
    }

    fn of_shebang(text: &str) -> Option<Self> {
        let line = text.trim_start_matches('\u{feff}').lines().next()?.strip_prefix("#!")?;
        let mut words = line.split([' ', '/', '\t']).filter(|word| !word.is_empty());
        words.find_map(|word| {
            Self::of_name(word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        })
    }

    pub(super) fn grammar(self) -> Grammar {
        match self {
            Self::Shell => tree_sitter_bash::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::PowerShell => tree_sitter_powershell::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        }
    }
}

/// A parser for each language, made when it is first needed.
#[derive(Default)]
pub(crate) struct Parsers(Vec<(Language, Parser)>);

impl Parsers {
    /// Parses a text. `None` only if the grammar and the library do not fit each other.
    pub(crate) fn parse(&mut self, language: Language, text: &str) -> Option<Tree> {
        if let Some((_, parser)) = self.0.iter_mut().find(|(known, _)| *known == language) {
            return parser.parse(text, None);
        }
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).ok()?;
        let tree = parser.parse(text, None);
        self.0.push((language, parser));
        tree
    }
}
