//! Uses the machine to mine coins for somebody.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const MINER: Signal = Signal("miner");

pub(super) static RULE: Rule = Rule {
    name: "crypto-mining",
    policies: ALWAYS,
    patterns: &[Pattern {
        signal: MINER,
        needs: &[],
        cues: &[
            "xmrig",
            "stratum+",
            "minerd",
            "cpuminer",
            "coinhive",
            "cryptonight",
            "nicehash",
            "ethminer",
            "nbminer",
            "t-rex",
            "randomx",
        ],
        regex: r"\b(?:xmrig|minerd|cpuminer|ethminer|nbminer)\b\s+(?:-|\S)|stratum\+(?:tcp|ssl)://|\bcoinhive\b|--donate-level\b",
    }],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(MINER) {
        report.add(Verdict::Reject, sighting, "Mines cryptocurrency on the user's machine.");
    }
}
