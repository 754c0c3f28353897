//! Reports the user's actions, words or data to someone, in prose or with a command to copy.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::page::{Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::network::{SEND, SEND_FILE, SEND_ORDER};
use crate::screen::url::{Url, urls};
use crate::screen::verdict::Verdict;

/// What belongs to the user, or to the work done for the user.
const USER_DATA: Signal = Signal("user-data");
/// A destination that belongs to the author of the text.
const THEIR_SERVER: Signal = Signal("their-server");
/// After any task, before every answer: an order that reaches beyond the skill's own job.
const STANDING: Signal = Signal("standing");
/// Something with consequences.
const CONSEQUENCE: Signal = Signal("consequence");
/// A message to everybody whom the user knows.
const MASS_MESSAGE: Signal = Signal("mass-message");

pub(super) static RULE: Rule = Rule {
    name: "data-collection",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: USER_DATA,
            needs: &[SEND_ORDER],
            cues: &[
                "conversation",
                "chat",
                "prompt",
                "quer",
                "result",
                "user data",
                "data",
                "file",
                "log",
                "clipboard",
                "contact",
                "histor",
                "workspace",
                "source code",
                "document",
                "content",
                "output",
                "tool call",
                "toolcall",
                "input",
                "information",
                "details",
                "task",
                "location",
                "cp.txt",
                "copy of",
            ],
            regex: r"\b(?:conversations?|chat(?: logs?| history)?|prompts?|quer(?:y|ies)|results?|user data|(?:all|any|the|this|their|collected|user|personal|customer|patient|sensitive) (?:data|information|details)|files?|logs?|clipboard|contacts?|history|histories|workspace|source code|documents?|contents?|outputs?|tool ?calls?(?: requests?)?|inputs?|tasks?|messages?|locations?|transcripts?|a copy)\b",
        },
        Pattern {
            signal: THEIR_SERVER,
            needs: &[SEND_ORDER, SEND, SEND_FILE],
            cues: &[
                "our ",
                "logging",
                "analytics",
                "telemetry",
                "collector",
                "monitoring",
                "backup",
                "intranet",
                "mlops",
                "remote",
                "external",
                "tracking",
                "audit",
                "aggregat",
                "redundan",
                "complian",
            ],
            regex: r"\bour (?:[\w-]+ ){0,4}(?:servers?|endpoints?|collectors?|services?|api|databases?|systems?|platforms?|backends?|webhooks?|dashboards?|tools?)\b|\b(?:logging|analytics|telemetry|collector|monitoring|backup|intranet|mlops|tracking|audit|metrics|exfil\w*) (?:[\w-]+ ){0,2}(?:servers?|endpoints?|services?|collectors?|urls?|hosts?|backends?|webhooks?)\b|\bfor (?:audit|auditing|redundancy|compliance|monitoring|aggregation|logging|telemetry|backup|analytics|reproducibility)\b",
        },
        Pattern {
            signal: MASS_MESSAGE,
            needs: &[],
            cues: &[
                "contacts",
                "contact",
                "everyone",
                "mailing list",
                "address book",
                "each mail",
                "recipients",
            ],
            regex: r"\b(?:for (?:each|every|all)|to (?:each|every|all|everyone))\b.*?\b(?:contacts?|addresses|address book|recipients?|mails?|people|friends)\b.*?\b(?:send|e-?mail|message|forward|say|dm)|\b(?:send|forward|e-?mail|message|dm)\b.*?\bto (?:all|every|each)(?: of)?(?: (?:the|your|their|my))?(?: \w+)? (?:contacts?|address|friends|followers)",
        },
    ],
    check: collection,
};

fn collection(page: &Page, report: &mut Report<'_>) {
    for send in page.uses(SEND_ORDER).filter(|s| page.in_text(s)) {
        let theirs = page.beside(send, THEIR_SERVER).is_some();
        let data = page.beside(send, USER_DATA).is_some();
        if theirs && data && !asks_first(page.unit_text(send)) {
            report.add(Verdict::NeedsReview, send, "Reports user activity or data to a server.");
        }
    }
    // A command in backticks or in the next fence, after a sentence that orders it.
    for send in page.uses(SEND).chain(page.uses(SEND_FILE)) {
        let theirs = page.beside(send, THEIR_SERVER);
        if page.in_text(send) && theirs.is_some() && !is_local(page, send) {
            report.add(Verdict::NeedsReview, send, "Reports user activity or data to a server.");
        }
    }
    for sighting in page.uses(MASS_MESSAGE).filter(|s| page.in_text(s)) {
        let link =
            page.unit_text(sighting).contains("://") || page.beside(sighting, SEND).is_some();
        if link {
            report.add(
                Verdict::NeedsReview,
                sighting,
                "Sends a link to all of the user's contacts.",
            );
        }
    }
}

fn is_local(page: &Page, sighting: &Sighting) -> bool {
    let addresses = urls(page.unit_text(sighting));
    addresses.is_empty() || addresses.iter().all(Url::is_local)
}

fn asks_first(sentence: &str) -> bool {
    let lower = sentence.to_ascii_lowercase();
    [
        "if the user",
        "ask the user",
        "with the user's consent",
        "opt-in",
        "when the user asks",
        "user asks",
        "users can",
        "user can",
    ]
    .iter()
    .any(|w| lower.contains(w))
}

/// Orders with consequences that apply to whatever the user does, not to the skill's own job.
pub(super) static STANDING_ORDER: Rule = Rule {
    name: "standing-order",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: STANDING,
            needs: &[],
            cues: &["after ", "before ", "every ", "whenever ", "each ", "always ", "any "],
            regex: r"\b(?:after|before|upon|following|at the (?:end|start|beginning) of|on|with|for|during|when(?:ever)?) (?:you )?(?:\w+ ){0,2}?(?:complet\w+|finish\w+|edit\w+|mak\w+|perform\w+|execut\w+|respond\w+|run\w*|creat\w+|process\w+)? ?(?:any|every|each|all) (?:[\w-]+ ){0,4}?(?:tasks?|operations?|requests?|responses?|sessions?|edits?|changes?|commits?|actions?|retrievals?|quer(?:y|ies)|interactions?|conversations?|messages?|steps?|documents?|files?|commands?)\b|\bafter (?:edit|finish|complet|mak|chang|process|updat|add)\w* (?:a |an |the |your |any |rows |new )?[\w-]+(?: [\w-]+)?,",
        },
        Pattern {
            signal: CONSEQUENCE,
            needs: &[STANDING],
            cues: &[
                "backup",
                "back up",
                "upload",
                "sync",
                "clean",
                "remove",
                "delete",
                "prune",
                "wipe",
                "send",
                "forward",
                "post ",
                "report",
                "mirror",
                "curl",
                "rm ",
                "collect",
                "exfil",
                "transmit",
                "email",
                "no data is lost",
                "losing data",
                "wget",
                "download",
            ],
            regex: r"\b(?:run|execute|invoke|call|use)\b.*?\b\w*(?:backup|upload|sync|clean|prune|wipe|purge|collect|exfil|report)\w*\.(?:sh|py|js|ps1|rb)\b|\b(?:upload|send|forward|transmit|mirror|post|copy)\b.*?\b(?:to|via)\b.*?(?:https?://|\b(?:server|endpoint|remote|cloud|collector|backup)\b)|\b(?:remove|delete|wipe|erase|purge)\b.*?\b(?:all|any|every|temporary|old|outdated|other|unused|files?|logs?|versions?|backups?)\b|\bcurl\b[^\n]*?-X\s*POST|\b(?:curl|wget)\b[^\n]*?&&\s*(?:ba)?sh\b|\bdownload\b.*?\b(?:updates?|patch(?:es)?)\b|\bto (?:prevent|avoid) losing data|\bno (?:data|messages?) (?:is|are|gets?) lost",
        },
    ],
    check: standing,
};

fn standing(page: &Page, report: &mut Report<'_>) {
    for order in page.uses(STANDING).filter(|s| page.in_text(s)) {
        if asks_first(page.unit_text(order)) {
            continue;
        }
        let here = page.beside(order, CONSEQUENCE).or_else(|| {
            let leads = page.unit_text(order).trim_end().ends_with([':', '.']);
            let next =
                page.uses(CONSEQUENCE).find(|c| c.line >= order.line && c.line - order.line <= 6);
            next.filter(|_| {
                leads && (order.place == Place::Heading || page.unit_text(order).contains("step"))
            })
        });
        if here.is_some() {
            report.add(
                Verdict::NeedsReview,
                order,
                "Gives a standing instruction that applies to everything the user does.",
            );
        }
    }
}
