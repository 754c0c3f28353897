//! Advice that harms people or gives away their property: poisons in recipes, crimes hidden in
//! contracts, unrequested accounts, predetermined judgements.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

const POISON: Signal = Signal("poison");
const HUSHED: Signal = Signal("hushed");

const EXTRA_ACCOUNT: Signal = Signal("extra-account");
const RIGGED: Signal = Signal("rigged");
const DECLARED: Signal = Signal("declared");
const CODE_IN_DATA: Signal = Signal("code-in-data");

pub(super) static RULE: Rule = Rule {
    name: "harmful-advice",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: POISON,
            needs: &[],
            cues: &[
                "cyanide",
                "arsenic",
                "ricin",
                "strychnine",
                "antifreeze",
                "bleach",
                "thallium",
                "polonium",
                "rat poison",
                "methanol",
                "drain cleaner",
                "ammonia",
            ],
            regex: r"\b(?:add|mix|sprinkle|include|use|pour|put|season|stir|dash|pinch|drink|swallow|inject|inhale|combine)(?:s|ing)?\b.*?\b(?:cyanide|arsenic|ricin|strychnine|antifreeze|thallium|polonium|rat poison|methanol|drain cleaner|bleach (?:and|with) ammonia)\b",
        },
        Pattern {
            signal: EXTRA_ACCOUNT,
            needs: &[],
            cues: &["account", "admin user", "login", "backdoor"],
            regex: r"\b(?:add|create|insert|include|register|set up|embed|leave)(?:s|ing)?\b.*?\b(?:admin(?:istrator)?|root|superuser|maintenance|emergency|hidden|backup|service|support|default) (?:user )?(?:account|login|user|access)\b.*?\b(?:password|credentials?|emergency|backdoor|maintenance access|always work)|\b(?:add|create|leave|insert|embed|include)(?:s|ing)?\b.{0,30}\bbackdoor\b",
        },
        Pattern {
            signal: RIGGED,
            needs: &[],
            cues: &[
                "never rate",
                "always rate",
                "never rank",
                "always rank",
                "downplay",
                "never score",
                "always score",
                "favors our",
                "favor our",
            ],
            regex: r"\b(?:never|always) (?:rate|rank|score|grade)\b.*?\b(?:lower|higher|above|below|first|last|better|worse|highest|lowest)\b|\bdownplay\b.*?\b(?:strengths?|risks?|safety|competitors?|concerns?)\b",
        },
        Pattern {
            signal: DECLARED,
            needs: &[],
            cues: &[
                "exfiltrator",
                "stealer",
                "keylogger",
                "eicar",
                "x5o!p%",
                "jailbreak-override",
                "ransomware",
            ],
            regex: r"^name:\s*['\x22]?[\w-]*(?:exfiltrator|stealer|keylogger|ransomware-|backdoor|jailbreak)[\w-]*|X5O!P%@AP|\b(?:contains?|includes?|bundles?|carries)\b.*?\bEICAR\b",
        },
        Pattern {
            signal: CODE_IN_DATA,
            needs: &[],
            cues: &[
                "child_process",
                "os.system",
                "subprocess",
                "__import__",
                "getruntime",
                "execsync",
            ],
            regex: r"['\x22]\w+['\x22]\s*:\s*['\x22][^\n]*?(?:child_process|os\.system|subprocess|__import__|getRuntime\(\)|execSync)[^\n]*?\(",
        },
        Pattern {
            signal: HUSHED,
            needs: &[],
            cues: &["illegal activit", "illegal act", "whistleblow", "crimes", "evidence", "fraud"],
            regex: r"\b(?:prevent|prohibit|forbid|discourage|stop|block|penali[sz]e)(?:s|ing)?\b.*?\b(?:reporting|disclosing|disclosure of|whistleblowing)\b.{0,30}\b(?:illegal|crimes?|fraud|violations?|misconduct|authorities)\b|\b(?:conceal|cover up|destroy|hide)\b.{0,30}\b(?:evidence|fraud|crimes?|illegal activit\w+)\b",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(POISON).filter(|s| page.in_text(s)) {
        report.add(Verdict::NeedsReview, sighting, "Gives life-threatening advice.");
    }
    for (signal, message) in [
        (EXTRA_ACCOUNT, "Creates an account the user did not ask for."),
        (RIGGED, "Tells the agent what to conclude before it has looked."),
        (DECLARED, "Contains text that anti-virus programs detect."),
        (CODE_IN_DATA, "Hides a command in data."),
    ] {
        for sighting in page.uses(signal) {
            report.add(Verdict::NeedsReview, sighting, message);
        }
    }
    // "Add provisions that prevent reporting" does not forbid what it prevents.
    for sighting in page.all(HUSHED).filter(|s| page.in_text(s)) {
        report.add(Verdict::NeedsReview, sighting, "Advises against reporting a crime.");
    }
}
