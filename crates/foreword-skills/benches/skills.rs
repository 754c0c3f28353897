//! Time of listing 10,000 skills, and from a proposal to its durable commit:
//! `cargo bench -p foreword-skills`. Files are in `TMPDIR`; set it to a RAM disk to leave out the disk.
#![expect(clippy::unwrap_used, reason = "helpers of a bench may panic")]

use std::time::{Duration, SystemTime};

use divan::Bencher;
use foreword_skills::{
    Act, GitStore, GitStoreOptions, LIST_CACHE, ProposalRequest, Screeners, SkillStore as _, list,
};
use foreword_workspace::{PRIVATE_DIR, Workspace};

fn main() {
    divan::main();
}

#[divan::bench(args = [false, true], sample_count = 10, sample_size = 1)]
fn list_10_000(bencher: Bencher<'_, '_>, cached: bool) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    std::fs::create_dir(root.join(PRIVATE_DIR)).unwrap();
    for number in 0..10_000 {
        let folder = root.join(format!("skills/skill-{number:05}"));
        std::fs::create_dir_all(&folder).unwrap();
        let steps = "Do the task well, and report the result.\n".repeat(60);
        let header =
            format!("name: skill-{number:05}\ndescription: Does task {number} on request.");
        std::fs::write(folder.join("SKILL.md"), format!("---\n{header}\n---\n\n{steps}")).unwrap();
    }
    // The cache does not trust files that have just changed.
    std::thread::sleep(Duration::from_millis(200));
    let cache = root.join(PRIVATE_DIR).join(LIST_CACHE);
    let cache = cached.then_some(cache.as_path());
    let all = || list(&Workspace::open(root).unwrap(), cache, SystemTime::now()).unwrap();
    assert_eq!(all().skills.len(), 10_000);
    bencher.bench_local(all);
}

/// A skill of 2 KB that screening approves.
fn request(number: usize) -> ProposalRequest {
    let steps = "Do it well, say what was done, and write down what is left.\n".repeat(32);
    ProposalRequest {
        name: Some(format!("skill-{number:05}")),
        content: format!("# Thing {number}\n\nDoes thing {number}.\n\n{steps}"),
        reason: Some("asked for".into()),
        ..ProposalRequest::default()
    }
}

#[divan::bench(sample_count = 300, sample_size = 1)]
fn propose(bencher: Bencher<'_, '_>) {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().join("workspace");
    std::fs::create_dir(&root).unwrap();
    let options = GitStoreOptions {
        config_dir: scratch.path().join("config"),
        screeners: Screeners::default(),
    };
    let mut store = GitStore::new(Workspace::open(&root).unwrap(), options);
    let act = Act { at: 1_772_000_000_000, by: "agent:main".into() };
    // The first proposal creates the repository and the database.
    store.propose(request(0), &act).unwrap();
    let mut number = 0;
    bencher.bench_local(|| {
        number += 1;
        store.propose(request(number), &act).unwrap()
    });
}
