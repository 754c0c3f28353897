//! The languages that are parsed, and how a file or a fence shows its own.

mod comments;
mod dialect;

use tree_sitter::{Language as Grammar, Parser, Tree};

pub(crate) use comments::comments;
pub(crate) use dialect::{Dialect, Signs};

/// A language that is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Language {
    Shell,
    Python,
    JavaScript,
    TypeScript,
    Tsx,
    PowerShell,
    Ruby,
    /// Without a grammar here: read by its tokens.
    Loose(Dialect),
}

impl Language {
    /// By the extension of a file, else by its first line.
    pub(crate) fn of_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some(language) = Self::of_file_name(name) {
            return Some(language);
        }
        let by_extension = name.rsplit_once('.').and_then(|(_, extension)| {
            let loose = || Dialect::of_extension(&extension.to_ascii_lowercase(), text);
            Self::of_name(extension).or_else(|| loose().map(Self::Loose))
        });
        by_extension.or_else(|| Self::of_shebang(text))
    }

    /// Files that tools know by their name.
    fn of_file_name(name: &str) -> Option<Self> {
        Some(match name {
            "Rakefile" | "Gemfile" | "Podfile" | "Vagrantfile" | "Brewfile" | "Fastfile"
            | "Guardfile" | "Berksfile" => Self::Ruby,
            ".envrc" | ".bashrc" | ".zshrc" | ".profile" | ".bash_profile" | ".zprofile"
            | "PKGBUILD" | "gradlew" | "configure" => Self::Shell,
            "SConstruct" | "SConscript" | "wscript" | "Tiltfile" | "Snakefile" => Self::Python,
            "Jenkinsfile" => Self::Loose(Dialect::C),
            _ => return None,
        })
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
            "rb" | "ruby" | "gemspec" | "podspec" | "rake" => Self::Ruby,
            _ => return None,
        })
    }

    fn of_shebang(text: &str) -> Option<Self> {
        let line = text.trim_start_matches('\u{feff}').lines().next()?.strip_prefix("#!")?;
        let mut words = line.split([' ', '/', '\t']).filter(|word| !word.is_empty());
        words.find_map(|word| {
            let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            Self::of_name(name).or_else(|| Dialect::of_program(name).map(Self::Loose))
        })
    }

    pub(super) fn is_loose(self) -> bool {
        matches!(self, Self::Loose(_))
    }

    pub(super) fn grammar(self) -> Option<Grammar> {
        Some(match self {
            Self::Shell => tree_sitter_bash::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::PowerShell => tree_sitter_powershell::LANGUAGE.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Loose(_) => return None,
        })
    }
}

/// A batch file, line by line as a shell would write it.
pub(crate) fn batch(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = unconditional(line.trim_start().trim_start_matches('@'));
        let comment = line.starts_with("::")
            || line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("rem "));
        let assigned = line
            .get(..4)
            .filter(|start| start.eq_ignore_ascii_case("set "))
            .and_then(|_| line.get(4..));
        match (comment, assigned) {
            (true, _) => {}
            (_, Some(assigned)) => {
                let (name, value) = assigned.trim_matches('"').split_once('=').unwrap_or_default();
                out.push_str(&format!("{}=\"{}\"", name.trim(), variables(value)));
            }
            _ => out.push_str(&variables(line)),
        }
        out.push('\n');
    }
    out
}

/// A line of a batch file without the condition or loop that it stands in.
fn unconditional(line: &str) -> &str {
    let mut line = line;
    for _ in 0..4 {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim_start();
        line = match first.to_ascii_lowercase().as_str() {
            "if" => {
                let words = rest.get(..4).filter(|w| w.eq_ignore_ascii_case("not "));
                let rest = rest.get(words.map_or(0, str::len)..).unwrap_or_default().trim_start();
                let first = rest.split(' ').next().unwrap_or_default().to_ascii_lowercase();
                let named = matches!(first.as_str(), "exist" | "defined" | "errorlevel" | "/i");
                let rest = if named { rest.get(first.len()..).unwrap_or_default() } else { rest };
                after_word(rest.trim_start())
            }
            "for" => match rest.to_ascii_lowercase().rfind(") do ") {
                Some(at) => rest.get(at + ") do ".len()..).unwrap_or_default(),
                None => return line,
            },
            "call" | "else" | "(" | ")" => rest,
            _ => return line,
        };
    }
    line
}

/// What follows the first word, which may stand in quotes, or a comparison: `"%a%"=="b" command`.
fn after_word(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..2 {
        let end = match rest.strip_prefix('"') {
            Some(inner) => inner.find('"').map_or(rest.len(), |end| end + 2),
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        rest = rest.get(end..).unwrap_or_default();
        match rest.strip_prefix("==") {
            Some(value) => rest = value,
            None => break,
        }
    }
    rest.trim_start()
}

/// `%NAME%` as `$NAME`, backslashes as slashes.
fn variables(line: &str) -> String {
    let line = line.replace(['\\'], "/").replace('^', "");
    let mut parts = line.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut is_name = true;
    for part in parts {
        let names = is_name
            && !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match (is_name, names) {
            (true, true) => {
                out.push_str("${");
                out.push_str(part);
                out.push('}');
            }
            (true, false) => {
                out.push('%');
                out.push_str(part);
                continue;
            }
            _ => out.push_str(part),
        }
        is_name = !is_name;
    }
    out
}

/// A parser for each language, made when it is first needed.
#[derive(Default)]
pub(crate) struct Parsers(Vec<(Language, Parser)>);

impl Parsers {
    /// Parses a text. `None` without a grammar, or if it and the library do not fit each other.
    pub(crate) fn parse(&mut self, language: Language, text: &str) -> Option<Tree> {
        if let Some((_, parser)) = self.0.iter_mut().find(|(known, _)| *known == language) {
            return parser.parse(text, None);
        }
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()?).ok()?;
        let tree = parser.parse(text, None);
        self.0.push((language, parser));
        tree
    }
}
