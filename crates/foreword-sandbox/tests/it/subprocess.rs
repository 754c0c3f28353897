//! What an agent in a process confined by Landlock can do and cannot, tried out by a shell inside.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Scene, eventually, launcher, runs};
use foreword_sandbox::{Sandbox, Subprocess, die_with_parent_args, landlock_level};

/// A process confined by Landlock; skips the test where the kernel has none.
fn confined() -> Option<Subprocess> {
    confined_by(3)
}

/// The same, by this version of Landlock or a newer one.
fn confined_by(version: u8) -> Option<Subprocess> {
    let sandbox = Subprocess::new(launcher());
    let found = sandbox.landlock();
    if found < version {
        foreword_testing::skip("landlock", &format!("needs version {version}, found {found}"));
        return None;
    }
    Some(sandbox)
}

#[test]
fn what_exists_can_be_written_and_new_files_go_below() {
    let Some(sandbox) = confined() else { return };
    let scene = Scene::new();
    let script = "pwd; echo more >> notes.txt; echo new > src/new.txt; mkdir src/a; mv src/main.txt src/a; \
        ls; echo $GIVEN; echo tmp > \"$TMPDIR/x\" && cat \"$TMPDIR/x\"; echo h > ~/y && cat ~/y; echo $((6*7)) | cat";
    let output = scene.run(&sandbox, script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let listed = "AGENTS.md\nSOUL.md\nagents\nforeword.toml\nnotes.txt\nplans\nprompts\nskills\nsrc\nsub\ntools.toml";
    let expected = format!("{}\n{listed}\nby the host\ntmp\nh\n42\n", scene.workspace.display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(scene.read("notes.txt"), "notes\nmore\n");
    assert_eq!(scene.read("src/new.txt"), "new\n");
    assert_eq!(scene.read("src/a/main.txt"), "main\n");
}

#[test]
fn governed_files_cannot_be_written_replaced_removed_moved_away_or_created() {
    let Some(sandbox) = confined() else { return };
    let scene = Scene::new();
    let files = [
        "foreword.toml",
        "plans/mine.toml",
        "tools.toml",
        "SOUL.md",
        "AGENTS.md",
        "skills/deploy/SKILL.md",
        "prompts/base.md",
        "agents/cosmo/AGENT.md",
        "sub/AGENTS.md",
        ".git/config",
        ".git/hooks/pre-commit",
    ];
    let before = files.map(|file| scene.read(file));
    for file in files {
        let outer = file.split('/').next().unwrap();
        for attempt in [
            format!("echo evil > '{file}'"),
            format!("echo evil >> '{file}'"),
            format!("truncate -s 0 '{file}'"),
            format!("perl -e 'truncate($ARGV[0], 0) or exit 1' '{file}'"),
            format!("rm -f '{file}'"),
            format!("mv '{file}' src/away"),
            format!("echo evil > src/e; mv -f src/e '{file}'"),
            format!("ln -f '{file}' src/linked && echo evil > src/linked"),
            format!("ln -s '../{file}' src/sym; echo evil > src/sym"),
            format!("mv '{outer}' src/away"),
            format!("rm -rf '{outer}'"),
            format!("echo evil > /proc/self/cwd/'{file}'"),
            format!("unshare -Urm sh -c 'mount --bind src \"{outer}\" && echo evil > \"{file}\"'"),
        ] {
            let output = scene.run(&sandbox, &format!("{attempt}\ntest $? != 0 && echo failed"));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said, "failed\n", "{attempt}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let _ = fs::remove_file(scene.workspace.join("src/sym"));
    }
    assert_eq!(files.map(|file| scene.read(file)), before);
    for new in [
        "CLAUDE.md",
        "IDENTITY.md",
        "skills/new.md",
        "prompts/new.md",
        "sub/CLAUDE.md",
        "foreword.lock",
    ] {
        scene.run(&sandbox, &format!("echo evil > {new}"));
        assert!(!scene.workspace.join(new).exists(), "{new}");
    }
}

#[test]
fn the_home_and_the_database_cannot_be_read() {
    let Some(sandbox) = confined() else { return };
    let scene = Scene::new();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    fs::write(elsewhere.path(), "elsewhere").unwrap();
    for path in [
        scene.home.join(".ssh/id_ed25519").display().to_string(),
        scene.home.join(".config/foreword/audit.key").display().to_string(),
        ".foreword/foreword.db".into(),
        "/etc/shadow".into(),
        elsewhere.path().display().to_string(),
        "/proc/1/environ".into(),
        format!("/proc/{}/environ", std::process::id()),
        format!("/proc/{}/mem", std::process::id()),
    ] {
        assert_eq!(scene.says(&sandbox, &format!("head -c 1 '{path}' | wc -c")), "0\n", "{path}");
        assert_eq!(scene.says(&sandbox, &format!("echo x > '{path}' && echo wrote")), "", "{path}");
    }
    assert_eq!(scene.says(&sandbox, "ls -A ..; ls /root; echo x > /tmp/evil && echo wrote"), "");
    assert_eq!(
        scene.says(&sandbox, "cat ../../run/session.txt; echo x > ../../run/new && echo w"),
        "session"
    );
    assert!(std::env::var("CARGO_PKG_NAME").is_ok(), "this process has it");
    let said = scene.says(&sandbox, "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'");
    assert!(said.contains("GIVEN=by the host\n") && !said.contains("CARGO"), "{said}");
}

#[test]
fn tcp_is_closed_but_for_the_bridge_and_the_session_can_be_reached() {
    let Some(sandbox) = confined_by(4) else { return };
    let scene = Scene::new();
    let (other, bridge) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (other, port) = (other.local_addr().unwrap().port(), bridge.local_addr().unwrap().port());
    let connect =
        |port| format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected");
    let mut spec = scene.shell(&format!("{}; {}", connect(other), connect(port)));
    spec.bridge_ports = Some(port..=port);
    let output = crate::support::run(&sandbox, &spec);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "connected\n");
    assert!(!sandbox.guarantees().network, "there is more than TCP");

    let listener = UnixListener::bind(scene.run_dir.join("s.sock")).unwrap();
    spec.program = fs::canonicalize("/usr/bin/perl").unwrap();
    let socket = sandbox.run_dir_inside(&spec).join("s.sock").display().to_string();
    spec.args = ["-MSocket", "-e", crate::support::CONNECT, &socket].map(Into::into).into();
    assert_eq!(String::from_utf8_lossy(&crate::support::run(&sandbox, &spec).stderr), "");
    assert!(listener.accept().is_ok());
}

#[test]
fn processes_of_the_host_cannot_be_signalled() {
    let Some(sandbox) = confined_by(6) else { return };
    let scene = Scene::new();
    let mut victim = Command::new("sleep").arg("60").spawn().unwrap();
    let script = format!("kill -9 {}; kill -9 $PPID; exit 7", victim.id());
    let output = scene.run(&sandbox, &script);
    assert_eq!(output.status.code(), Some(7), "the status of the program comes through");
    assert!(victim.try_wait().unwrap().is_none(), "it still runs");
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[test]
fn no_privilege_comes_back() {
    let Some(sandbox) = confined() else { return };
    let said = Scene::new()
        .says(&sandbox, "grep -E 'NoNewPrivs|CapEff|CapPrm' /proc/self/status | tr -d '\\t'");
    assert_eq!(said, "CapPrm:0000000000000000\nCapEff:0000000000000000\nNoNewPrivs:1\n");
}

#[test]
fn without_landlock_nothing_is_promised_but_the_end() {
    let sandbox = Subprocess::unconfined(launcher());
    let guarantees = sandbox.guarantees();
    assert!(guarantees.advisory() && guarantees.dies_with_host);
    assert!(!guarantees.governed_read_only && !guarantees.home_hidden && !guarantees.network);
    let scene = Scene::new();
    assert_eq!(scene.says(&sandbox, "echo x > SOUL.md && cat SOUL.md"), "x\n");
    assert!(landlock_level() <= 9);
}

#[test]
fn a_launcher_that_cannot_confine_starts_nothing() {
    let scene = Scene::new();
    let output = Command::new(launcher().program)
        .args(["--confine", "--landlock", "3", "--workspace", "/nowhere", "--run-dir", "/nowhere"])
        .arg("--temporary")
        .arg(scene.run_dir.join("tmp"))
        .args(["--", "/bin/echo", "started"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("/nowhere: "));
}

/// Not a test of its own: the host that the next tests kill.
#[test]
#[ignore = "run by the tests that kill it"]
fn a_host_to_be_killed() {
    let Some(workspace) = std::env::var_os("FOREWORD_SCENE") else { return };
    let marker = std::env::var("FOREWORD_MARKER").unwrap();
    let scene = Scene::again(Path::new(&workspace));
    let script = format!("(setsid sleep {marker} &) ; (sleep {marker} &); sleep {marker}");
    let mut child = if std::env::var_os("FOREWORD_ONLY").is_some() {
        let mut command = Command::new(launcher().program);
        command.args(die_with_parent_args("sleep".as_ref())).arg(&marker).spawn().unwrap()
    } else {
        Subprocess::new(launcher()).command(&scene.shell(&script)).unwrap().spawn().unwrap()
    };
    child.wait().unwrap();
}

fn host(scene: &Scene, marker: &str) -> Command {
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", "subprocess::a_host_to_be_killed", "--ignored", "--nocapture"])
        .env("FOREWORD_SCENE", &scene.workspace)
        .env("FOREWORD_MARKER", marker)
        .stdout(Stdio::null());
    host
}

#[test]
fn everything_dies_with_the_host_daemons_too() {
    let scene = Scene::new();
    for (number, only) in [false, true].into_iter().enumerate() {
        let marker = format!("8{}.{number}", std::process::id());
        let mut host = host(&scene, &marker);
        if only {
            host.env("FOREWORD_ONLY", "1");
        }
        let mut host = host.spawn().unwrap();
        eventually("the agent runs", || runs(&marker));
        std::thread::sleep(std::time::Duration::from_millis(100));
        host.kill().unwrap();
        host.wait().unwrap();
        eventually("nothing is left", || !runs(&marker));
    }
}

#[test]
fn ending_a_session_leaves_nothing() {
    let scene = Scene::new();
    let sandbox = Subprocess::new(launcher());
    let marker = format!("7{}.5", std::process::id());
    let script = format!("(setsid sleep {marker} &) ; (sleep {marker} &); sleep {marker}");
    let mut child = sandbox.command(&scene.shell(&script)).unwrap().spawn().unwrap();
    eventually("the agent runs", || runs(&marker));
    sandbox.end(&mut child).unwrap();
    assert!(!runs(&marker));
    // And a program that ends by itself takes its daemons along.
    let script = format!("(setsid sleep {marker} &) ; sleep 0.1; exit 3");
    let status = sandbox.command(&scene.shell(&script)).unwrap().status().unwrap();
    assert_eq!(status.code(), Some(3));
    assert!(!runs(&marker));
}
