//! The audit key: made once, kept private, never in a workspace.

use std::fs;
use std::path::Path;

use foreword_store::{AuditKey, StoreError, check_outside_workspace};

fn text(config: &Path) -> String {
    fs::read_to_string(AuditKey::path(config)).unwrap()
}

#[test]
fn a_key_is_made_once_and_only_on_demand() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("a/foreword");
    let error = AuditKey::load(&config).unwrap_err();
    assert!(matches!(error, StoreError::NoKey { .. }));
    assert!(!config.exists());

    AuditKey::load_or_create(&config).unwrap();
    let first = text(&config);
    AuditKey::load_or_create(&config).unwrap();
    AuditKey::load(&config).unwrap();
    assert_eq!(text(&config), first);
    assert_eq!(fs::read_dir(&config).unwrap().count(), 1);
}

#[test]
fn a_key_is_never_printed() {
    assert_eq!(format!("{:?}", AuditKey::from_bytes([5; 32])), "AuditKey(…)");
}

#[test]
fn all_who_make_it_at_once_get_the_same() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("foreword");
        let seen: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        AuditKey::load_or_create(&config).unwrap();
                        text(&config)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(seen.iter().all(|one| *one == seen[0]));
        assert_eq!(fs::read_dir(&config).unwrap().count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_get_at_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("foreword");
    AuditKey::load_or_create(&config).unwrap();
    let path = AuditKey::path(&config);
    let is = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((is(&config), is(&path)), (0o700, 0o600));

    for exposed in [0o640, 0o604, 0o644, 0o620] {
        mode(&path, exposed).unwrap();
        let error = AuditKey::load_or_create(&config).unwrap_err();
        assert!(error.to_string().ends_with(&format!("has mode {exposed:o}")), "{error}");
        assert!(error.hint().unwrap().starts_with("run `chmod 600 "));
    }
    mode(&path, 0o400).unwrap();
    AuditKey::load(&config).unwrap();
    mode(&config, 0o777).unwrap();
    let error = AuditKey::load(&config).unwrap_err();
    assert!(error.hint().unwrap().starts_with("run `chmod 700 "));
}

#[test]
fn what_is_no_key_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path();
    AuditKey::load_or_create(config).unwrap();
    let good = text(config);
    for bad in ["", "hello", &good[..40], &good.replace('1', "2"), &format!("{good}x")] {
        fs::write(AuditKey::path(config), bad).unwrap();
        let error = AuditKey::load_or_create(config).unwrap_err();
        assert!(matches!(error, StoreError::KeyMalformed { .. }), "{bad}: {error}");
        assert_eq!(text(config), bad);
    }
}

#[test]
fn a_key_does_not_lie_in_the_workspace() {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().join("work");
    fs::create_dir(&workspace).unwrap();
    let outside = directory.path().join("config");
    check_outside_workspace(&outside, &workspace).unwrap();
    check_outside_workspace(&directory.path().join("workshop"), &workspace).unwrap();
    check_outside_workspace(directory.path(), &workspace).unwrap();
    for inside in ["", ".config/foreword", "a/../b"] {
        let error = check_outside_workspace(&workspace.join(inside), &workspace).unwrap_err();
        assert!(matches!(error, StoreError::KeyInsideWorkspace { .. }), "{inside}: {error}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&workspace, &outside).unwrap();
        assert!(check_outside_workspace(&outside.join("deep/er"), &workspace).is_err());
    }
}
