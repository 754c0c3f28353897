use super::*;
use crate::testing::Scratch;
use std::time::{Duration, Instant};

fn names(scan: &SkillScan) -> Vec<(&str, &str)> {
    scan.skills.iter().map(|s| (s.name.as_str(), s.body.path.as_str())).collect()
}

fn problems(scan: &SkillScan) -> Vec<String> {
    scan.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn skills_are_folders_and_files_sorted_by_name() {
    let scratch = Scratch::new(&[
        ("skills/zip/SKILL.md", "---\nname: zip\ndescription: Packs\nlicense: MIT\n---\n\nZip it."),
        ("skills/zip/scripts/run.md", "not a skill"),
        ("skills/brew.md", "# Brewing\n"),
        ("skills/named/SKILL.md", "---\nname: another\nmetadata:\n  a: {b: c}\n---\nx"),
        ("skills/README.md", "about"),
        ("skills/assets/logo.txt", "no skill"),
        ("skills/.hidden/SKILL.md", "hidden"),
        ("skills/notes.txt", "notes"),
    ]);
    let scan = scratch.open().skills().unwrap();
    assert_eq!(
        names(&scan),
        [
            ("another", "skills/named/SKILL.md"),
            ("brew", "skills/brew.md"),
            ("zip", "skills/zip/SKILL.md"),
        ]
    );
    assert!(scan.problems.is_empty());
    assert_eq!(
        scan.skills[2],
        Skill {
            name: "zip".into(),
            description: Some("Packs".into()),
            modes: Vec::new(),
            invocation: Invocation { model: true, people: true },
            body: SourceFile {
                path: "skills/zip/SKILL.md".into(),
                text: "Zip it.".into(),
                first_line: 7,
            },
            root: "skills".into(),
            dir: Some("skills/zip".into()),
            digest: blake3::hash(
                b"---\nname: zip\ndescription: Packs\nlicense: MIT\n---\n\nZip it."
            )
            .into(),
            broken_header: None,
        }
    );
    assert_eq!(
        (scan.skills[1].dir.as_deref(), scan.skills[1].description.as_deref()),
        (None, None)
    );
}

#[test]
fn the_first_root_wins_and_the_others_are_reported() {
    let scratch = Scratch::new(&[
        (
            "ws/foreword.toml",
            "[skills]\nroots = ['.claude/skills', '../shared/', 'skills', 'gone']",
        ),
        ("ws/skills/a/SKILL.md", "own"),
        ("ws/skills/a.md", "own, again"),
        ("ws/.claude/skills/a/SKILL.md", "claude's"),
        ("ws/.claude/skills/b/SKILL.md", "claude's"),
        ("shared/b.md", "shared"),
        ("shared/c.md", "shared"),
    ]);
    let scan = scratch.open_allowing(&["shared"]).skills().unwrap();
    assert_eq!(
        names(&scan),
        [("a", "skills/a/SKILL.md"), ("b", ".claude/skills/b/SKILL.md"), ("c", "../shared/c.md"),]
    );
    assert_eq!(scan.skills[2].root, "../shared/");
    assert_eq!(
        problems(&scan),
        [
            "skills/a.md: skill `a` is hidden by skills/a/SKILL.md",
            ".claude/skills/a/SKILL.md: skill `a` is hidden by skills/a/SKILL.md",
            "../shared/b.md: skill `b` is hidden by .claude/skills/b/SKILL.md",
            "gone: directory not found",
        ]
    );
}

#[test]
fn a_skill_that_cannot_be_read_is_a_problem_and_no_more() {
    let scratch = Scratch::new(&[("skills/good.md", "fine"), ("skills/folder/SKILL.md/x", "")]);
    scratch.write("skills/latin.md", b"caf\xe9");
    let scan = scratch.open().skills().unwrap();
    assert_eq!(names(&scan), [("good", "skills/good.md")]);
    let problems = problems(&scan);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], "skills/folder/SKILL.md: is a directory; a file is expected here");
    assert_eq!(problems[1], "skills/latin.md:1: is not UTF-8 text (byte 3)");
}

#[test]
fn no_header_keeps_a_skill_out() {
    let scratch = Scratch::new(&[
        ("skills/open.md", "---\nname: x\n"),
        ("skills/colon.md", "---\nname: colon\ndescription: use when: asked\n---\nBody."),
        ("skills/flow.md", "---\n{name: flow, description: Flows., tags: [a, b]}\n---\nBody."),
        ("skills/list.md", "---\nname: [a, b]\ntags: &t [x]\nmore: *t\n---\nBody."),
        ("skills/twice.md", "---\nname: twice\nname: other\n---\nBody."),
        ("skills/unfinished.md", "---\nname: [\n---\nBody."),
    ]);
    let scan = scratch.open().skills().unwrap();
    assert!(scan.problems.is_empty(), "{:?}", scan.problems);
    let found: Vec<_> =
        scan.skills.iter().map(|s| (s.name.as_str(), s.description.as_deref())).collect();
    assert_eq!(
        found,
        [
            ("colon", Some("use when: asked")),
            ("flow", Some("Flows.")),
            ("list", None),
            ("open", None),
            ("twice", None),
            ("unfinished", None),
        ]
    );
    let broken = |skill: &Skill| Some((skill.name.clone(), skill.broken_header.as_ref()?.line));
    let broken: Vec<_> = scan.skills.iter().filter_map(broken).collect();
    assert_eq!(
        broken,
        [("colon".to_owned(), 3), ("open".to_owned(), 1), ("unfinished".to_owned(), 2)]
    );
    assert_eq!(scan.skills[3].body.text, "---\nname: x\n");
}

#[test]
fn names_that_differ_only_in_case_are_one_name() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "[skills]\nroots = ['more']"),
        ("skills/Deploy/SKILL.md", "upper"),
        ("skills/deploy/SKILL.md", "lower"),
        ("skills/other/SKILL.md", "---\nname: DEPLOY\n---\nheader"),
        ("skills/Tea.md", "upper"),
        ("skills/good.md", "good"),
        ("more/tea.md", "lower, and later"),
    ]);
    let scan = scratch.open().skills().unwrap();
    assert_eq!(
        names(&scan),
        [
            ("Tea", "skills/Tea.md"),
            ("deploy", "skills/deploy/SKILL.md"),
            ("good", "skills/good.md")
        ]
    );
    assert_eq!(
        problems(&scan),
        [
            "skills/Deploy/SKILL.md: skill `Deploy` differs only in case from `deploy` in \
             skills/deploy/SKILL.md, which is used instead",
            "skills/other/SKILL.md: skill `DEPLOY` differs only in case from `deploy` in \
             skills/deploy/SKILL.md, which is used instead",
            "more/tea.md: skill `tea` differs only in case from `Tea` in skills/Tea.md, which is \
             used instead",
        ]
    );
}

#[test]
fn a_digest_is_of_the_bytes_on_disk() {
    let scratch = Scratch::new(&[("skills/a.md", "\u{feff}a\r\nb\r\n")]);
    let scan = scratch.open().skills().unwrap();
    assert_eq!(scan.skills[0].body.text, "a\nb\n");
    assert_eq!(scan.skills[0].digest, *blake3::hash("\u{feff}a\r\nb\r\n".as_bytes()).as_bytes());
}

#[test]
fn heads_are_the_same_skills_and_problems() {
    let many: Vec<(String, String)> = (0..300)
        .map(|n| (format!("skills/s{n:03}/SKILL.md"), format!("---\nname: t{n}\n---\nbody")))
        .chain([
            ("skills/T7.md".to_owned(), "hidden".to_owned()),
            ("skills/bad.md".to_owned(), "a\0b".to_owned()),
        ])
        .collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let scratch = Scratch::new(&many);
    let scan = scratch.open().skills().unwrap();
    let heads = scratch.open().skill_heads(&()).unwrap();
    assert_eq!(scan.skills.len(), 300);
    let of_skill = |s: &Skill| (s.name.clone(), s.body.path.clone(), s.dir.clone(), s.digest);
    let of_head = |h: &crate::SkillHead| (h.name.clone(), h.path.clone(), h.dir.clone(), h.digest);
    assert_eq!(
        scan.skills.iter().map(of_skill).collect::<Vec<_>>(),
        heads.heads.iter().map(of_head).collect::<Vec<_>>()
    );
    assert_eq!(problems(&scan), heads.problems.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!((heads.hidden.len(), heads.read), (1, 302));
}

#[test]
fn a_bomb_in_a_key_nobody_reads_costs_nothing() {
    let mut bomb = String::from("---\nname: x\na: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (previous, next) in "abcdefghi".chars().zip("bcdefghij".chars()) {
        bomb += &format!("{next}: &{next} [{}]\n", vec![format!("*{previous}"); 10].join(","));
    }
    bomb += "---\nbody";
    let scratch = Scratch::new(&[("skills/bomb.md", &bomb)]);
    let start = Instant::now();
    let scan = scratch.open().skills().unwrap();
    assert!(start.elapsed() < Duration::from_millis(100));
    assert_eq!(names(&scan), [("x", "skills/bomb.md")]);
}

#[test]
fn another_directory_can_hold_the_skills() {
    let scratch = Scratch::new(&[
        ("foreword.toml", "[skills]\ndirectory = './lib/skills/'"),
        ("lib/skills/a.md", "a"),
        ("skills/b.md", "b"),
    ]);
    assert_eq!(names(&scratch.open().skills().unwrap()), [("a", "lib/skills/a.md")]);
}

#[test]
fn a_file_in_place_of_the_directory_is_an_error() {
    let scratch = Scratch::new(&[("skills", "oops")]);
    assert_eq!(scratch.open().skills().unwrap_err().to_string(), "skills: is not a directory");
}

#[cfg(unix)]
#[test]
fn links_in_skills_stay_inside() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new(&[
        ("ws/lib/a/SKILL.md", "a"),
        ("ws/skills/x.md", "x"),
        ("out/b/SKILL.md", "b"),
        ("linked/c.md", "c"),
        ("ws/foreword.toml", "[skills]\nroots = ['mirror', 'linked']"),
    ]);
    let at = |path: &str| scratch.path().join(path);
    symlink("../lib/a", at("ws/skills/a")).unwrap();
    symlink("../../out/b", at("ws/skills/b")).unwrap();
    symlink("skills", at("ws/mirror")).unwrap();
    symlink("../linked", at("ws/linked")).unwrap();
    let scan = scratch.open_allowing(&["linked"]).skills().unwrap();
    assert_eq!(
        names(&scan),
        [("a", "skills/a/SKILL.md"), ("c", "linked/c.md"), ("x", "skills/x.md")]
    );
    let told = problems(&scan);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("skills/b: is a link that leaves the workspace: it leads to "));

    // Without consent a root outside is passed over, also behind a link of an innocent name.
    let scan = Workspace::open(&at("ws")).unwrap().skills().unwrap();
    assert_eq!(names(&scan), [("a", "skills/a/SKILL.md"), ("x", "skills/x.md")]);
    let told = problems(&scan).join("\n");
    assert!(told.contains("skipped the skills in `linked`"), "{told}");
    assert!(told.contains("run `foreword trust` to allow it"), "{told}");
}

#[cfg(unix)]
#[test]
fn the_own_directory_must_not_lead_outside() {
    let scratch = Scratch::new(&[("out/a.md", "a"), ("ws/foreword.toml", "")]);
    std::os::unix::fs::symlink("../out", scratch.path().join("ws/skills")).unwrap();
    let error = Workspace::open(&scratch.path().join("ws")).unwrap().skills().unwrap_err();
    assert!(matches!(error, WorkspaceError::LinkOutside { .. }), "{error}");
}

#[test]
fn a_skill_may_be_for_some_modes_only() {
    let scratch = Scratch::new(&[
        ("skills/list.md", "---\nmodes: [plan, review]\n---\nText.\n"),
        ("skills/row.md", "---\nmodes: plan, act\n---\nText.\n"),
        ("skills/other-client.md", "---\nmodes: [architect]\n---\nText.\n"),
        ("skills/format.md", "---\nmetadata:\n  modes: review\n---\nText.\n"),
        ("skills/none.md", "---\nlicense: MIT\n---\nText.\n"),
    ]);
    let scan = scratch.open().skills().unwrap();
    let modes = |name: &str| {
        let skill = scan.skills.iter().find(|skill| skill.name == name).unwrap();
        skill.modes.iter().map(|mode| mode.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(modes("list"), ["plan", "review"]);
    assert_eq!(modes("row"), ["plan", "act"]);
    assert_eq!(modes("format"), ["review"]);
    assert!(modes("other-client").is_empty() && modes("none").is_empty());
}

#[test]
fn a_header_says_who_may_ask_for_a_skill() {
    let manual = "---\nname: deploy\ndisable-model-invocation: true\n---\nDeploy.\n";
    let scratch = Scratch::new(&[
        ("skills/deploy/SKILL.md", manual),
        ("skills/tea.md", "---\ndisable-model-invocation: false\n---\nBrew.\n"),
        ("skills/odd.md", "---\ndisable-model-invocation: True\nx: [\n---\nOdd.\n"),
        ("skills/quiet.md", "---\nuser-invocable: false\n---\nQuiet.\n"),
        ("skills/nobody.md", "---\ndisable-model-invocation: 1\nuser-invocable: 'No'\n---\nX.\n"),
    ]);
    let scan = scratch.open().skills().unwrap();
    let skills = scan.skills.iter();
    let asked: Vec<_> =
        skills.map(|it| (it.name.as_str(), it.invocation.model, it.invocation.people)).collect();
    let expected = [
        ("deploy", false, true),
        ("nobody", false, false),
        ("odd", false, true),
        ("quiet", true, false),
        ("tea", true, true),
    ];
    assert_eq!((asked.as_slice(), scan.problems.len()), (expected.as_slice(), 0));
    let heads = scratch.open().skill_heads(&()).unwrap().heads;
    assert!(
        heads.iter().zip(&scan.skills).all(|(head, skill)| head.invocation == skill.invocation)
    );
}
