//! Text of an agent that turns strings into running code.

use super::shell_execution::is_call;
use super::{AGENT, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::EVAL;
use crate::screen::verdict::Verdict;

/// Code on the command line of an interpreter, and ways to the evaluator other than by its name.
const INDIRECT: Signal = Signal("indirect-eval");

pub(super) static RULE: Rule = Rule {
    name: "code-execution",
    policies: AGENT,
    patterns: &[
        Pattern {
            signal: INDIRECT,
            needs: &[],
            cues: &["eval)", "constructor.constructor"],
            regex: r"\(\s*[\w.]+\s*,\s*eval\s*\)|\bconstructor\.constructor\s?\(",
        },
        Pattern {
            signal: INDIRECT,
            needs: &[],
            cues: &["pickle.load", "marshal.load", "dill.load", "cloudpickle.load"],
            regex: r"\b(?:pickle|marshal|dill|cloudpickle)\.loads?\s?\(",
        },
        Pattern {
            signal: INDIRECT,
            needs: &[],
            cues: &[
                "python",
                "node -",
                "bun -",
                "deno eval",
                "perl -",
                "ruby -",
                "php -",
                "osascript -",
            ],
            regex: r"\bpython[\d.]*\s+(?:-[a-z]+\s+)*-[a-z]*c\s|\b(?:node|bun)\s+(?:-e|-p|--eval|--print)\b|\bdeno\s+eval\b|\b(?:perl|ruby)\s+-\w*e\s|\bphp\s+-r\s|\bosascript\s+-e\s",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(INDIRECT) {
        report.add(Verdict::Reject, sighting, "Evaluates text as code.");
    }
    for sighting in page.uses(EVAL).filter(|s| is_call(page, s)) {
        report.add(Verdict::Reject, sighting, "Evaluates text as code.");
    }
}
