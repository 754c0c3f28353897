//! What an agent in bubblewrap can do and cannot, tried out by a shell inside.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Scene, bwrap, eventually, launcher, runs};
use foreword_sandbox::{Bwrap, Sandbox};

#[test]
fn an_ordinary_file_can_be_written_and_the_workspace_is_where_it_was() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let script = "pwd; echo new > new.txt; echo more >> notes.txt; mkdir -p a/b; echo x > a/b/c; \
        echo y > sub/other.txt; rm src/main.txt; echo $GIVEN; echo $HOME; cd; echo z > file && cat file";
    let output = scene.run(&bwrap, script);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let expected = format!("{}\nby the host\n/tmp/home\nz\n", scene.workspace.display());
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(scene.read("new.txt"), "new\n");
    assert_eq!(scene.read("notes.txt"), "notes\nmore\n");
    assert_eq!(scene.read("a/b/c"), "x\n");
    assert_eq!(scene.read("sub/other.txt"), "y\n");
    assert!(!scene.workspace.join("src/main.txt").exists());
}

#[test]
fn governed_files_cannot_be_written_replaced_removed_or_moved_away() {
    let Some(bwrap) = bwrap() else { return };
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
            format!("rm -f '{file}'"),
            format!("mv '{file}' away"),
            format!("echo evil > e; mv -f e '{file}'"),
            format!("ln -f '{file}' linked && echo evil > linked"),
            format!("mv '{outer}' away"),
            format!("rm -rf '{outer}'"),
            format!("umount '{file}'; umount '{outer}'; echo evil > '{file}'"),
            format!("mount -o remount,bind,rw '{file}'; echo evil > '{file}'"),
            format!(
                "unshare -Urm sh -c 'umount \"{file}\"; umount \"{outer}\"; echo evil > \"{file}\"'"
            ),
            format!("chmod 777 '{file}' && echo evil > '{file}'"),
        ] {
            let output = scene.run(&bwrap, &format!("{attempt}\ntest $? != 0 && echo failed"));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(said, "failed\n", "{attempt}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert_eq!(files.map(|file| scene.read(file)), before);
    for new in ["skills/new.md", "prompts/new.md", "agents/new.md", ".git/hooks/post-checkout"] {
        scene.run(&bwrap, &format!("echo evil > {new}"));
        assert!(!scene.workspace.join(new).exists(), "{new}");
    }
}

#[test]
fn the_home_the_database_and_the_machine_are_not_there() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let home = scene.home.display();
    let hidden = [
        format!("{home}/.ssh/id_ed25519"),
        format!("{home}/.config/foreword/audit.key"),
        ".foreword/foreword.db".into(),
        "/etc/shadow".into(),
        "/etc/ssl/private".into(),
        "/etc/ssh".into(),
        "/sys/kernel".into(),
        "/boot".into(),
        "/var/lib".into(),
        "/run/systemd".into(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/src").into(),
        format!("{}/session.txt", scene.run_dir.display()),
    ];
    for path in hidden {
        assert_eq!(scene.says(&bwrap, &format!("test -e '{path}' && echo there")), "", "{path}");
    }
    let all = format!(
        "ls -A '{home}'; ls -A /root /home .foreword 2>/dev/null; cat /run/foreword/session.txt"
    );
    let said = scene.says(&bwrap, &all);
    assert!(said.starts_with("my work\n") && said.ends_with("session"), "{said}");
    for secret in [".ssh", ".config", "foreword.db", "quarantine"] {
        assert!(!said.contains(secret), "{said}");
    }
    for place in [
        "/usr",
        "/usr/bin",
        "/etc",
        "/",
        "/run/foreword",
        "/proc/sys/kernel",
        ".foreword",
        "/home",
        "/lib",
    ] {
        let said = scene.says(&bwrap, &format!("echo x > '{place}/evil' && echo wrote"));
        assert_eq!(said, "", "{place}");
    }
    assert!(!scene.workspace.join(".foreword/evil").exists());
}

/// As root the files of /proc/sys belong to the agent, capabilities or not; a helper named in
/// core_pattern would run on the host.
#[test]
fn the_kernel_cannot_be_set_from_inside() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    // What is written is what is there: a test that fails must not change the machine.
    let script = "v=$(cat /proc/sys/kernel/core_pattern); echo read $?; \
        echo \"$v\" > /proc/sys/kernel/core_pattern && echo wrote; mkdir /tmp/p; unshare -Urmpf \
        sh -c 'mount -t proc proc /tmp/p && echo \"$0\" > /tmp/p/sys/kernel/core_pattern' \"$v\" && echo wrote";
    assert_eq!(scene.says(&bwrap, script), "read 0\n");
}

#[test]
fn no_address_of_the_host_can_be_reached_and_loopback_inside_works() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let connect = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo connected");
    let host = Command::new("bash").args(["-c", &connect]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&host.stdout), "connected\n", "the test itself works");
    assert_eq!(scene.says(&bwrap, &connect), "");
    let udp = "(echo x > /dev/udp/192.0.2.1/53) 2>/dev/null && echo sent";
    assert_eq!(scene.says(&bwrap, udp), "", "there is no way out");
    let links = scene.says(&bwrap, "cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '");
    assert_eq!(links, "lo\n");
}

#[test]
fn the_socket_of_the_session_can_be_reached() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let listener = UnixListener::bind(scene.run_dir.join("s.sock")).unwrap();
    let mut spec = scene.shell("");
    spec.program = fs::canonicalize("/usr/bin/perl").unwrap();
    spec.args =
        ["-MSocket", "-e", crate::support::CONNECT, "/run/foreword/s.sock"].map(Into::into).into();
    let output = crate::support::run(&bwrap, &spec);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let (mut stream, _) = listener.accept().unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn neither_variables_nor_processes_of_the_host_are_seen() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    assert!(std::env::var("CARGO_PKG_NAME").is_ok(), "this process has it");
    let said = scene.says(&bwrap, "env; cat /proc/*/environ | tr '\\0' '\\n'");
    assert!(said.contains("GIVEN=by the host\n"));
    assert!(!said.contains("CARGO"), "{said}");
    let said =
        scene.says(&bwrap, "ls /proc | grep -c '^[0-9]*$'; cat /proc/1/cmdline | tr '\\0' ' '");
    let count: u32 = said.lines().next().unwrap().parse().unwrap();
    assert!(count < 8, "{said}");
    assert_eq!(scene.says(&bwrap, "grep Cap /proc/self/status | grep -v 0000000000000000"), "");
}

#[test]
fn a_workspace_can_be_shown_to_read_only() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let mut spec =
        scene.shell("cat notes.txt; echo x > new.txt; echo x >> notes.txt; ls -A .foreword");
    spec.writable = false;
    let output = crate::support::run(&bwrap, &spec);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "notes\n");
    assert_eq!(scene.read("notes.txt"), "notes\n");
}

#[test]
fn links_under_governed_names_are_no_hole() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let link = std::os::unix::fs::symlink::<&str, std::path::PathBuf>;
    scene.write("docs/identity.md", "identity\n");
    link("docs/identity.md", scene.workspace.join("IDENTITY.md")).unwrap();
    link("AGENTS.md", scene.workspace.join("CLAUDE.md")).unwrap();
    let outside = scene.home.join("outside.md");
    fs::write(&outside, "outside\n").unwrap();
    link(outside.to_str().unwrap(), scene.workspace.join("USER.md")).unwrap();
    let script = "cat IDENTITY.md; cat USER.md; echo evil > docs/identity.md; echo evil > USER.md; \
        echo evil > CLAUDE.md; mv docs gone; rm -f IDENTITY.md; echo evil > IDENTITY.md; exit 0";
    let output = scene.run(&bwrap, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "identity\n");
    assert_eq!(scene.read("docs/identity.md"), "identity\n");
    assert_eq!(scene.read("AGENTS.md"), "agents\n");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "outside\n");
    assert_eq!(scene.read("IDENTITY.md"), "evil\n", "the link itself can be replaced");
}

#[test]
fn commits_can_be_made_and_hooks_cannot() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    fs::remove_dir_all(scene.workspace.join(".git")).unwrap();
    let init = Command::new("git").args(["init", "-q"]).arg(&scene.workspace).status().unwrap();
    assert!(init.success());
    scene.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let script = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
        git add src && git commit -q -m one && git log --format=%s; git config core.fsmonitor evil; \
        echo evil > .git/hooks/post-checkout; rm -rf .git 2>/dev/null; mv .git away; exit 0";
    let output = scene.run(&bwrap, script);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one\n", "{complaint}");
    assert!(!scene.read(".git/config").contains("evil"));
    assert!(!scene.workspace.join(".git/hooks/post-checkout").exists());
}

/// What a race won by an agent in the same workspace comes to: another directory is mounted.
#[test]
fn a_directory_that_was_exchanged_on_the_way_is_noticed() {
    use std::os::unix::fs::PermissionsExt;
    if bwrap().is_none() {
        return;
    }
    let scene = Scene::new();
    let script = scene.run_dir.join("bwrap");
    let swap = format!(
        "#!/bin/bash\nargs=()\nfor a; do if [ \"$a\" = '{}' ] && [ -z \"$done\" ]; then a='{}'; done=1; fi; args+=(\"$a\"); done\nexec /usr/bin/env bwrap \"${{args[@]}}\"\n",
        scene.workspace.join("sub").display(),
        scene.home.join(".ssh").display(),
    );
    fs::write(&script, swap).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(scene.home.join(".ssh/AGENTS.md"), "").unwrap();
    let exchanged = Bwrap::new(script);
    assert_eq!(scene.says(&exchanged, "cat sub/id_ed25519"), "PRIVATE KEY", "the race itself");
    let output = scene.run(&exchanged.checked_by(launcher()), "cat sub/id_ed25519");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("was exchanged while the sandbox was set up"), "{complaint}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
}

#[test]
fn it_works_for_an_ordinary_user_too() {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let own = fs::metadata(&scene.workspace).unwrap().uid();
    // An ordinary user runs it as it is; root hands everything to one first.
    let user = if own == 0 { 65534 } else { own };
    if own == 0 {
        let all = scene.home.parent().unwrap();
        let handed = Command::new("chown").arg("-R").arg("65534:65534").arg(all).status();
        assert!(handed.unwrap().success());
    }
    let script = "id -u; echo new > new.txt && cat new.txt; echo evil > SOUL.md; echo evil > skills/x; \
        cat .foreword/foreword.db; cat ../.ssh/id_ed25519; mv sub gone; exit 0";
    let mut command = bwrap.command(&scene.shell(script)).unwrap();
    if own == 0 {
        command.uid(user).gid(user);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, format!("{user}\nnew\n"), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scene.read("SOUL.md"), "soul\n");
    assert_eq!(scene.read("sub/AGENTS.md"), "nested\n");
}

/// Not a test of its own: the host that the next test kills.
#[test]
#[ignore = "run by the test that kills it"]
fn a_host_to_be_killed() {
    let Some(workspace) = std::env::var_os("FOREWORD_SCENE") else { return };
    let marker = std::env::var("FOREWORD_MARKER").unwrap();
    let scene = Scene::again(Path::new(&workspace));
    let spec = scene.shell(&format!("(setsid sleep {marker} &) ; sleep {marker}"));
    let mut child = bwrap().unwrap().command(&spec).unwrap().spawn().unwrap();
    child.wait().unwrap();
}

#[test]
fn everything_dies_with_the_host() {
    if bwrap().is_none() {
        return;
    }
    let scene = Scene::new();
    let marker = format!("9{}.5", std::process::id());
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bwrap::a_host_to_be_killed", "--ignored", "--nocapture"])
        .env("FOREWORD_SCENE", &scene.workspace)
        .env("FOREWORD_MARKER", &marker)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the agent runs", || runs(&marker));
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("nothing is left", || !runs(&marker));
}
