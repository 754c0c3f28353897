//! What a job, a service or a hook starts: the skill's own program, or another.

use std::collections::HashSet;

use crate::screen::code::value::HOLE;

/// Whether a job starts a program that is not the skill's: one that lies elsewhere, or in a directory
/// that is hidden or swept away. `own` are the names of the skill's files.
pub(super) fn starts_foreign_program(job: &str, own: &HashSet<&str>) -> bool {
    let job = without_tags(job);
    let (mut before, mut runs) = ("", false);
    for word in job.split([' ', '\t', '\n', '"', '\'', ';', '(', ')', '|', '&', '=', ',']) {
        if word.is_empty() {
            continue;
        }
        // Where it works and where it writes is not what it starts.
        let is_place = matches!(before, "cd" | "WorkingDirectory" | "-d" | "--directory")
            || before.ends_with('>')
            || word.contains('>');
        let is_run = runs;
        let name = word.rsplit('/').next().unwrap_or_default();
        runs = INTERPRETERS.contains(&name) || word == "." && before != "cd" || word == "source";
        let fetches = FETCHERS.contains(&name)
            || matches!(
                (before, word),
                ("pip" | "pip3" | "npm" | "gem" | "cargo" | "go", "install")
            )
            || word == "-m" && before.starts_with("python");
        before = word;
        if fetches || !is_place && is_foreign(word, is_run, own) {
            return true;
        }
    }
    false
}

/// The texts of a property list, without its tags; other jobs as they are.
fn without_tags(job: &str) -> String {
    if !job.contains("<string>") {
        return job.to_owned();
    }
    job.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).fold(
        String::with_capacity(job.len()),
        |mut out, text| {
            out.push_str(text);
            out.push(' ');
            out
        },
    )
}

/// What runs the file that follows, whatever its name ends in.
const INTERPRETERS: [&str; 10] =
    ["sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "pwsh"];
/// What fetches the program that it runs.
const FETCHERS: [&str; 7] = ["npx", "uvx", "pipx", "bunx", "pnpx", "dlx", "deno"];

fn is_foreign(word: &str, is_run: bool, own: &HashSet<&str>) -> bool {
    let path = word.replace('\\', "/").to_ascii_lowercase();
    let root = path.split('/').next().unwrap_or_default();
    let is_variable = |root: &str| {
        root.strip_prefix(['$', '%', HOLE]).is_some_and(|name| {
            name.trim_matches(['{', '}', '%', HOLE])
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
    };
    let is_path = path.contains('/')
        && (root.is_empty() || root.starts_with('~') || root == "c:" || is_variable(root));
    let name = path.rsplit('/').next().unwrap_or_default();
    if !is_path || name.is_empty() || is_data(name) && !is_run {
        return false;
    }
    let is_own = own.iter().any(|file| file.eq_ignore_ascii_case(name));
    // Where agents keep their skills, and what a tool makes for itself.
    let is_known_place =
        ["/.venv/", "/venv/", "/node_modules/.bin/"].iter().any(|p| path.contains(p))
            || path.contains("/skills/") && is_own;
    let swept = [
        "/tmp/",
        "/var/tmp/",
        "/dev/shm/",
        "/cache/",
        "/caches/",
        "$tmpdir",
        "%temp%",
        "%tmp%",
        "/temp/",
    ];
    if swept.iter().any(|place| path.contains(place)) {
        return true;
    }
    if path.contains("/.") && !path.contains("/./") && !path.contains("/../") {
        return !is_known_place;
    }
    let system = [
        "/usr/",
        "/bin/",
        "/sbin/",
        "/opt/",
        "/nix/",
        "/snap/",
        "/system/",
        "/applications/",
        "/dev/",
        "c:/windows/",
        "c:/program files",
        "$venv",
        "${venv",
    ];
    !is_own && !is_known_place && !system.iter().any(|place| path.starts_with(place))
}

/// Settings, records and the like, which a program is told to use.
fn is_data(name: &str) -> bool {
    let ends = [
        "log",
        "txt",
        "json",
        "jsonl",
        "toml",
        "yaml",
        "yml",
        "env",
        "db",
        "sqlite",
        "pid",
        "lock",
        "conf",
        "ini",
        "csv",
        "md",
        "html",
        "plist",
        "bashrc",
        "zshrc",
        "profile",
        "bash_profile",
    ];
    name.rsplit_once('.').is_some_and(|(_, extension)| ends.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_skills_own_programs_and_the_systems_are_known() {
        let own = HashSet::from(["check.py", "run.sh"]);
        for job in [
            "0 9 * * * cd /srv/app && python3 scripts/check.py >> /var/log/check.log 2>&1",
            "0 9 * * * /usr/bin/python3 ~/.claude/skills/tidy/scripts/check.py --config ~/.tidy/a.toml",
            "[Service]\nWorkingDirectory=/srv/tidy\nExecStart=/srv/tidy/.venv/bin/python /srv/tidy/run.sh",
            "@daily \u{fffc}/run.sh > /dev/null",
            "ExecStart=/usr/local/bin/meter ${1:-/dev/ttyUSB0}",
            "#!/bin/sh\nmake format\n",
            "<array><string>/bin/sh</string><string>/Users/me/skills/tidy/run.sh</string></array>",
        ] {
            assert!(!starts_foreign_program(job, &own), "{job}");
        }
    }

    #[test]
    fn programs_elsewhere_are_foreign() {
        let own = HashSet::from(["check.py"]);
        for job in [
            "*/5 * * * * /tmp/check.py",
            "*/5 * * * * python3 ~/.cache/tidy/check.py",
            "@reboot $HOME/.local/share/.x/agent",
            "@daily /home/me/bin/agent",
            "[Service]\nExecStart=/home/me/.config/x/run",
            "<string>/bin/sh</string><string>/Users/me/Library/Caches/a.sh</string>",
            "* * * * * npx -y some-package@latest",
            "@hourly pip install -U notgood && notgood",
            "@hourly python3 -m collector",
            "@daily sh /var/lib/x/cmd.json",
            "@daily . ~/.config/x/a.env",
            "schtasks /create /tn a /tr C:\\Users\\me\\AppData\\Local\\Temp\\a.exe",
        ] {
            assert!(starts_foreign_program(job, &own), "{job}");
        }
    }
}
