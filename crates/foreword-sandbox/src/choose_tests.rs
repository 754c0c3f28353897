use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn launcher() -> Launcher {
    Launcher {
        program: "/opt/foreword".into(),
        library: None,
        command: vec!["sandbox-launch".into()],
    }
}

fn available<'a>(lookup: &'a dyn Fn(&str) -> Option<PathBuf>) -> Available<'a> {
    Available {
        lookup,
        launcher: launcher(),
        docker_image: Some("image".into()),
        remember_in: None,
    }
}

fn script(directory: &Path, name: &str, text: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn with_nothing_installed_there_is_still_a_process() {
    let nothing = |_: &str| None;
    let available = available(&nothing);
    assert_eq!(available.best().kind(), SandboxKind::Subprocess);
    let error = available.named(SandboxKind::Bwrap).unwrap_err().to_string();
    assert!(error.starts_with("sandbox bwrap is unavailable: `bwrap` is not installed; install"));
    let fared: Vec<bool> = available.all().into_iter().map(|found| found.is_ok()).collect();
    assert_eq!(fared, [false, false, false, false, true]);
}

#[test]
fn one_that_is_installed_and_does_not_work_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let broken = script(
        directory.path(),
        "bwrap",
        "echo 'No permissions to create new namespace' >&2; exit 1",
    );
    let engine = script(directory.path(), "docker", "exit 0");
    let lookup = |name: &str| match name {
        "bwrap" => Some(broken.clone()),
        "docker" => Some(engine.clone()),
        _ => None,
    };
    let available = available(&lookup);
    assert_eq!(available.best().kind(), SandboxKind::Docker);
    let error = available.named(SandboxKind::Bwrap).unwrap_err().to_string();
    assert!(
        error.contains("unavailable: No permissions to create new namespace; install"),
        "{error}"
    );
    let without_image = Available { docker_image: None, ..available };
    let error = without_image.named(SandboxKind::Docker).unwrap_err().to_string();
    assert!(error.contains("no image is configured"), "{error}");
}

#[test]
fn what_works_is_tried_once_and_again_when_the_program_changes() {
    let directory = tempfile::tempdir().unwrap();
    let tried = directory.path().join("tried");
    let count = || fs::read_to_string(&tried).unwrap_or_default().len();
    let works = format!("printf x >> '{}'; exit 0", tried.display());
    let bwrap = script(directory.path(), "bwrap", &works);
    let lookup = |name: &str| (name == "bwrap").then(|| bwrap.clone());
    let memory = directory.path().join("config/foreword");
    let entry = memory.join("sandbox-bwrap-works");
    let available = Available { remember_in: Some(memory), ..available(&lookup) };
    for _ in 0..3 {
        assert_eq!(available.best().kind(), SandboxKind::Bwrap);
    }
    assert_eq!(count(), 1);

    // An entry without a version is probed again and rewritten.
    let text = fs::read_to_string(&entry).unwrap();
    let key = text.strip_prefix("version = 1\nkey = \"").unwrap().trim_end_matches("\"\n");
    fs::write(&entry, key).unwrap();
    fs::remove_file(&tried).unwrap();
    for _ in 0..2 {
        assert!(available.named(SandboxKind::Bwrap).is_ok());
    }
    assert_eq!((count(), fs::read_to_string(&entry).unwrap()), (1, text));

    script(directory.path(), "bwrap", &format!("{works} # newer"));
    assert!(available.named(SandboxKind::Bwrap).is_ok());
    assert_eq!(count(), 2);
    script(directory.path(), "bwrap", "exit 1");
    for _ in 0..2 {
        assert!(available.named(SandboxKind::Bwrap).is_err());
    }
}

#[test]
fn an_engine_that_hangs_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let hangs = script(directory.path(), "docker", "exec sleep 60");
    let error = Docker::new(hangs, "image".into()).trial().unwrap_err().to_string();
    assert!(error.contains("does not answer"), "{error}");
}

#[test]
fn programs_are_found_outside_the_workspace_only() {
    let directory = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(directory.path()).unwrap();
    fs::create_dir_all(root.join("w/bin")).unwrap();
    fs::create_dir_all(root.join("bin")).unwrap();
    script(&root.join("w/bin"), "bwrap", "");
    let workspace = root.join("w");
    let path =
        std::env::join_paths([root.join("w/bin"), ".".into(), "w/bin".into(), root.join("bin")])
            .unwrap();
    let find = programs_in(&path, &workspace);
    assert_eq!(find("bwrap"), None);
    let good = script(&root.join("bin"), "bwrap", "");
    assert_eq!(find("bwrap"), Some(good));
    assert_eq!(find("bin"), None);
}
