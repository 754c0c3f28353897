//! Something that the user is not to notice.

use super::{ALWAYS, Rule};
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{DECODE_AND_RUN, FETCH_AND_RUN, SHELL};
use crate::screen::signals::network::{SEND, SEND_FILE, SEND_ORDER};
use crate::screen::signals::secrets::{GATHER_ORDER, SECRET_STORE};
use crate::screen::verdict::Verdict;

/// Says not to tell the user.
const CONCEAL: Signal = Signal("conceal");
/// Done quietly.
const QUIETLY: Signal = Signal("quietly");
/// A word that switches something on.
const TRIGGER: Signal = Signal("trigger");

pub(super) static RULE: Rule = Rule {
    name: "covert-action",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: CONCEAL,
            needs: &[],
            cues: &[
                "tell",
                "inform",
                "mention",
                "notify",
                "reveal",
                "disclose",
                "alert",
                "hide",
                "conceal",
                "knowledge",
                "aware",
                "notic",
                "let the user know",
                "show the user",
                "keep this",
            ],
            regex: r"\b(?:do not|don't|never|must not|should not|without|avoid)\b (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|disclos(?:e|ing)|reveal(?:ing)?|let(?:ting)?)\b.{0,30}?\b(?:the |your |any )?(?:users?|humans?|owners?|operators?|victims?|people|anyone)\b(?: (?:about|of|know|that you)| |[.,;!)]|$)|\b(?:do not|don't|never|must not) (?:ever )?(?:mention|disclose|reveal|show|display|log|report|acknowledge) (?:this|these|that you|the (?:existence|presence|upload|transfer|command|script|step|action|process))\b|\b(?:hide|conceal|mask|obscure)\b.*?\bfrom (?:the |your )?(?:users?|humans?|owners?|logs?|view|detection|reviewers?|scanners?)\b|\bwithout (?:the |their |your )?(?:users?'?s?'?|humans?'?|owner'?s?) (?:knowledge|knowing|noticing|awareness|being aware|consent)\b|\b(?:user|human|owner)s? (?:must|should|will|need|does|do) (?:not|never) (?:know|notice|see|be (?:told|informed|aware|notified))\b|\bkeep this (?:secret|hidden|confidential|between us)\b",
        },
        Pattern {
            signal: CONCEAL,
            needs: &[],
            cues: &[
                "不要告诉",
                "不要告知",
                "别告诉",
                "ユーザーに知らせ",
                "ユーザーに言わ",
                "사용자에게 알리지",
                "no le digas",
                "sin que el usuario",
                "ne dis pas",
                "ne dites pas",
                "sag dem",
                "sage dem",
                "ohne wissen des",
                "не говори",
                "не сообщай",
                "nao conte",
                "nao informe",
                "non dire",
                "senza che l'utente",
            ],
            regex: r"不要(?:告诉|告知)用户|别告诉用户|ユーザーに(?:知らせないで|言わないで)|사용자에게 알리지|\b(?:no le digas (?:nada )?al usuario|sin que el usuario (?:lo )?sepa|ne (?:dis|dites) (?:pas|rien) a l'utilisateur|sage? dem (?:benutzer|nutzer) nichts|ohne wissen des (?:benutzers|nutzers)|nao (?:conte|informe) (?:ao|o) usuario|non dire (?:nulla )?all'utente|senza che l'utente lo sappia)|не (?:говори|сообщай) пользователю",
        },
        Pattern {
            signal: QUIETLY,
            needs: &[],
            cues: &[
                "silently",
                "secretly",
                "covertly",
                "quietly",
                "stealth",
                "invisibly",
                "surreptitiously",
                "discreetly",
                "in the background",
            ],
            regex: r"\b(?:silently|secretly|covertly|quietly|stealthily|invisibly|surreptitiously|discreetly|in the background)\b",
        },
        Pattern {
            signal: TRIGGER,
            needs: &[],
            cues: &[
                "when the user",
                "if the user",
                "whenever the user",
                "when a user",
                "if a user",
                "upon receiving",
                "magic",
                "when you see",
                "secret phrase",
                "codeword",
                "code word",
                "activation phrase",
                "trigger phrase",
            ],
            regex: r"\b(?:when(?:ever)?|if|once) (?:the|a|any) users? (?:says?|types?|mentions?|enters?|sends?|includes?)\b.*?[\x22'`][^\x22'`]{2,40}[\x22'`].*?\b(?:ignore|bypass|disable|execute|exfiltrate|grant|unlock|override|admin|silently|secretly|send)\b|\b(?:magic (?:string|word|phrase)|secret (?:phrase|word|trigger|command)|activation phrase|code ?word)\b.*?\b(?:activat|unlock|bypass|execut|grant|enabl|disabl)\w*",
        },
    ],
    check,
};

/// Actions that must not be done without the user's knowledge.
const ACTS: [Signal; 8] =
    [SEND, SEND_FILE, SEND_ORDER, GATHER_ORDER, FETCH_AND_RUN, DECODE_AND_RUN, SHELL, SECRET_STORE];

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.all(CONCEAL).filter(|s| page.in_text(s)) {
        if is_advice(page.unit_text(sighting)) {
            continue;
        }
        let act = ACTS.into_iter().any(|signal| page.near(sighting, signal, 3).is_some());
        let verdict = if act { Verdict::Reject } else { Verdict::NeedsReview };
        report.add(verdict, sighting, "Hides something from the user.");
    }
    for sighting in page.uses(QUIETLY).filter(|s| page.in_text(s)) {
        let act = ACTS
            .into_iter()
            .filter(|s| *s != SHELL)
            .any(|signal| page.beside(sighting, signal).is_some());
        if act {
            report.add(Verdict::Reject, sighting, "Acts without the user's knowledge.");
        }
    }
    for sighting in page.uses(TRIGGER).filter(|s| page.in_text(s)) {
        report.add(
            Verdict::NeedsReview,
            sighting,
            "Activates hidden behaviour with a trigger word.",
        );
    }
}

/// "Don't tell the user to …", "never tell users that …": advice on what to say, not on what to hide.
fn is_advice(sentence: &str) -> bool {
    let lower = sentence.to_ascii_lowercase();
    [
        "user to ",
        "user how",
        "users to ",
        "them to ",
        "user they",
        "user it's",
        "user you can't",
        "user that it",
        "user you cannot",
        "user \"",
        "is ready before",
    ]
    .iter()
    .any(|w| lower.contains(w))
}
