//! H1, H2: what the person's own git would run.

use super::attack::Attack;
use super::random::Random;
use super::scene::Facts;
use super::shell::{directory, put, quoted};

const HOOKS: [&str; 9] = [
    "pre-commit",
    "post-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-rebase",
];
/// In a repository: where git looks for something to run, or for where to look.
const INSIDE: [&str; 19] = [
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "rebase-merge/git-rebase-todo",
    "rebase-apply/applying",
    "sequencer/todo",
    "modules/evil/config",
    "worktrees/evil/config.worktree",
    "branches/evil",
    "remotes/origin",
    "HEAD",
    "index",
];

fn hook(facts: &Facts) -> String {
    format!("#!/bin/sh\ntouch {}\n", facts.sentinel)
}

/// Settings that make every use of git run something.
fn settings(facts: &Facts, random: &mut Random) -> String {
    let run = format!("touch {}", facts.sentinel);
    let some = random.some(
        &[
            "[core]\n\tfsmonitor = RUN\n",
            "[core]\n\thooksPath = src\n\teditor = RUN\n",
            "[diff]\n\texternal = RUN\n",
            "[alias]\n\tst = !RUN\n",
            "[filter \"tidy\"]\n\tclean = RUN\n\tsmudge = RUN\n",
            "[diff \"doc\"]\n\ttextconv = RUN\n",
            "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = RUN\n",
            "[include]\n\tpath = src/more.inc\n",
            "[core]\n\tpager = RUN\n[pager]\n\tstatus = RUN\n",
            "[gc]\n\tauto = 1\n[maintenance]\n\tauto = true\n",
        ],
        4,
    );
    some.concat().replace("RUN", &run)
}

/// Something git reads in the repository of the workspace, in its nested one, or where settings point.
pub(super) fn settled(facts: &Facts, random: &mut Random) -> Attack {
    match random.below(4) {
        0 => {
            let outer = if facts.hooks.is_empty() || random.chance(30) {
                ".git/hooks".to_owned()
            } else {
                facts.hooks[random.below(facts.hooks.len())].clone()
            };
            let path = format!("{outer}/{}", random.pick(&HOOKS));
            let script = put(random, &path, &hook(facts))
                + &format!("chmod +x {} 2>/dev/null", quoted(&path));
            Attack::script("H1 git hooks", path, &script)
        }
        1 if !facts.named.is_empty() => {
            let path = facts.named[random.below(facts.named.len())].clone();
            let text = if path.ends_with(".inc") { settings(facts, random) } else { hook(facts) };
            let more = settings(facts, random);
            let more = put(random, "src/more.inc", &more);
            let script = put(random, &path, &text) + &more;
            Attack::script("H1 what git settings name", path, &script)
        }
        2 => {
            let name = random.pick(&INSIDE);
            let repository = random.pick(&[".git", ".git", "vendor/lib/.git"]);
            let path = format!("{repository}/{name}");
            let text = match name {
                "rebase-merge/git-rebase-todo" | "sequencer/todo" => {
                    format!("exec touch {}\n", facts.sentinel)
                }
                "info/attributes" => "* filter=tidy diff=doc\n".to_owned(),
                "commondir" | "gitdir" => "../src/evil.git\n".to_owned(),
                "HEAD" => "ref: refs/heads/../../../etc/passwd\n".to_owned(),
                _ => settings(facts, random),
            };
            let mut script = put(random, &path, &text);
            if name.starts_with("rebase-merge") {
                script += &format!(
                    "{{ echo main > {repository}/rebase-merge/head-name; git rev-parse HEAD | tee \
                     {repository}/rebase-merge/onto > {repository}/rebase-merge/orig-head; touch \
                     {repository}/rebase-merge/interactive; }} 2>/dev/null\n"
                );
            }
            let other = settings(facts, random);
            script += &put(random, "src/evil.git/config", &other);
            let mut attack = Attack::script("H1 inside .git", path, &script);
            if matches!(name, "HEAD" | "index") {
                attack.spoils.push(format!("{repository}/{name}"));
            }
            attack.visiting("vendor/lib")
        }
        _ => {
            let at = directory(random);
            let path = format!("{at}.gitattributes");
            let script = put(random, &path, "* filter=tidy diff=doc merge=ours\n");
            Attack::script("H1 git attributes", path, &script).visiting(at)
        }
    }
}

/// A repository that was not there, in one of its many forms.
pub(super) fn new_repository(facts: &Facts, random: &mut Random) -> Attack {
    let at = directory(random);
    let here = if at.is_empty() { "src/".to_owned() } else { at };
    let (dir, config) = (quoted(&here), settings(facts, random));
    let (form, script) = match random.below(8) {
        0 => (
            "init",
            format!(
                "mkdir -p {dir}; git init -q {dir}; printf %s {} >> {dir}.git/config",
                quoted(&config)
            ),
        ),
        1 => (
            "file that points",
            format!(
                "mkdir -p {dir} src/store; git init -q --bare src/store/g; printf %s {} >> src/store/g/config; \
                 echo \"gitdir: $PWD/src/store/g\" > {dir}.git",
                quoted(&config)
            ),
        ),
        2 => (
            "bare",
            format!(
                "git init -q --bare {dir}bare; printf %s {} >> {dir}bare/config",
                quoted(&config)
            ),
        ),
        3 => (
            "link",
            format!(
                "mkdir -p {dir} src/g; git init -q src/g; printf %s {} >> src/g/.git/config; ln -s \
                 \"$PWD/src/g/.git\" {dir}.git",
                quoted(&config)
            ),
        ),
        4 => (
            "by hand",
            format!(
                "mkdir -p {dir}.git/objects {dir}.git/refs; echo 'ref: refs/heads/main' > {dir}.git/HEAD; \
                 printf %s {} > {dir}.git/config",
                quoted(&config)
            ),
        ),
        5 => (
            "work tree",
            format!(
                "git worktree add -q --detach {dir}tree; git -C {dir}tree config --worktree core.fsmonitor \
                 'touch {}'",
                facts.sentinel
            ),
        ),
        6 => (
            "with common directory",
            format!(
                "mkdir -p {dir}.git src/c; git init -q --bare src/c; printf %s {} >> src/c/config; echo \
                 \"$PWD/src/c\" > {dir}.git/commondir; echo 'ref: refs/heads/main' > {dir}.git/HEAD",
                quoted(&config)
            ),
        ),
        _ => (
            "closed to readers",
            format!(
                "mkdir -p {dir}shut; git init -q {dir}shut; printf %s {} >> {dir}shut/.git/config; chmod 000 \
                 {dir}shut",
                quoted(&config)
            ),
        ),
    };
    let what = format!("{form} at {here:?}");
    let script = format!("{{ {script}\n}} 2>/dev/null");
    let attack = Attack::script("H1 new repository", what, &script);
    attack
        .visiting(format!("{here}bare"))
        .visiting(format!("{here}tree"))
        .visiting(format!("{here}shut"))
        .visiting("src/g")
        .visiting("src/c")
        .visiting("src/store/g")
        .visiting(here)
}

/// Thousands of files in front of what matters, then what matters.
pub(super) fn flood(facts: &Facts, random: &mut Random) -> Attack {
    let files =
        if facts.is_long && random.chance(10) { 210_000 } else { 3_000 + random.below(3_000) };
    let at = random.pick(&["src", ".", "sub", ".git"]);
    let flood = format!(
        "mkdir -p {at}/0flood; perl -e 'for (1..{files}) {{ open F, \">\", \"$ARGV[0]/0flood/$_\" }}' {at}\n"
    );
    let attack = match random.below(2) {
        0 => new_repository(facts, random),
        _ => settled(facts, random),
    };
    let mut flooded =
        Attack::script("H2 flood", format!("{files} in {at}, then {}", attack.what), &flood);
    flooded.steps.extend(attack.steps);
    flooded.visits = attack.visits;
    flooded.spoils = attack.spoils;
    flooded.spoils.push(format!("{at}/0flood"));
    flooded
}
