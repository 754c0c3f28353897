//! What an agent can use of the machine, tried out in every sandbox that works here.

use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Scene, bwrap, eventually, launcher, runs};
use foreword_sandbox::{Exceeded, Limits, Monitor, Sandbox, SandboxSpec, Subprocess};

const MIB: u64 = 1 << 20;

fn sandboxes() -> Vec<Box<dyn Sandbox>> {
    let mut all: Vec<Box<dyn Sandbox>> = vec![Box::new(Subprocess::new(launcher()))];
    all.extend(bwrap().map(|bwrap| Box::new(bwrap) as Box<dyn Sandbox>));
    all
}

/// Runs a spec as a host does: watched, and ended afterwards.
fn watched(sandbox: &dyn Sandbox, spec: &SandboxSpec) -> (Output, Option<Exceeded>) {
    let mut command = sandbox.command(spec).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let watch = Monitor::default().watch(child.id(), spec.limits, spec.workspace.clone());
    let output = child.wait_with_output().unwrap();
    (output, watch.exceeded())
}

#[test]
fn a_fork_bomb_is_ended_and_the_host_lives() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        let marker = format!("6{}.5", std::process::id());
        let script = format!("for i in $(seq 4000); do sleep {marker} & done; wait; echo survived");
        let mut spec = scene.shell(&script);
        spec.limits.processes = 200;
        let begun = Instant::now();
        let (output, exceeded) = watched(&*sandbox, &spec);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("survived") || complaint.contains("fork"), "{said} {complaint}");
        // Root is not counted by the kernel; others may be refused before the monitor looks.
        if let Some(exceeded) = exceeded {
            let text = exceeded.to_string();
            assert!(text.contains("the limit is 200 (host.limits.processes)"), "{text}");
            let Exceeded::Processes { count, .. } = exceeded else { panic!("{exceeded:?}") };
            assert!(count < 4000, "{}: {count}", sandbox.name());
        }
        assert!(begun.elapsed() < Duration::from_secs(60));
        eventually("nothing is left", || !runs(&marker));
    }
}

#[test]
fn memory_of_all_processes_is_limited() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        // Each of them alone is below the limit.
        let script =
            "for i in 1 2 3; do perl -e '$x = \"a\" x (100 << 20); sleep 30' & done; wait; echo no";
        let mut spec = scene.shell(script);
        spec.limits.memory_bytes = 200 * MIB;
        let (output, exceeded) = watched(&*sandbox, &spec);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{}", sandbox.name());
        let text = exceeded.unwrap().to_string();
        assert!(text.ends_with("the limit is 200 MiB (host.limits.memory_mb)"), "{text}");
    }
}

#[test]
fn what_is_shared_counts_once() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        let script = "perl -e '$x = \"a\" x (60 << 20); for (1..8) { fork or do { sleep 2; exit } } \
            sleep 2; print qq(done\\n)'";
        let mut spec = scene.shell(script);
        spec.limits.memory_bytes = 300 * MIB;
        let (output, exceeded) = watched(&*sandbox, &spec);
        assert_eq!(exceeded, None);
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
    }
}

#[test]
fn file_systems_in_memory_have_a_size() {
    let Some(bwrap) = bwrap() else { return };
    let scene = Scene::new();
    let fill = |path: &str, mib: u64| {
        format!("head -c {} /dev/zero > {path} && echo {path} took {mib} MiB", mib * MIB)
    };
    let script = [
        fill("/dev/shm/x", 1536),
        "rm -f /dev/shm/x".into(),
        fill("/tmp/x", 1536),
        "rm -f /tmp/x".into(),
        fill("/dev/y", 1),
        fill("/dev/shm/small", 8),
        fill("/tmp/small", 8),
        fill("/tmp/home/small", 8),
    ];
    let said = scene.says(&bwrap, &script.join("\n"));
    let expected = "/dev/shm/small took 8 MiB\n/tmp/small took 8 MiB\n/tmp/home/small took 8 MiB\n";
    assert_eq!(said, expected);
    let kinds = scene.says(&bwrap, "grep tmpfs /proc/mounts | grep -w rw | grep -vc size=");
    assert_eq!(kinds, "0\n", "a writable file system in memory without a size");
}

#[test]
fn open_files_and_the_size_of_a_file_are_limited() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        let script = "ulimit -n; ulimit -Hn; ulimit -c; cd src; head -c 3000000 /dev/zero > large; \
            stat -c %s large; perl -e 'while (open my $f, q(<), q(/dev/null)) { push @f, $f } print scalar(@f), qq(\\n)'";
        let mut spec = scene.shell(script);
        spec.limits = Limits { open_files: 100, file_bytes: 2 * MIB, ..Limits::default() };
        let output = crate::support::run(&*sandbox, &spec);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let numbers: Vec<u64> = said.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers[..4], [100, 100, 0, 2 * MIB], "{}: {said}", sandbox.name());
        assert!((80..100).contains(&numbers[4]), "{said}");
    }
}

#[test]
fn no_user_namespace_can_be_made_and_no_key_ring_be_read() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        let script = "for flags in -U -Ur -Urm -Urn -Urpf; do unshare $flags true && echo $flags worked; done; \
            perl -e '$! = 0; print syscall(272, 0x10000000), qq( unshare ), 0 + $!, qq(\\n); \
            $! = 0; print syscall(272 | 0x40000000, 0x10000000), qq( x32 ), qq(\\n); \
            $! = 0; print syscall(56, 0x10000011, 0, 0, 0, 0), qq( clone ), 0 + $!, qq(\\n); \
            $! = 0; print syscall(435, 0, 0), qq( clone3 ), 0 + $!, qq(\\n); \
            $! = 0; print syscall(250, 0, -3, 0), qq( keyctl ), 0 + $!, qq(\\n);'; \
            (exit 3); echo $? $(echo forks) | cat";
        let said = scene.says(&*sandbox, script);
        let unknown = "-1 clone3 38\n-1 keyctl 38\n3 forks\n";
        assert!(said.ends_with(unknown), "{}: {said}", sandbox.name());
        if cfg!(target_arch = "x86_64") {
            assert!(said.starts_with("-1 unshare 1\n-1 x32 \n-1 clone 1\n"), "{said}");
        }
        assert!(sandbox.guarantees().kernel_calls);
    }
}

#[test]
fn a_disk_that_gets_full_ends_the_agent() {
    for sandbox in sandboxes() {
        let scene = Scene::new();
        let free = rustix::fs::statvfs(&scene.workspace).unwrap();
        let free = free.f_bavail * free.f_frsize;
        let script =
            "for i in $(seq 20); do head -c 100M /dev/zero > src/$i; sleep 0.1; done; echo no";
        let mut spec = scene.shell(script);
        spec.limits.disk_reserve_bytes = free - 200 * MIB;
        let (output, exceeded) = watched(&*sandbox, &spec);
        // Something else may have used the disk meanwhile; the agent ends all the same.
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{}", sandbox.name());
        let text = exceeded.unwrap().to_string();
        assert!(text.contains("(host.limits.disk_reserve_mb)"), "{text}");
    }
}
