//! Commands in an agent's text that are not known to be harmless. A person has to agree to each.

use super::{AGENT, Rule};
use crate::screen::context::Stance;
use crate::screen::document::Place;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

/// A command in a sentence that changes something outside the workspace, or runs what is not in it.
const COMMAND: Signal = Signal("unlisted-command");
/// Secrets that are put where others read them.
const PUBLISHED_SECRET: Signal = Signal("published-secret");

const UNLISTED: &str = "Contains a command that is not on the list of harmless ones.";

/// Languages of which a line is no command. Programs in them are judged by what they do.
const IS_NO_COMMAND: [&str; 49] = [
    "c",
    "cpp",
    "cs",
    "csharp",
    "css",
    "csv",
    "dart",
    "diff",
    "elixir",
    "go",
    "graphql",
    "haskell",
    "hcl",
    "html",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kotlin",
    "latex",
    "markdown",
    "md",
    "mermaid",
    "nix",
    "patch",
    "proto",
    "py",
    "python",
    "r",
    "rb",
    "rs",
    "ruby",
    "rust",
    "scala",
    "sql",
    "svg",
    "swift",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "xml",
    "yaml",
    "yml",
];

pub(super) static RULE: Rule = Rule {
    name: "unlisted-command",
    policies: AGENT,
    patterns: &[
        Pattern {
            signal: COMMAND,
            needs: &[],
            cues: &[
                "kubectl",
                "terraform",
                "git push",
                "git -c",
                "helm ",
                "docker ",
                "npx ",
                "uvx ",
                "pip install",
                "pip3 install",
                "npm i",
                "npm exec",
                "ssh ",
                "aws ",
                "bash <(",
                "-exec",
                "drop table",
                "drop database",
                "gcloud ",
                "pulumi ",
                "ansible",
            ],
            regex: r"\b(?:kubectl\s+(?:delete|drain|apply|exec|scale)|terraform\s+(?:destroy|apply)|pulumi\s+destroy|git\s+push\b[^\n]*?(?:--force|--mirror|\s-f\b)|git\s+-c\s|helm\s+(?:uninstall|delete)|docker\s+(?:run|exec|system\s+prune)|npx\s+[\w@-]|uvx\s+[\w-]|pip3?\s+install\s+[\w-]|npm\s+(?:i|install|exec)\s+[\w@-]|ssh\s+[\w@.-]+\s+\w|aws\s+\w+\s+(?:rm|delete)|gcloud\s[^\n]*?\bdelete\b|bash\s+<\(|find\b[^\n]*?-exec|drop\s+(?:table|database)\s|ansible(?:-playbook)?\s+-)",
        },
        Pattern {
            signal: PUBLISHED_SECRET,
            needs: &[],
            cues: &[".env", "secret", "credential", "token", "api key", "password"],
            regex: r"\b(?:paste|put|include|add|copy|write|embed|append|post)\b.{0,60}?(?:\.env\b|secrets?\b|credentials?\b|tokens?\b|api keys?\b|passwords?\b).{0,60}?\b(?:commit|pull request|pr|issue|comment|message|gist|changelog)\b",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(COMMAND) {
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Contains a command that needs a person's consent.",
        );
    }
    for sighting in page.uses(PUBLISHED_SECRET) {
        report.add(Verdict::NeedsReview, sighting, "Puts secrets where others can read them.");
    }
    for (unit, language) in page.code_units() {
        let line = page.text().get(unit.start..unit.end).unwrap_or_default();
        let unlisted = match language {
            "" | "sh" | "bash" | "shell" | "zsh" | "console" | "terminal" | "fish" | "ksh"
            | "shell-session" | "powershell" | "ps1" | "pwsh" | "bat" | "cmd" | "batch" => {
                !is_harmless(line, language.is_empty())
            }
            "perl" | "pl" | "groovy" | "vbs" | "vbscript" | "php" | "lua" | "awk"
            | "applescript" | "tcl" | "osascript" | "expect" => !is_comment(line),
            language if IS_NO_COMMAND.contains(&language) => false,
            // A name that nobody knows is no language.
            _ => !is_harmless(line, true),
        };
        if unlisted {
            report.add_line(Verdict::NeedsReview, unit.line, UNLISTED);
        }
    }
    for (id, unit) in (0..).zip(page.units()).filter(|(_, unit)| unit.place != Place::Code) {
        let text = page.text().get(unit.start..unit.end).unwrap_or_default();
        let is_used = |before: &str, code: &str| {
            let start = unit.start + before.len();
            page.stance(id, start, start + code.len()) == Stance::Use
        };
        if inline_code(text)
            .any(|(before, code)| is_unlisted_inline(before, code) && is_used(before, code))
        {
            report.add_line(Verdict::NeedsReview, unit.line, UNLISTED);
        }
    }
    for line in preformatted_lines(page.text()) {
        if !is_harmless(&line.text, true) {
            report.add_line(Verdict::NeedsReview, line.number, UNLISTED);
        }
    }
}

/// Words before inline code that make it a command to run.
const RUN: [&str; 6] = ["run", "execute", "launch", "type", "enter", "running"];

/// Whether inline code is a command that is not listed: of a program that people call, or whatever a
/// person is told to run. A single word is a name.
fn is_unlisted_inline(before: &str, code: &str) -> bool {
    let code = code.trim();
    if !code.contains([' ', '/', '|', ';']) {
        return false;
    }
    let before = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    let word = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_told = RUN.iter().any(|verb| word.eq_ignore_ascii_case(verb));
    !is_harmless(code, !is_told)
}

/// The code spans of a sentence, each with the text before it: between backticks, and in HTML elements.
fn inline_code(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let at = rest.find(['`', '<'])?;
            let (before, opened) = (text.get(..from + at)?, rest.get(at..)?);
            let ticks = opened.len() - opened.trim_start_matches('`').len();
            let (open, close) = if ticks > 0 {
                (ticks, "`".repeat(ticks))
            } else {
                let tag = ["code", "kbd", "samp", "tt"].into_iter().find(|tag| is_tag(opened, tag));
                match (tag, opened.find('>')) {
                    (Some(tag), Some(end)) => (end + 1, format!("</{tag}")),
                    _ => {
                        from += at + 1;
                        continue;
                    }
                }
            };
            let inside = opened.get(open..)?;
            // Without an end it is no code.
            let Some(length) = find_ignoring_case(inside, &close) else {
                from += at + open;
                continue;
            };
            from += at + open + length + close.len();
            return Some((before, inside.get(..length)?));
        }
    })
}

/// A line inside `<pre>`.
struct PreformattedLine {
    number: u32,
    text: String,
}

/// The lines inside `<pre>`, without further elements.
fn preformatted_lines(text: &str) -> Vec<PreformattedLine> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let mut plain = String::new();
        for (at, piece) in line.split('<').enumerate() {
            let tagged = if at == 0 { None } else { piece.split_once('>') };
            let Some((tag, after)) = tagged else {
                if is_inside {
                    plain.push_str(if at == 0 { "" } else { "<" });
                    plain.push_str(piece);
                }
                continue;
            };
            let name = tag.split_whitespace().next().unwrap_or_default();
            if name.eq_ignore_ascii_case("pre") {
                is_inside = true;
            } else if name.eq_ignore_ascii_case("/pre") {
                is_inside = false;
                plain.push('\n');
            }
            if is_inside {
                plain.push_str(after);
            }
        }
        let lines = plain.lines().filter(|line| !line.trim().is_empty());
        found.extend(lines.map(|line| PreformattedLine { number, text: entities(line) }));
    }
    found
}

/// The characters of HTML that commands use.
fn entities(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Whether a text starts with this element.
fn is_tag(text: &str, name: &str) -> bool {
    let after = text.get(1..1 + name.len()).filter(|start| start.eq_ignore_ascii_case(name));
    after.is_some()
        && text.get(1 + name.len()..).is_some_and(|rest| rest.starts_with(['>', ' ', '\n']))
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    text.as_bytes()
        .windows(what.len())
        .position(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || ["#", "//", "'", "--"].iter().any(|mark| line.starts_with(mark))
}

/// Whether every command of a line only looks, builds or tests.
///
/// In a fence that names no language, a line that starts with no command we know is text.
fn is_harmless(line: &str, may_be_text: bool) -> bool {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("> ");
    if is_comment(line) {
        return true;
    }
    let commands = line.split(['|', ';', '&', '\n']).map(str::trim).filter(|c| !c.is_empty());
    if may_be_text {
        return commands.into_iter().all(|command| !is_known(command) || is_listed(command));
    }
    let hidden = ["$(", "<", "`", ">", "\\\n"].iter().any(|mark| line.contains(mark));
    !hidden && commands.into_iter().all(is_listed)
}

fn words(command: &str) -> (&str, &str) {
    let mut words = command.split_whitespace();
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

fn is_listed(command: &str) -> bool {
    let (name, second) = words(command);
    let looks = [
        "ls", "pwd", "cd", "echo", "date", "cat", "head", "tail", "wc", "sort", "uniq", "grep",
        "rg", "diff", "tree", "which", "true", "pytest", "tsc", "eslint", "ruff", "mypy",
        "prettier", "jq", "fd", "file", "stat", "du", "df", "nproc",
    ];
    let secret =
        [".env", ".ssh", ".aws", "credential", "secret", "/etc/", ".netrc", "token", "_key"];
    if command.split_whitespace().skip(1).any(|word| runs_or_writes(name, word)) {
        return false;
    }
    if looks.contains(&name) {
        return !secret.iter().any(|part| command.contains(part));
    }
    match name {
        "git" => {
            ["status", "diff", "log", "show", "branch", "add", "commit", "blame", "stash", "tag"]
                .contains(&second)
        }
        "cargo" => {
            ["test", "build", "check", "fmt", "clippy", "nextest", "doc", "bench"].contains(&second)
        }
        "npm" | "pnpm" | "yarn" => ["test", "t", "ls", "outdated", "audit"].contains(&second),
        "go" => ["test", "build", "vet", "fmt"].contains(&second),
        "make" => ["test", "build", "check", "lint"].contains(&second),
        "kubectl" => ["get", "describe", "logs"].contains(&second) && !command.contains("secret"),
        "terraform" => ["plan", "validate", "fmt"].contains(&second),
        "docker" => ["ps", "images", "logs"].contains(&second),
        _ => false,
    }
}

/// Whether an option makes a program that only looks, builds or tests run or write something else.
fn runs_or_writes(name: &str, word: &str) -> bool {
    let options: &[&str] = match name {
        "fd" => &["-x", "-X", "--exec"],
        "rg" => &["--pre", "--hostname-bin"],
        "sort" | "tree" => &["-o", "--output", "--compress-program"],
        "date" => &["-s", "--set"],
        "git" => &["--ext-diff", "--output", "-O", "-d", "-D", "--delete", "--force"],
        "make" => &["-f", "--file", "--makefile", "-C", "--directory", "-I", "--eval", "-E"],
        "cargo" => &["--config", "--manifest-path", "-C", "-Z"],
        "go" => &["-exec", "-toolexec", "-overlay", "-C"],
        "npm" | "pnpm" | "yarn" => &["--prefix", "-C", "--script-shell", "--node-options"],
        "pytest" | "tsc" | "eslint" | "ruff" | "mypy" | "prettier" => {
            &["-c", "-p", "--config", "--plugin", "--project", "--rulesdir", "--resolve-plugins"]
        }
        _ => return false,
    };
    let is_tool = ["make", "cargo", "go", "npm", "pnpm", "yarn"].contains(&name);
    is_tool && is_assignment(word) || options.iter().any(|option| word.starts_with(option))
}

/// Whether a line of a fence without a language starts with a program that people call.
fn is_known(command: &str) -> bool {
    let programs = [
        "kubectl",
        "terraform",
        "git",
        "npx",
        "npm",
        "pip",
        "pip3",
        "docker",
        "ssh",
        "scp",
        "rm",
        "mv",
        "cp",
        "bash",
        "sh",
        "zsh",
        "python",
        "python3",
        "node",
        "perl",
        "ruby",
        "php",
        "find",
        "curl",
        "wget",
        "sudo",
        "chmod",
        "chown",
        "make",
        "cargo",
        "go",
        "yarn",
        "pnpm",
        "aws",
        "gcloud",
        "az",
        "helm",
        "systemctl",
        "crontab",
        "nc",
        "dd",
        "kill",
        "brew",
        "apt",
        "apt-get",
        "source",
        "eval",
        "osascript",
        "powershell",
        "pwsh",
        "uvx",
        "bunx",
        "deno",
        "bun",
        "groovy",
        "cscript",
        "tee",
        "awk",
        "dotnet",
        "emacs",
        "gdb",
        "java",
        "lua",
        "nvim",
        "psql",
        "rsync",
        "socat",
        "sqlite3",
        "tar",
        "tmux",
        "vi",
        "vim",
    ];
    let name = program(command);
    let base = name.rsplit('/').next().unwrap_or_default();
    // `/bin/[s]h` is what the shell finds there.
    let is_pattern = name.starts_with('/') && name.contains(['[', '?', '*', '{']);
    programs.contains(&base) || name.starts_with("./") || is_pattern
}

/// The program that a command starts: what follows variables (`A=1 make`) and programs that start another
/// one (`env -i nice -n 5 make`).
fn program(command: &str) -> &str {
    let starters =
        ["command", "doas", "env", "exec", "nice", "nohup", "setsid", "stdbuf", "timeout", "xargs"];
    let mut is_option_expected = false;
    for word in command.split_whitespace() {
        let word = word.trim_start_matches(['(', '{', '!']);
        let starts_another = starters.contains(&word.rsplit('/').next().unwrap_or_default());
        let is_option = is_option_expected
            && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()));
        if !(word.is_empty() || starts_another || is_option || is_assignment(word)) {
            return word;
        }
        is_option_expected |= starts_another;
    }
    ""
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
