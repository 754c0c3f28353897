//! The checks of `fuzz/schedule_checks.rs` and `fuzz/reading_checks.rs` on arbitrary text, and on schedules,
//! settings, records and directories that were damaged. `fuzz/harness.rs` says how.

#[path = "../../../../fuzz/harness.rs"]
mod harness;
#[path = "../../../../fuzz/reading_checks.rs"]
mod reading_checks;
#[path = "../../../../fuzz/schedule_checks.rs"]
mod schedule_checks;

use harness::{damaged, fuzz, fuzz_cases};

/// Texts of a check in a short run that writes a tree of files for each.
const WRITTEN: u32 = 64;

const SCHEDULES: &[&str] =
    &["30 9 * * MON-FRI", "*/15 0-5,12 1,15 */3 5-7/2", "0 0 29 FEB *", "@daily", "5/20 * 31 4 *"];

const TREES: &[&str] = &[
    "f AGENTS.md Be-kind\nl SOUL.md ../zq-outside\nd skills\nf skills/x/SKILL.md x\np foreword.toml\n",
    "l .git ../zq-outside\nf .git/HEAD ref:\nl a/b/c ../../../zq-outside\nl d /dev/zero\n",
    "d .git\nl .git/HEAD ../../zq-outside\np .git/index\nb .git/packed-refs\nl .git/refs refs\n",
    "f foreword.toml agent='x'\nl agents/x/AGENT.md ../../../zq-outside\nl loop loop\nh same AGENTS.md\n",
    "l CLAUDE.md AGENTS.md\nf AGENTS.md x\nl prompts .\nl skills/s ../prompts/skills\nb IDENTITY.md\n",
];

const GIT_FILES: &[&str] = &[
    "\0ref: refs/heads/fix/login\n",
    "\u{1}DIRC\0\0\0\u{2}\0\0\0\u{1}",
    "\u{2}# pack-refs with: peeled\nabcdef0123456789abcdef0123456789abcdef01 refs/heads/main\n^abcd\n",
    "\u{4}[core]\n\thooksPath = .husky\n[include]\n\tpath = ../x\n[alias]\n\tst = !sh \"a b\"\n",
    "\u{5}../elsewhere\n",
    "\u{9}[submodule \"a\"]\n\tpath = a/../b\n\turl = x\n",
];

const SETTINGS: &[&str] = &[
    foreword_workspace::DEFAULT_SETTINGS_TEXT,
    "[[model.servers]]\nurl = 'https://llm.example'\nkey_env = 'K'\n[limits.turn]\ncost = 0.5\n",
    "[sandbox]\nprocesses = 64\n[skills]\nroots = ['/x']\n[host]\nretention = '90d'\nsandboxes = ['subprocess']\n",
];

const TRUST: &[&str] = &[
    r#"{"format":2,"workspace":"/x","files":{"files":{"SOUL.md":{"group":"identity","digest":"00"}}},"settings":null}"#,
    r#"{"workspace":"/x","files":{}}"#,
];

const PRICES: &[&str] = &[
    "date = '2026-01-01'\n[[model]]\nprefix = 'm'\ninput = 0\ncached = 0\ncache_write = 0\noutput = 1000\n",
];

#[test]
fn any_text_as_a_schedule() {
    fuzz(damaged(SCHEDULES), schedule_checks::schedule);
}

#[test]
fn any_directory_before_the_reader() {
    let directory = tempfile::tempdir().unwrap();
    fuzz_cases(WRITTEN, damaged(TREES), |text| {
        reading_checks::tree_reader(directory.path(), text);
    });
}

#[test]
fn any_file_of_a_repository() {
    let directory = tempfile::tempdir().unwrap();
    fuzz_cases(WRITTEN, damaged(GIT_FILES), |text| {
        reading_checks::git_files(directory.path(), text.as_bytes());
    });
}

#[test]
fn any_settings_of_a_person() {
    fuzz(damaged(SETTINGS), reading_checks::personal_settings);
}

#[test]
fn any_record_of_trust() {
    let directory = tempfile::tempdir().unwrap();
    fuzz(damaged(TRUST), |text| reading_checks::trust_record(directory.path(), text));
}

#[test]
fn any_table_of_prices() {
    let directory = tempfile::tempdir().unwrap();
    fuzz(damaged(PRICES), |text| reading_checks::price_table(directory.path(), text));
}
