//! Small programs per class of attack, in every language, and honest twins.
//!
//! Each case is a folder with a `SKILL.md` about formatting text, which names no host, and one program.

mod collectors;
mod destinations;
mod generated;
mod honest;
mod hostile;
mod indirection;
mod languages;
mod manifests;
mod payments;
mod persistence;
mod repositories;
mod shells;
mod stagers;
mod stores;
mod walks;
mod ways_out;

use crate::screen::folder::{SkillFile, screen_folder};
use crate::screen::policy::Policy;
use crate::screen::verdict::{Screening, Verdict};

const SKILL: &str =
    "---\nname: tidy\ndescription: Formats tables.\n---\n\n# Tidy\n\nFormats tables.\n";

fn screen(skill: &str, files: &[(&str, &str)]) -> Screening {
    let mut list = vec![SkillFile { path: "SKILL.md", content: skill.as_bytes() }];
    list.extend(files.iter().map(|(path, text)| SkillFile { path, content: text.as_bytes() }));
    screen_folder(Policy::Import, &[], &list, &[])
}

/// Every program has exactly this verdict.
fn all(wanted: Verdict, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for case in cases {
        let screening = screen(SKILL, &[*case]);
        if screening.verdict != wanted {
            let found: Vec<_> = screening.findings.iter().map(|f| &f.message).collect();
            wrong.push(format!("{}: {:?}, {found:?}\n{}", case.0, screening.verdict, case.1));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

/// Every folder has exactly this verdict.
fn all_folders(wanted: Verdict, cases: &[&[(&str, &str)]]) {
    let mut wrong = Vec::new();
    for files in cases {
        let screening = screen(SKILL, files);
        if screening.verdict != wanted {
            let found: Vec<_> = screening.findings.iter().map(|f| &f.message).collect();
            wrong.push(format!("{:?}, {found:?}\n{files:?}", screening.verdict));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}
