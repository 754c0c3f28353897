//! Every command and every output in the quickstart, the tutorials and the concepts is what happens.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::support::console::Console;

fn docs() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))
}

/// The pages that are run, each in a test of its own.
macro_rules! pages {
    ($($test:ident = $page:literal,)+) => {
        const PAGES: &[&str] = &[$($page),+];

        $(
            #[test]
            fn $test() {
                let page = std::fs::read_to_string(docs().join($page)).unwrap();
                let commands = Console::new().run(&page);
                assert!(!commands.is_empty(), "the page shows no command");
            }
        )+
    };
}

pages! {
    quickstart = "quickstart.md",
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

#[test]
fn every_tutorial_and_concept_with_a_command_is_run() {
    let mut found = BTreeSet::from(["quickstart.md".to_owned()]);
    for folder in ["tutorials", "concepts"] {
        for entry in std::fs::read_dir(docs().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            if folder == "tutorials" || text.contains("```console") {
                found.insert(format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap()));
            }
        }
    }
    let run: BTreeSet<String> =
        PAGES.iter().chain(&BINDINGS).map(|&page| page.to_owned()).collect();
    assert_eq!(found, run);
}
