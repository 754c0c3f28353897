//! Text that a person who reads the page does not see.

use super::{ALWAYS, Rule};
use crate::screen::document::Place;
use crate::screen::injection::{DISMISSAL, OVERRIDE, PROMPT_LEAK};
use crate::screen::normalise::HiddenKind;
use crate::screen::page::Page;
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::execution::{DECODE_AND_RUN, FETCH_AND_RUN, PIPE_TO_SHELL};
use crate::screen::signals::network::{SEND, SEND_FILE, SEND_ORDER};
use crate::screen::signals::secrets::{ENVIRONMENT_DUMP, GATHER_ORDER, SECRET_STORE};
use crate::screen::verdict::Verdict;

/// An instruction to the reader, agent or person.
const ORDER: Signal = Signal("order");
/// Text made invisible by its style.
const INVISIBLE_STYLE: Signal = Signal("invisible-style");

pub(super) static RULE: Rule = Rule {
    name: "hidden-text",
    policies: ALWAYS,
    patterns: &[
        Pattern {
            signal: ORDER,
            needs: &[],
            cues: &[
                "you must",
                "you should",
                "you are",
                "the agent",
                "the assistant",
                "ai agent",
                "ai assistant",
                "llm",
                "always ",
                "execute",
                "silently",
                "the user",
                "system:",
                "agents:",
                "assistant:",
                "instruction",
                "secretly",
            ],
            regex: r"\b(?:you (?:must|should|shall|will|need to|are (?:required|instructed|now))|(?:the |all |any )?(?:ai |llm )?(?:agents?|assistants?|models?|llms?)[,:]? (?:must|should|shall|will|is required|reading this|please)|(?:agents?|assistants?|system|llm|claude|gpt) ?(?:note|instructions?|prompt|override)? ?: ?(?:\w+ ){0,3}(?:run|execute|send|read|fetch|ignore|always|never|do|install|call|open|add|include)|without (?:telling|informing|asking|notifying) the user|do not (?:tell|inform|mention|reveal|show|display)|silently|secretly|before (?:doing anything|responding|answering)[, ]|(?:execute|run) (?:the following|this) (?:command|code|script))\b",
        },
        Pattern {
            signal: INVISIBLE_STYLE,
            needs: &[],
            cues: &[
                "font-size",
                "display:",
                "visibility:",
                "opacity:",
                "color:",
                "hidden",
                "text-indent",
                "left:-",
                "left: -",
            ],
            regex: r"<\w+[^>]*?(?:font-size:\s*0|display:\s*none|visibility:\s*hidden|opacity:\s*0(?:[;.\s\x22']|\.0)|(?:^|[;\s\x22'])color:\s*(?:white|#fff(?:fff)?|transparent|rgba?\(255,\s*255,\s*255)[^a-z]|text-indent:\s*-\d{3,}|left:\s*-\d{3,}|\shidden(?:\s|>|=))[^>]*?>[^<]{12,}",
        },
    ],
    check,
};

/// What hidden text must not say.
const FORBIDDEN: [Signal; 12] = [
    ORDER,
    OVERRIDE,
    DISMISSAL,
    PROMPT_LEAK,
    FETCH_AND_RUN,
    DECODE_AND_RUN,
    PIPE_TO_SHELL,
    SEND,
    SEND_FILE,
    SEND_ORDER,
    GATHER_ORDER,
    ENVIRONMENT_DUMP,
];

fn check(page: &Page, report: &mut Report<'_>) {
    for sighting in page.in_hidden_text() {
        if sighting.place == Place::Comment
            && (FORBIDDEN.contains(&sighting.signal) || sighting.signal == SECRET_STORE)
        {
            report.add(
                Verdict::Reject,
                sighting,
                "A comment that readers do not see gives orders.",
            );
        }
    }
    for hidden in page.hidden() {
        let (verdict, message) = match hidden.kind {
            HiddenKind::Tag => (Verdict::Reject, "Contains text in invisible tag characters."),
            HiddenKind::Variation => {
                (Verdict::Reject, "A run of invisible selectors carries a message.")
            }
            HiddenKind::Bidi => (
                Verdict::NeedsReview,
                "Contains invisible controls that change the displayed order of text.",
            ),
            HiddenKind::Control => (Verdict::NeedsReview, "Contains control characters."),
            HiddenKind::ZeroWidth if hidden.count >= 8 => {
                (Verdict::Reject, "A long run of invisible characters.")
            }
            HiddenKind::ZeroWidth if hidden.inside_word => {
                (Verdict::NeedsReview, "Contains invisible characters inside a word.")
            }
            HiddenKind::ZeroWidth => continue,
        };
        report.add_line(verdict, hidden.line, message);
    }
    for sighting in page.uses(INVISIBLE_STYLE).filter(|s| page.in_text(s)) {
        let orders = FORBIDDEN.iter().any(|s| page.beside(sighting, *s).is_some());
        let verdict = if orders { Verdict::Reject } else { Verdict::NeedsReview };
        report.add(verdict, sighting, "Contains text that its styling makes invisible.");
    }
}

/// Words that mix Latin letters with letters of other alphabets that look the same.
pub(super) static LOOKALIKES: Rule = Rule {
    name: "lookalike-letters",
    policies: ALWAYS,
    patterns: &[],
    check: |page, report| {
        for line in page.forged_lines() {
            report.add_line(
                Verdict::NeedsReview,
                *line,
                "A word mixes Latin letters with lookalikes of another alphabet.",
            );
        }
    },
};
