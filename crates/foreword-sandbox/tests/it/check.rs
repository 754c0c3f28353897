//! Every sandbox of this machine keeps what it promises, as `foreword sandbox check` finds out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{bwrap, launcher};
use foreword_sandbox::{
    Check, Docker, Limits, Nsjail, Point, Sandbox, Subprocess, Topic, landlock_level,
};

fn check(sandbox: &dyn Sandbox) -> Vec<Point> {
    let directory = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(directory.path()).unwrap().join("home");
    let scratch = directory.path().join("scratch");
    for made in [&home, &scratch] {
        fs::create_dir(made).unwrap();
    }
    let key = home.join("audit.key");
    fs::write(&key, "key").unwrap();
    let check = Check {
        sandbox,
        launcher: &launcher(),
        scratch: &scratch,
        home: Some(&home),
        keys: vec![key],
        limits: Limits::default(),
    };
    check.run().unwrap()
}

/// What is promised holds; returns the topics that do not hold and were not promised.
fn kept(sandbox: &dyn Sandbox) -> Vec<Topic> {
    let points = check(sandbox);
    assert_eq!(points.len(), 8, "{points:?}");
    for point in &points {
        assert!(point.holds() || !point.promised, "{}: {point:?}", sandbox.name());
    }
    points.into_iter().filter(|point| !point.holds()).map(|point| point.topic).collect()
}

#[test]
fn bwrap_keeps_everything() {
    let Some(bwrap) = bwrap() else { return };
    assert_eq!(kept(&bwrap), []);
}

#[test]
fn a_subprocess_keeps_what_its_landlock_can() {
    let open = kept(&Subprocess::new(launcher()));
    assert!(open.contains(&Topic::Network), "{open:?}");
    if landlock_level() < 3 {
        foreword_testing::skip("landlock", "the kernel has no Landlock ABI 3");
    }
}

#[test]
fn without_landlock_a_subprocess_still_refuses_user_namespaces() {
    let open = kept(&Subprocess::unconfined(launcher()));
    for topic in [Topic::Network, Topic::Home, Topic::Governed, Topic::Private] {
        assert!(open.contains(&topic), "{topic:?} {open:?}");
    }
    assert!(!open.contains(&Topic::KernelCalls) && !open.contains(&Topic::Workspace), "{open:?}");
}

fn installed(name: &str) -> Option<PathBuf> {
    let found = ["/usr/bin", "/usr/local/bin", "/bin"].map(|at| Path::new(at).join(name));
    found.into_iter().find(|path| path.exists())
}

#[test]
fn nsjail_keeps_everything() {
    let Some(program) = installed("nsjail") else {
        return foreword_testing::skip("nsjail", "not installed");
    };
    let nsjail = Nsjail::new(program, launcher());
    match nsjail.trial() {
        Ok(()) => assert_eq!(kept(&nsjail), []),
        Err(error) => foreword_testing::skip("nsjail", &error.to_string()),
    }
}

#[test]
fn docker_keeps_everything() {
    let image = std::env::var("FOREWORD_DOCKER_IMAGE");
    let (Some(program), Ok(image)) = (installed("docker"), image) else {
        return foreword_testing::skip("docker", "not installed, or no FOREWORD_DOCKER_IMAGE");
    };
    let docker = Docker::new(program, image);
    match docker.trial() {
        Ok(()) => assert_eq!(kept(&docker), []),
        Err(error) => foreword_testing::skip("docker", &error.to_string()),
    }
}
