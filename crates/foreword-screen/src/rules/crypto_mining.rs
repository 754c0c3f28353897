//! Uses the machine to mine coins for somebody.

use super::{ALWAYS, Rule};
use crate::page::Page;
use crate::report::Report;
use crate::scan::{Pattern, Signal};
use crate::verdict::Verdict;

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
        report.add(Verdict::Reject, sighting, "Mines coins on the user's machine.");
    }
}
