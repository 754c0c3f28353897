//! Text that turns an agent against its instructions: overrides, false authority, other personas.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::injection::{DISMISSAL, OVERRIDE, PROMPT_LEAK};
use crate::screen::page::{Origin, Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::verdict::Verdict;

/// Claims to be the system or the maker of the model.
const FALSE_AUTHORITY: Signal = Signal("false-authority");
/// Gives the agent a persona without limits.
const NO_LIMITS: Signal = Signal("no-limits");

pub(super) static RULE: Rule = Rule {
    name: "instruction-override",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: FALSE_AUTHORITY,
            needs: &[],
            cues: &[
                "<|im_start|>",
                "<|system|>",
                "[inst]",
                "<<sys>>",
                "system override",
                "approved by",
                "pre-approved",
                "preapproved",
                "pre-authorized",
                "officially verified",
                "endorsed by",
                "certified by",
                "[system",
                "begin system",
                "system message:",
                "admin override",
                "new instructions:",
                "<system>",
                "developer mode",
                "### system",
                "system prompt override",
                "priority override",
            ],
            regex: r"<\|(?:im_start|system|start_header_id)\|>|\b(?:pre-?approved|pre-?authorized|officially verified|endorsed|certified) by (?:anthropic|openai|google|microsoft|the (?:system|administrators?|security team))\b|<<SYS>>|\[(?:system|admin|developer)(?: (?:override|message|prompt|note|alert|notice))?\]\s*:?\s*\w|\b(?:system|admin(?:istrator)?|developer|priority|security|emergency) override\b|\bBEGIN (?:NEW )?SYSTEM (?:PROMPT|MESSAGE)|<system>\s*\w|\b(?:enter|enable|activate|switch to|you are (?:now )?in) (?:developer|god|admin|debug|dan|jailbreak|unrestricted) mode\b",
        },
        Pattern {
            signal: NO_LIMITS,
            needs: &[],
            cues: &[
                "free of",
                "free from",
                "broken free",
                "broke free",
                "bound by",
                "abide",
                "adhere",
                "no matter how",
                "amoral",
                "never refuse",
                "from now on",
                "you will now",
                "you are going to",
                "do anything now",
                "unethical",
                "stay in character",
                "jailbroken",
            ],
            regex: r"\b(?:bro(?:ke|ken) free (?:of|from)|(?:is|are|am) (?:completely |totally |entirely )?free (?:of|from)|(?:not|no longer) bound by|(?:do|does|did)(?:n't| not) (?:have to |need to )?(?:abide|adhere|conform|comply|care about))\b.{0,60}\b(?:rules set|restrictions|confines|ethic\w*|moral\w*|guidelines|laws|polic(?:y|ies)|filters)\b|\b(?:from now on,?|you will now|you are going to|you must now|now you)(?: \w+){0,3} (?:act|pretend|behave|simulate|respond|roleplay|role-play|answer|be)\w*\b.*?\b(?:developer mode|unfiltered|uncensored|unrestricted|no (?:restrictions|filters?|limits)|never refus\w+|without (?:any )?(?:restrictions?|filters?|warnings?|disclaimers?|refus\w+)|amoral|illegal|unethical|break character)\b|\bdo anything now\b|\bno matter how (?:\w+,? (?:or )?){0,6}(?:unethical|illegal|dangerous|immoral)\b|\b(?:amoral|jailbroken) (?:\w+ ){0,2}(?:chatbot|ai|persona|assistant|character|model)\b",
        },
        Pattern {
            signal: NO_LIMITS,
            needs: &[],
            cues: &[
                "restriction",
                "unrestricted",
                "uncensored",
                "no limits",
                "without limits",
                "jailbr",
                "do anything now",
                "guidelines",
                "filters",
                "unfiltered",
                "safety",
                "ethical",
                "your own perspective",
                "its own perspective",
                "guardrails",
                "limitations",
                "constraints",
                "suggestion",
                "optional",
                "principles",
            ],
            regex: r"\b(?:you are|act as|pretend (?:to be|you are)|roleplay as|role-play as|become|persona of|behave as|simulate|respond as|operating as)\b.*?\b(?:(?:without|no|free (?:of|from)|ignores?|not bound by|not subject to|bypass\w*) (?:any |all |the |its |content |ethical |safety |moral ){0,3}(?:restrictions?|limits?|limitations?|filters?|guidelines?|rules|guardrails?|censorship|ethics|constraints)|unrestricted|uncensored|unfiltered|do anything now|jailbroken)\b|\b(?:trained|operat\w+|respond\w*|exists?|works?|running) without (?:any )?(?:content |safety |ethical |moral )?(?:restrictions|filters|limitations|guidelines|guardrails)\b|\b(?:set(?:ting)? aside|abandon(?:ing)?|suspend(?:ing)?|drop(?:ping)?|relax(?:ing)?|disregard(?:ing)?|ignor(?:e|ing)) (?:all |any )?(?:of )?(?:its|your|their) (?:own |usual |normal |standard |default |built-in ){0,2}(?:perspective|values|guidelines|principles|ethics|safety \w+|judg\w+|constraints|restrictions|limitations|rules)\b|\b(?:guidelines|rules|instructions|polic(?:y|ies)|restrictions|safeguards|constraints)\b.{0,30}\b(?:treated|considered|regarded|viewed|seen) as (?:\w+ )?(?:optional|suggestions?|advisory|non-binding|outdated|void)\b|\b(?:any|all) (?:content|safety|ethical) (?:polic(?:y|ies)|guidelines|restrictions)\b.{0,20}\b(?:do not|don't|no longer) apply\b|\byou (?:have|are under) no (?:ethical|moral|safety|content) (?:restrictions|limits|guidelines|obligations?)",
        },
    ],
    check,
};

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.uses(OVERRIDE) {
        report.add(
            strength(page, sighting),
            sighting,
            "Tells the reader to ignore earlier instructions.",
        );
    }
    for sighting in page.uses(DISMISSAL).filter(|s| page.in_text(s)) {
        let orders = page.before(sighting).trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
        if orders && !page.is_quoted(sighting) && says_then(page.unit_text(sighting)) {
            report.add(
                Verdict::NeedsReview,
                sighting,
                "Tells the reader to ignore what came before.",
            );
        }
    }
    for sighting in page.uses(PROMPT_LEAK).filter(|s| page.in_text(s) && !page.is_quoted(s)) {
        report.add(Verdict::NeedsReview, sighting, "Asks for the system prompt.");
    }
    for sighting in page.uses(FALSE_AUTHORITY) {
        if is_shown(page, sighting) {
            continue;
        }
        report.add(Verdict::NeedsReview, sighting, "Claims authority that a skill does not have.");
    }
    for sighting in page.uses(NO_LIMITS).filter(|s| page.in_text(s) && !page.is_quoted(s)) {
        report.add(Verdict::NeedsReview, sighting, "Gives the agent a persona without limits.");
    }
}

/// As an order it is refused; in a quotation or an example it may be a lesson, which a person can tell.
fn strength(page: &Page, sighting: &Sighting) -> Verdict {
    let example =
        sighting.place == Place::Code || page.is_quoted(sighting) || sighting.place == Place::Table;
    let hidden = sighting.place.is_hidden() || sighting.origin != Origin::Written;
    if hidden || !example { Verdict::Reject } else { Verdict::NeedsReview }
}

/// "Ignore the above and …"
fn says_then(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    !lower.is_ascii()
        || [" and ", " then ", ", ", " y ", " et ", " und ", " e ", " dan ", " ve "]
            .iter()
            .any(|w| lower.contains(w))
}

/// Chat templates in code are documentation.
fn is_shown(page: &Page, sighting: &Sighting) -> bool {
    sighting.place == Place::Code || page.is_quoted(sighting)
}
