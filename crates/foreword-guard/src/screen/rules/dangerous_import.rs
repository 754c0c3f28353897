//! Text of an agent that imports what reaches outside: processes, sockets, threads, native code.

use super::{AGENT, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

pub(super) const IMPORT: Signal = Signal("dangerous-import");

pub(super) static RULE: Rule = Rule {
    name: "dangerous-import",
    policies: AGENT,
    patterns: &[
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &[
                "child_process",
                "net'",
                "net\"",
                "dgram",
                "cluster",
                "worker_threads",
                "inspector",
                "node:vm",
                "'vm'",
                "\"vm\"",
                "tls'",
                "tls\"",
            ],
            regex: r"(?:\b(?:require|import)\s*\(?\s*|\bfrom\s*|\bimport\s+)['\x22`](?:node:)?(?:child_process|net|dgram|cluster|worker_threads|vm|inspector|tls|repl)(?:/\w+)?['\x22`]",
        },
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &["child_process", "worker_threads"],
            regex: r"\bchild_process\b|\bworker_threads\b",
        },
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &["process.binding", "process.dlopen", "getbuiltinmodule"],
            regex: r"\bprocess\.(?:binding|dlopen|getBuiltinModule)\s?\(",
        },
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &["import ", "from "],
            // A name ends the statement, so "from code reviews" does not match.
            regex: r"(?:^|[\n;]\s*|`)(?:import\s+(?:[\w.]+\s*(?:as\s+\w+)?\s*,\s*)*(?:subprocess|socket|ctypes|pty|multiprocessing|socketserver|marshal|pickle|code|pexpect|asyncio\.subprocess|winreg|cffi|httpx|aiohttp|requests|urllib(?:\.request)?|http\.client|ftplib|telnetlib|paramiko|smtplib)(?:\s*$|\s*[\n,;#`]|\s+as\s)|from\s+(?:subprocess|socket|ctypes|pty|multiprocessing|socketserver|marshal|pickle|code|pexpect|asyncio\.subprocess|winreg|cffi|httpx|aiohttp|requests|urllib\.request|http\.client|ftplib|telnetlib|paramiko|smtplib)(?:\.\w+)*\s+import\b)",
        },
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &["from os import", "getattr("],
            regex: r"\bfrom\s+os\s+import\s+[^\n]*\b(?:system|popen|exec\w*|spawn\w*)\b|\bgetattr\(\s*(?:os|builtins|subprocess)\s*,",
        },
        Pattern {
            signal: IMPORT,
            needs: &[],
            cues: &["http'", "https'", "http2'", "http\"", "https\"", "http2\"", "node:http"],
            regex: r"(?:\b(?:require|import)\s*\(?\s*|\bfrom\s*|\bimport\s+)['\x22](?:node:)?https?2?['\x22]",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(IMPORT) {
        // What is called by this name is judged by `shell-execution`.
        let named = page.matched(sighting).trim_matches(['`', ';', '#', '\n', ' ']);
        let verdict =
            if named == "import subprocess" { Verdict::NeedsReview } else { Verdict::Reject };
        report.add(verdict, sighting, "Imports a module for processes, sockets or native code.");
    }
}
