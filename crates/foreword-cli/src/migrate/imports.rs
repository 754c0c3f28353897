//! `@path` imports of Claude Code: the imported text is put in the place of its reference.
//!
//! `[x](mdc:path)` of Cursor is followed likewise. A reference alone on its line is replaced by the file. One
//! within a sentence stays, and the file follows at the end. Code is left alone. Imports may import, five files
//! deep; every file comes once.

use super::references::{
    MDC_LINK, fence_of, mdc_links, name_length, references, resolve, unescaped, without_section,
};
use super::source::Source;

/// Files that import files.
const MAX_DEPTH: usize = 5;
/// Bytes of all imported files together.
const MAX_BYTES: usize = 1 << 20;
/// Files to put in.
const MAX_IMPORTS: usize = 500;
/// References to look up, which may be mentions of something else.
const MAX_REFERENCES: usize = 5_000;
/// A sentence may end right after a reference.
const END_OF_SENTENCE: [char; 5] = ['.', ',', ';', ':', ')'];

/// A text with its imports in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expanded {
    pub(super) text: String,
    /// The files that were put in, in order.
    pub(super) included: Vec<String>,
    /// References that could not be followed, with the reason.
    pub(super) lost: Vec<(String, String)>,
    /// References to files that do not exist, which the other tool passes over as well.
    pub(super) missing: Vec<String>,
    /// References to directories, of which no tool imports the files.
    pub(super) directories: Vec<String>,
    /// The texts that the file itself imports, by path, each with the imports in it.
    pub(super) direct: Vec<(String, String)>,
    /// Whether it imports the file that is imported by other means.
    pub(super) names_skipped: bool,
}

/// How references are followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Following<'a> {
    /// A file that is imported by other means: a reference to it is removed.
    pub(super) skip: Option<&'a str>,
    /// Files whose text is already imported.
    pub(super) seen: &'a [String],
    /// Whether a path may also start at the root of the project.
    pub(super) from_root: bool,
}

/// Puts the imports of a file into its text.
pub(super) fn expand(source: &Source, path: &str, text: &str, how: Following<'_>) -> Expanded {
    let mut seen = vec![path.to_owned()];
    seen.extend(how.seen.iter().cloned());
    let mut state = State { source, how, bytes: 0, seen, looked: 0, out: Expanded::default() };
    let text = state.document(path, text, 0);
    Expanded { text, ..state.out }
}

struct State<'a> {
    source: &'a Source,
    how: Following<'a>,
    bytes: usize,
    seen: Vec<String>,
    looked: usize,
    out: Expanded,
}

/// What a reference gives.
enum Import {
    /// The text, and the path of its file.
    Text(String, String),
    /// Already in the text, or imported by other means.
    Nothing,
    /// Not an import, or one that cannot be followed.
    No,
}

impl State<'_> {
    fn document(&mut self, path: &str, text: &str, depth: usize) -> String {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let mut out = String::new();
        let mut after = String::new();
        let mut fence: Option<String> = None;
        for line in text.split_inclusive('\n') {
            let bare = line.trim();
            if let Some(open) = &fence {
                if bare.starts_with(open.as_str()) && bare.chars().all(|c| open.starts_with(c)) {
                    fence = None;
                }
                out.push_str(line);
                continue;
            }
            if let Some(open) = fence_of(bare) {
                fence = Some(open);
                out.push_str(line);
                continue;
            }
            let item = bare.strip_prefix("- ").or_else(|| bare.strip_prefix("* ")).unwrap_or(bare);
            let alone = item.strip_prefix('@').filter(|name| name_length(name) == name.len());
            if let Some(name) = alone {
                match self.import(directory, &unescaped(name), depth) {
                    Import::Text(text, _) => {
                        out.push_str(text.trim_end());
                        out.push('\n');
                    }
                    Import::Nothing => {}
                    Import::No => out.push_str(line),
                }
                continue;
            }
            out.push_str(&line.replace(MDC_LINK, "]("));
            for name in references(line) {
                if let Import::Text(text, path) = self.import(directory, &unescaped(name), depth) {
                    after.push_str(&format!("\n## {path}\n\n{}\n", text.trim_end()));
                }
            }
            for name in mdc_links(line) {
                if let Import::Text(text, path) = self.link(name, depth) {
                    after.push_str(&format!("\n## {path}\n\n{}\n", text.trim_end()));
                }
            }
        }
        if !after.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&after);
        out
    }

    fn import(&mut self, directory: &str, name: &str, depth: usize) -> Import {
        self.looked += 1;
        if self.looked > MAX_REFERENCES {
            self.lose(
                "…",
                format!("more than {MAX_REFERENCES} references; the rest is not followed"),
            );
            return Import::No;
        }
        let is_path = name.contains('/') || name.contains('.');
        if name.starts_with('~') || name.starts_with('/') {
            if is_path {
                self.lose(name, "outside the project; copy the text into AGENTS.md, or into USER.md if it is personal");
            }
            return Import::No;
        }
        let Some(path) = resolve(directory, name) else {
            self.lose(name, "outside the project; copy the text into AGENTS.md");
            return Import::No;
        };
        let Some(path) = self.file_at(&path, name) else {
            let path = path.trim_end_matches(END_OF_SENTENCE);
            if path.is_empty() {
            } else if self.source.is_dir(path) {
                self.out.directories.push(name.to_owned());
            } else if self.source.exists(path) && is_path {
                self.lose(name, "not a file in the project");
            } else if ends_like_a_file(without_section(path)) {
                self.out.missing.push(name.to_owned());
            }
            return Import::No;
        };
        let path = path.as_str();
        if self.how.skip == Some(path) {
            self.out.names_skipped = true;
            return Import::Nothing;
        }
        if self.seen.iter().any(|seen| seen == path) {
            return Import::Nothing;
        }
        if depth >= MAX_DEPTH {
            self.lose(name, format!("imported more than {MAX_DEPTH} files deep"));
            return Import::No;
        }
        if self.seen.len() > MAX_IMPORTS {
            self.lose(name, format!("more than {MAX_IMPORTS} imports"));
            return Import::No;
        }
        let text = match self.source.read(path) {
            Ok(text) => text,
            Err(reason) => {
                self.lose(name, reason);
                return Import::No;
            }
        };
        if self.bytes.saturating_add(text.len()) > MAX_BYTES {
            self.lose(name, format!("the imports are longer than {} MiB", MAX_BYTES >> 20));
            return Import::No;
        }
        self.bytes += text.len();
        self.seen.push(path.to_owned());
        self.out.included.push(path.to_owned());
        let text = if is_markdown(path) {
            self.document(path, &text, depth + 1)
        } else {
            fenced(path, &text)
        };
        if depth == 0 {
            self.out.direct.push((path.to_owned(), text.clone()));
        }
        Import::Text(text, path.to_owned())
    }

    /// Follows a link of Cursor, which starts at the root of the project. One that leads nowhere has a row, too.
    fn link(&mut self, name: &str, depth: usize) -> Import {
        let rows = |out: &Expanded| out.lost.len() + out.missing.len() + out.directories.len();
        let before = rows(&self.out);
        let found = self.import("", name, depth);
        if matches!(found, Import::No) && rows(&self.out) == before {
            self.out.missing.push(name.to_owned());
        }
        found
    }

    /// The file that a reference means: as it is written, without the end of its sentence, or without the
    /// section that it names.
    fn file_at(&self, path: &str, name: &str) -> Option<String> {
        let from_root = self.how.from_root.then(|| resolve("", name)).flatten();
        [Some(path), from_root.as_deref()].into_iter().flatten().find_map(|path| {
            let whole = path.trim_end_matches(END_OF_SENTENCE);
            let ways = [path, whole, without_section(whole)];
            ways.into_iter().find(|path| self.source.is_file(path)).map(str::to_owned)
        })
    }

    fn lose(&mut self, name: &str, reason: impl Into<String>) {
        let entry = (format!("@{name}"), reason.into());
        if !self.out.lost.contains(&entry) {
            self.out.lost.push(entry);
        }
    }
}

fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, end)| end)
}

fn ends_like_a_file(path: &str) -> bool {
    extension(path)
        .is_some_and(|end| ["md", "mdc", "txt", "json", "toml", "yaml", "yml"].contains(&end))
}

fn is_markdown(path: &str) -> bool {
    extension(path).is_none_or(|end| ["md", "mdc", "markdown", "txt"].contains(&end))
}

/// A file that is not prose, as a code block that it cannot end.
fn fenced(path: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let language = extension(path).filter(|end| end.chars().all(char::is_alphanumeric));
    format!("{fence}{}\n{}\n{fence}\n", language.unwrap_or_default(), text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn expanded(files: &[(&str, &str)], skip: Option<&str>) -> Expanded {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let source = Source::open(directory.path()).unwrap();
        let text = source.read("CLAUDE.md").unwrap();
        expand(&source, "CLAUDE.md", &text, Following { skip, ..Following::default() })
    }

    #[test]
    fn an_import_alone_on_its_line_is_replaced_and_one_in_a_sentence_follows() {
        let out = expanded(
            &[
                (
                    "CLAUDE.md",
                    "Top.\n@docs/style.md\n- @./git.md\nSee @README and @package.json.\nEnd.",
                ),
                ("docs/style.md", "Tabs.\n@more.md\n"),
                ("docs/more.md", "More.\n"),
                ("git.md", "Rebase.\n"),
                ("README", "The project.\n"),
                ("package.json", "{\"a\": 1}\n"),
            ],
            None,
        );
        assert_eq!(
            out.text,
            "Top.\nTabs.\nMore.\nRebase.\nSee @README and @package.json.\nEnd.\n\
             \n## README\n\nThe project.\n\n## package.json\n\n```json\n{\"a\": 1}\n```\n"
        );
        assert_eq!(
            out.included,
            ["docs/style.md", "docs/more.md", "git.md", "README", "package.json"]
        );
        assert_eq!((out.lost, out.missing), (vec![], vec![]));
    }

    #[test]
    fn a_blank_in_a_path_is_written_with_a_backslash() {
        let text = "@docs/how\\ we\\ work.md\nSee @more\\ docs.md, too.\n@docs/how we\n";
        let out = expanded(
            &[("CLAUDE.md", text), ("docs/how we work.md", "Calmly.\n"), ("more docs.md", "M\n")],
            None,
        );
        assert_eq!(out.included, ["docs/how we work.md", "more docs.md"]);
        assert!(out.text.starts_with("Calmly.\nSee @more\\ docs.md, too.\n@docs/how we\n"));
    }

    #[test]
    fn code_addresses_and_scopes_are_no_imports() {
        let text =
            "Mail a@b.md, use `@git.md` and @types/node.\n```\n@git.md\n```\n~~~~\n@git.md\n~~~~\n";
        let out = expanded(&[("CLAUDE.md", text), ("git.md", "no")], None);
        assert_eq!(out, Expanded { text: text.into(), ..Expanded::default() });
    }

    #[test]
    fn what_is_outside_or_absent_is_named() {
        let out = expanded(
            &[("CLAUDE.md", "@~/.claude/me.md\n@../up.md\n@/etc/passwd.md\n@gone.md\n")],
            None,
        );
        let lost: Vec<&str> = out.lost.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(lost, ["@~/.claude/me.md", "@../up.md", "@/etc/passwd.md"]);
        assert_eq!(out.missing, ["gone.md"]);
    }

    #[test]
    fn a_section_stands_for_its_file_and_a_directory_is_named() {
        let out = expanded(
            &[("CLAUDE.md", "@docs/a.md#setup\nSee @docs and @docs/.\n"), ("docs/a.md", "A\n")],
            None,
        );
        assert_eq!(out.text, "A\nSee @docs and @docs/.\n");
        assert_eq!(
            (out.included, out.directories),
            (vec!["docs/a.md".into()], vec!["docs".into(), "docs/.".into()])
        );
    }

    #[test]
    fn circles_end_and_depth_is_bounded() {
        let chain: Vec<(String, String)> =
            (0..9).map(|n| (format!("{n}.md"), format!("T{n}\n@{}.md\n", n + 1))).collect();
        let mut files =
            vec![("CLAUDE.md", "@0.md\n@self.md\n"), ("self.md", "S\n@self.md\n@CLAUDE.md\n")];
        files.extend(chain.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let out = expanded(&files, None);
        assert!(out.text.starts_with("T0\nT1\nT2\nT3\nT4\n@5.md\n"), "{}", out.text);
        assert!(out.text.ends_with("S\n"), "{}", out.text);
        assert_eq!(out.lost[0].0, "@5.md");
    }

    #[test]
    fn a_skipped_file_is_removed_from_the_text() {
        let out = expanded(
            &[("CLAUDE.md", "@AGENTS.md\nMore.\n"), ("AGENTS.md", "A\n")],
            Some("AGENTS.md"),
        );
        assert_eq!((out.text.as_str(), out.names_skipped), ("More.\n", true));
    }
}
