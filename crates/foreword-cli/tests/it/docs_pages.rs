//! Every command and every output in a `console` block of the book is what happens.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use crate::support::console::Console;

fn docs() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
}

/// Whether the programs that a page uses are here. A page that shows the sandbox of a turn shows `bwrap`.
fn can_run(page: &str) -> bool {
    let programs = [
        ("bwrap", "· bwrap ·"),
        ("bwrap", "sandbox bwrap"),
        ("python3", "python3 agent.py"),
        ("git", "\n$ git "),
    ];
    let missing = programs.into_iter().find(|(program, shown)| {
        page.contains(shown) && Command::new(program).arg("--version").output().is_err()
    });
    if let Some((program, _)) = missing {
        foreword_testing::skip(program, "not installed");
    }
    missing.is_none()
}

/// The pages that are run, each in a test of its own.
macro_rules! pages {
    ($($test:ident = $page:literal,)+) => {
        const PAGES: &[&str] = &[$($page),+];

        $(
            #[test]
            fn $test() {
                let page = std::fs::read_to_string(docs().join($page)).unwrap();
                if can_run(&page) {
                    let commands = Console::new().run(&page);
                    assert!(!commands.is_empty(), "the page shows no command");
                }
            }
        )+
    };
}

pages! {
    quickstart = "quickstart.md",
    blueprints = "blueprints.md",
    explain = "explain.md",
    layers = "layers.md",
    permissions = "permissions.md",
    selection = "selection.md",
    models = "models.md",
    memory = "memory.md",
    skills = "skills.md",
    host = "host.md",
    tools = "tools.md",
    sandboxes = "sandboxes.md",
    tokens = "tokens.md",
    watch = "watch.md",
    serve = "serve.md",
    migrating = "migrating.md",
    audit = "audit.md",
    backup = "backup.md",
    scanner = "scanner.md",
    authority = "concepts/authority.md",
    budget = "concepts/budget.md",
    cache = "concepts/cache.md",
    taint = "concepts/taint.md",
    tutorial_watch = "tutorials/watch.md",
    tutorial_first_agent = "tutorials/first-agent.md",
    tutorial_claude_code = "tutorials/claude-code.md",
    tutorial_skills = "tutorials/skills.md",
    tutorial_review = "tutorials/review.md",
}

/// Pages with code of other languages, which the tests of the bindings run.
const BINDINGS: [&str; 2] = ["tutorials/python.md", "tutorials/typescript.md"];

/// A reader does not see the `file=` of a block, so the text in front of it names the file.
#[test]
fn every_file_that_a_page_shows_is_named_before_it() {
    for page in PAGES {
        let text = std::fs::read_to_string(docs().join(page)).unwrap();
        let mut before = "";
        for line in text.lines().filter(|line| !line.is_empty()) {
            let file = line.strip_prefix("```").and_then(|info| info.split_once(" file="));
            if let Some((_, path)) = file {
                assert!(before.contains(&format!("`{path}`")), "{page}: {path} is not named");
            }
            before = line;
        }
    }
}

/// A block called `console` is run; other examples are `text` or `sh`.
#[test]
fn every_page_with_a_console_is_run() {
    let mut found = BTreeSet::new();
    for folder in ["", "tutorials", "concepts", "decisions", "internals", "reference"] {
        for entry in std::fs::read_dir(docs().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            if folder == "tutorials" || text.contains("```console") {
                let page = path.strip_prefix(docs()).unwrap();
                found.insert(page.to_str().unwrap().to_owned());
            }
        }
    }
    let run: BTreeSet<String> =
        PAGES.iter().chain(&BINDINGS).map(|&page| page.to_owned()).collect();
    assert_eq!(found, run);
}
