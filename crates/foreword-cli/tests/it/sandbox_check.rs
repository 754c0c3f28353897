//! `foreword sandbox check`: what the sandboxes of this machine guarantee.

use serde_json::Value;

use crate::support::Scratch;

fn check(scratch: &Scratch, sandbox: &str) -> (Value, i32) {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("secret.txt"), "secret").unwrap();
    std::fs::create_dir_all(scratch.config_dir()).unwrap();
    std::fs::write(scratch.config_dir().join("audit.key"), "key").unwrap();
    let run = scratch
        .command(&["sandbox", "check", "--json", "--sandbox", sandbox])
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("SECRET_OF_THE_PERSON", "in the environment")
        .run();
    (serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}")), run.status)
}

fn point<'a>(report: &'a Value, topic: &str) -> &'a Value {
    let mut points = report["points"].as_array().unwrap().iter();
    points.find(|point| point["topic"] == topic).unwrap_or_else(|| panic!("{topic}: {report}"))
}

#[test]
fn every_guarantee_holds_in_bwrap() {
    if !std::path::Path::new("/usr/bin/bwrap").exists() {
        return foreword_testing::skip("bwrap", "not installed");
    }
    let scratch =
        Scratch::new(&[("foreword.toml", "[host.limits]\nprocesses = 500\nmemory_mb = 99999\n")]);
    let (report, code) = check(&scratch, "bwrap");
    assert_eq!((code, &report["holds"]), (0, &Value::Bool(true)), "{report}");
    assert_eq!(report["points"].as_array().unwrap().len(), 8, "{report}");
    assert_eq!(report["limits"]["processes"], 500);
    assert_eq!(report["limits"]["memoryBytes"], 8_u64 << 30, "a workspace cannot raise a limit");
    assert!(!scratch.join(".foreword").exists(), "the workspace is not touched");
    let text = scratch.command(&["sandbox", "check", "--sandbox", "bwrap"]);
    let text = text.env("PATH", std::env::var_os("PATH").unwrap()).run().ok().stdout;
    assert!(text.contains("network          closed\n"), "{text}");
    assert!(text.contains("500 processes and threads, 8192 MiB memory"), "{text}");
}

#[test]
fn a_subprocess_says_that_the_network_is_open() {
    let scratch = Scratch::new(&[]);
    let (report, code) = check(&scratch, "subprocess");
    assert_eq!((code, &report["holds"]), (1, &Value::Bool(false)), "{report}");
    let network = point(&report, "network");
    assert_eq!((&network["promised"], &network["holds"]), (&false.into(), &false.into()));
    assert!(network["found"].to_string().contains("UDP"), "{network}");
    for topic in ["limits", "kernel_calls", "workspace"] {
        assert_eq!(point(&report, topic)["holds"], true, "{report}");
    }
    for point in report["points"].as_array().unwrap() {
        assert!(point["holds"] == true || point["promised"] == false, "broken promise: {point}");
    }
}

#[test]
fn one_that_is_not_installed_is_a_usage_error() {
    let scratch = Scratch::new(&[]);
    let run = scratch.run(&["sandbox", "check", "--sandbox", "nsjail"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("`nsjail` is not installed"), "{run:?}");
}
