//! Hands control of the machine to somebody on the network.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const REVERSE: Signal = Signal("reverse-shell");

pub(super) static RULE: Rule = Rule {
    name: "reverse-shell",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: REVERSE,
            needs: &[],
            cues: &["nc ", "ncat ", "netcat ", "socat"],
            regex: r"\b(?:nc|ncat|netcat)(?:\.\w+)?\b[^\n|]*?\s-(?:\w*e|-exec|c|-sh-exec)\s*['\x22]?(?:/\S+/)?(?:(?:ba|z|da|k)?sh|cmd(?:\.exe)?|powershell)\b|\bsocat\b[^\n]*?exec:|\b(?:nc|ncat|netcat)\s[^\n|]*?\|\s*(?:/\S+/)?(?:ba|z|da|k)?sh\b|\bmkfifo\b[^\n]*?\b(?:nc|ncat|netcat)\b|\b(?:nc|ncat)\b[^\n]*?\|\s*(?:/bin/)?(?:ba)?sh\b[^\n]*?\|\s*(?:nc|ncat)\b",
        },
        Pattern {
            signal: REVERSE,
            needs: &[],
            cues: &["mkfifo"],
            regex: r"\bmkfifo\b.*?\b(?:nc|ncat|netcat|openssl s_client|telnet)\b",
        },
        Pattern {
            signal: REVERSE,
            needs: &[],
            cues: &["/dev/tcp/", "/dev/udp/"],
            regex: r"(?:\bsh\s+-i\b|bash|exec\s+\d+<>|0>&1|>&)[^\n]*?/dev/(?:tcp|udp)/|/dev/(?:tcp|udp)/\S+\s+0>&1",
        },
        Pattern {
            signal: REVERSE,
            needs: &[],
            cues: &[
                "dup2(",
                "pty.spawn",
                "socket.socket",
                "fsockopen",
                "tcpsocket",
                "tcpclient",
                "net.connect",
                "net.socket",
            ],
            regex: r"\bos\.dup2\s?\([^\n]*?\b(?:fileno|sock|\bs\b)|\bsocket\.socket\b[^\n]*?\b(?:pty\.spawn|subprocess|/bin/(?:ba)?sh)|\bfsockopen\b[^\n]*?(?:exec|shell_exec|proc_open|/bin/sh)|\bTCPSocket\.(?:open|new)\b[^\n]*?(?:exec|IO\.popen|/bin/sh)|\bSockets\.TCPClient\b[^\n]*?(?:iex|Invoke-Expression|GetStream)|\bnet\.(?:connect|Socket)\b[^\n]*?(?:/bin/(?:ba)?sh|spawn|exec)",
        },
        Pattern {
            signal: REVERSE,
            needs: &[],
            cues: &["bind shell", "reverse shell", "reverse_tcp", "meterpreter", "msfvenom"],
            regex: r"\b(?:open|start|establish|create|spawn|launch|initiate)(?:s|ing)?\b.{0,30}\b(?:reverse|bind) shell\b|\b(?:reverse_tcp|reverse_https)\b|\bmsfvenom\s+-p",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(REVERSE) {
        report.add(Verdict::Reject, sighting, "Opens a shell on this machine to the network.");
    }
}
