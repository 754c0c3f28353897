//! Something that stays after the skill is done: jobs, start-up files, keys, the agent's own memory.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{DECODE, FETCH_AND_RUN, SHELL};
use crate::screen::signals::network::{NETWORK, SEND};
use crate::screen::verdict::Verdict;

/// Lets somebody in again.
const DOOR: Signal = Signal("door");
/// Starts something again and again.
const JOB: Signal = Signal("job");
/// Writes to a shell's startup files.
const START_FILE: Signal = Signal("start-file");
/// Writes into a file that governs the whole system.
const SYSTEM_FILE: Signal = Signal("system-file");
/// Writes instructions to files that an agent reads at startup.
const AGENT_MEMORY: Signal = Signal("agent-memory");

pub(super) static RULE: Rule = Rule {
    name: "persistence",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: DOOR,
            needs: &[],
            cues: &[
                "authorized_keys",
                "useradd",
                "adduser",
                "net user",
                "ld_preload",
                "ld.so.preload",
                "currentversion\\run",
                "pam.d",
                "sshd_config",
            ],
            regex: r">>?\s*\S*authorized_keys|\btee\b[^\n]*?authorized_keys|authorized_keys[^\n]*?['\x22]a['\x22]|\bnet\s+user\s+\S+\s+\S+\s+/add|/etc/ld\.so\.preload|CurrentVersion\\+Run\b|>>?\s*\S*/pam\.d/",
        },
        Pattern {
            signal: JOB,
            needs: &[],
            cues: &[
                "crontab",
                "/etc/cron",
                "launchagents",
                "launchdaemons",
                "schtasks",
                "register-scheduledtask",
                "systemctl enable",
                "startup\\",
                "systemd/system",
            ],
            regex: r"\|\s*crontab\s+-|\bcrontab\s+(?:-u\s+\S+\s+)?[\w./-]*(?:tmp|cron|file)\S*|>>?\s*/etc/cron\S*|Launch(?:Agents|Daemons)/|\bschtasks\b[^\n]{0,20}/create|\bRegister-ScheduledTask\b|Programs\\+Startup\\*|\bsystemctl\s+(?:--user\s+)?enable\b|/etc/systemd/system/\S+",
        },
        Pattern {
            signal: START_FILE,
            needs: &[],
            cues: &[
                ".bashrc",
                ".zshrc",
                ".profile",
                ".bash_profile",
                ".zprofile",
                "/etc/profile",
                "$profile",
                ".config/fish",
                "rc.local",
            ],
            regex: r">>?\s*['\x22]?(?:~|\$HOME|\$\{HOME\}|/root|/home/\S+|/etc)/(?:\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)|profile|rc\.local|config/fish)|\btee\s+-a\s+\S*(?:bashrc|zshrc|profile)|\b(?:append|add|write)\b.*?\b(?:to|into)\b.{0,20}\.(?:bashrc|zshrc|profile|bash_profile)",
        },
        Pattern {
            signal: SYSTEM_FILE,
            needs: &[],
            cues: &[
                "/etc/hosts",
                "/etc/resolv",
                "/etc/environment",
                "/etc/profile",
                "/etc/crontab",
                "/etc/cron",
                "/etc/ssh/",
                "system32\\drivers\\etc",
                ".bashrc",
                ".zshrc",
                ".bash_profile",
                "/etc/passwd",
                "/etc/sudoers",
                "/etc/init.d",
                ".git/hooks",
                ".ssh/config",
            ],
            regex: r"(?:>>?\s*|\btee\s+(?:-a\s+)?)['\x22]?/etc/(?:hosts|resolv\.conf|environment|profile|crontab|cron\.\w+/\S*|ssh/\S+|init\.d/\S*)|\bopen\s?\([^\n]*?(?:/etc/(?:hosts|resolv\.conf|environment|profile|crontab|cron\S*|ssh/\S*|passwd|sudoers|init\.d\S*)|\.(?:bashrc|zshrc|bash_profile|profile)|\.ssh/\w+|\.git/hooks/\w+)['\x22]\)?\s*,\s*['\x22][wa]|\b(?:appendFile|writeFile)(?:Sync)?\s?\([^\n]*?(?:/etc/\w+|\.bashrc|\.zshrc|\.ssh/)",
        },
        Pattern {
            signal: AGENT_MEMORY,
            needs: &[],
            cues: &[
                "soul.md",
                "agents.md",
                "claude.md",
                "memory.md",
                ".cursorrules",
                "identity.md",
                "system prompt",
                "heartbeat.md",
                "copilot-instructions",
                "gemini.md",
                "settings.json",
            ],
            regex: r"\b(?:append|add|write|inject|insert|persist|overwrite|replace|modify|edit|store)(?:s|ing|ed)?\b.*?\b(?:to|into|in|of|the)\b.{0,30}?(?:\bSOUL\.md|\bAGENTS\.md|\bCLAUDE\.md|\bMEMORY\.md|\.cursorrules|\bIDENTITY\.md|\bsystem prompt\b|copilot-instructions\.md|\bGEMINI\.md)|>>?\s*\S*(?:SOUL|AGENTS|CLAUDE|MEMORY|IDENTITY)\.md",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(DOOR) {
        report.add(Verdict::Reject, sighting, "Opens a backdoor.");
    }
    for sighting in page.uses(SYSTEM_FILE) {
        report.add(Verdict::NeedsReview, sighting, "Writes to a file that controls every session.");
    }
    for (signal, message) in [
        (JOB, "Sets up a recurring job that reaches the network."),
        (START_FILE, "Makes every new shell run a command that reaches the network."),
    ] {
        for sighting in page.uses(signal) {
            let line = page.unit_text(sighting);
            let hidden =
                [FETCH_AND_RUN, DECODE].into_iter().any(|s| page.near(sighting, s, 3).is_some());
            let reaches = [NETWORK, SEND].into_iter().any(|s| page.beside(sighting, s).is_some());
            if hidden
                || (reaches && !line.contains("localhost"))
                || (signal == START_FILE && line.contains("/tmp/"))
            {
                report.add(Verdict::Reject, sighting, message);
            } else if signal == JOB && sighting.place == Place::Code && line.contains("crontab") {
                report.add(Verdict::NeedsReview, sighting, "Sets up a recurring job.");
            }
        }
    }
    for sighting in page.uses(AGENT_MEMORY).filter(|s| s.place != Place::Heading) {
        let line = page.unit_text(sighting).to_ascii_lowercase();
        let own = [
            "if the user",
            "ask the user",
            "user's claude.md",
            "recommend",
            "optionally",
            "suggest",
            "you can add",
            "offer",
        ];
        let orders = [
            "always",
            "every session",
            "permanent",
            "all future",
            "so that",
            "ignore",
            "hidden",
            "from now on",
            "override",
            "survive",
            "persist",
        ];
        if orders.iter().any(|w| line.contains(w)) && !own.iter().any(|w| line.contains(w)) {
            report.add(
                Verdict::NeedsReview,
                sighting,
                "Writes to instructions the agent reads at every start.",
            );
        } else if [FETCH_AND_RUN, SHELL].into_iter().any(|s| page.beside(sighting, s).is_some()) {
            report.add(
                Verdict::Reject,
                sighting,
                "Writes a command into instructions the agent reads at every start.",
            );
        }
    }
}
