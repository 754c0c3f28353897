//! `identity-bleed`: only the persona says who the agent is. A base, a capability pack or an overlay
//! is shared by agents that are not each other, and a persona speaks for its own agent alone.
//!
//! What counts is a sentence that gives an identity: "You are Cosmo", "You are a careful reviewer",
//! "You're our planner", "Your name is Cosmo". What does not: "If you are …", "You are expected to …",
//! "You are part of …", and anything in quotation marks, code or a block quote.

use std::collections::HashSet;

use super::texts::{Kind, Text};
use super::{Desk, Report, Rule, Subject};

pub(super) const RULE: Rule = Rule {
    id: "identity-bleed",
    about: "only the persona says who the agent is, and only for its own agent",
    check,
};

/// How many words of a claim are looked at and shown.
const CLAIM_WORDS: usize = 12;

/// Words that may stand between "You are" and what one is.
const ADVERBS: [&str; 7] = ["now", "still", "always", "hereby", "currently", "also", "really"];
const ARTICLES: [&str; 3] = ["a", "an", "the"];
const POSSESSIVES: [&str; 7] = ["my", "our", "your", "his", "her", "its", "their"];

/// After "a": an amount, not an identity.
const AMOUNTS: [&str; 4] = ["few", "bit", "little", "lot"];

/// Words that some write with a capital for emphasis and that are nobody's name.
const NOT_NAMES: &str = "not never no only free able here there to in on at under about one part \
    being done ready responsible welcome bound given told forbidden allowed expected required \
    permitted authorized authorised asked started encouraged limited working running and or if";

fn check(desk: &Desk<'_>, report: &mut Report) {
    let names = Names::of(desk.subject);
    for text in &desk.texts {
        let what = match text.kind {
            Kind::Base => "the base",
            Kind::Capability => "a capability pack",
            Kind::Overlay => "an overlay",
            Kind::Persona | Kind::Character if !desk.subject.agent.is_empty() => {
                check_persona(desk.subject, &names, text, report);
                continue;
            }
            _ => continue,
        };
        for claim in claims(text, &names) {
            report.error(
                &text.file,
                text.line_at(claim.at),
                format!("{what} says who the agent is: \"{}\"", claim.sentence),
                "move it to the persona, or say what to do instead of who to be",
            );
        }
    }
}

fn check_persona(subject: &Subject<'_>, names: &Names, text: &Text<'_>, report: &mut Report) {
    for claim in claims(text, names) {
        if let Some(Named { own: false, id }) = names.longest(&claim.identity) {
            report.error(
                &text.file,
                text.line_at(claim.at),
                format!(
                    "the persona of {} claims to be another agent, `{id}`: \"{}\"",
                    subject.who(),
                    claim.sentence
                ),
                format!("say who {} is, or move the text to the agent it is about", subject.who()),
            );
        }
    }
}

/// The agents by their ids in words: `task-manager` is "task manager".
struct Names {
    own: String,
    others: HashSet<String>,
    longest: usize,
}

struct Named {
    own: bool,
    id: String,
}

impl Names {
    fn of(subject: &Subject<'_>) -> Self {
        let own = in_words(subject.agent);
        let others: HashSet<String> = subject
            .other_agents
            .iter()
            .map(|id| in_words(id))
            .filter(|id| !id.is_empty() && *id != own)
            .collect();
        let words = |id: &str| id.split(' ').count();
        let longest = others.iter().map(|id| words(id)).chain([words(&own)]).max().unwrap_or(1);
        Self { own, others, longest }
    }

    /// The longest agent name these words begin with.
    fn longest(&self, words: &[String]) -> Option<Named> {
        let mut name = String::new();
        let mut found = None;
        for word in words.iter().take(self.longest) {
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
            let own = !self.own.is_empty() && name == self.own;
            if own || self.others.contains(&name) {
                found = Some(Named { own, id: name.replace(' ', "-") });
            }
        }
        found
    }
}

fn in_words(id: &str) -> String {
    let words = id.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A sentence that says who the agent is.
struct Claim {
    at: usize,
    /// The sentence, or as much of it as fits into a message.
    sentence: String,
    /// What one is said to be, in plain lower-case words without the article.
    identity: Vec<String>,
}

fn claims<'t>(text: &'t Text<'_>, names: &'t Names) -> impl Iterator<Item = Claim> + 't {
    let body: &str = &text.body;
    let places = memchr::memchr_iter(b'Y', body.as_bytes());
    places
        .filter(|at| starts_sentence(body, *at) && !text.is_quoted(*at))
        .filter_map(move |at| claim(body.get(at..)?, at, names))
}

/// Nothing before it on the line but marks of markdown, or the end of another sentence.
fn starts_sentence(body: &str, at: usize) -> bool {
    let before = body.get(..at).unwrap_or_default().chars().rev();
    let mut before = before.skip_while(|c| matches!(c, ' ' | '\t' | '*' | '_' | '#' | '-' | '+'));
    match before.next() {
        None | Some('\n') => true,
        Some(c) => {
            matches!(c, '.' | '!' | '?' | ':' | ';' | '(' | ')' | ']' | '|' | '—' | '–' | '•')
        }
    }
}

fn claim(sentence: &str, at: usize, names: &Names) -> Option<Claim> {
    let (shouted, rest) = after_you_are(sentence)?;
    let mut words = rest.split_whitespace().take(CLAIM_WORDS).peekable();
    while words.next_if(|word| ADVERBS.contains(&plain(word).as_str())).is_some() {}
    let mut first = *words.peek()?;
    let lead = plain(first);
    let gives_identity;
    if ARTICLES.contains(&lead.as_str()) || POSSESSIVES.contains(&lead.as_str()) {
        words.next();
        let next = words.peek().map(|word| plain(word)).unwrap_or_default();
        gives_identity = !next.is_empty() && !AMOUNTS.contains(&next.as_str());
    } else {
        if ["called", "named"].contains(&lead.as_str()) {
            words.next();
            first = *words.peek()?;
        }
        gives_identity = !shouted && is_name(first);
    }
    let identity = identity_words(words);
    (gives_identity || names.longest(&identity).is_some()).then(|| Claim {
        at,
        sentence: excerpt(sentence),
        identity,
    })
}

/// What follows "You are", "You're" or "Your name is"; true where it is shouted, so that capitals
/// mean nothing.
fn after_you_are(sentence: &str) -> Option<(bool, &str)> {
    let (shouted, rest) = match sentence.strip_prefix("You") {
        Some(rest) => (false, rest),
        None => (true, sentence.strip_prefix("YOU")?),
    };
    if let Some(rest) = ["'re", "’re", "'RE", "’RE"].iter().find_map(|re| rest.strip_prefix(re))
    {
        return rest.starts_with(char::is_whitespace).then_some((shouted, rest));
    }
    let (possessive, rest) = match rest.strip_prefix(['r', 'R']) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let expected: &[&str] = if possessive { &["name", "is"] } else { &["are"] };
    expected
        .iter()
        .try_fold(rest, |rest, word| {
            let after = rest.trim_start();
            let (start, after) = after.split_at_checked(word.len())?;
            let ends = after.starts_with(char::is_whitespace);
            (ends && start.eq_ignore_ascii_case(word)).then_some(after)
        })
        .map(|rest| (shouted, rest))
}

/// Does the word read as a name or as a place for one?
fn is_name(word: &str) -> bool {
    let bare = word.trim_start_matches(MARKS);
    if bare.starts_with("{{") {
        return true;
    }
    let Some(first) = bare.chars().next() else { return false };
    // Scripts without capitals: a letter says no more than that there is a word.
    let capital = first.is_uppercase() || (first.is_alphabetic() && !first.is_lowercase());
    let folded = plain(bare);
    let shouted = bare.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase);
    let participle = shouted && (folded.ends_with("ed") || folded.ends_with("ing"));
    capital && !participle && !NOT_NAMES.split(' ').any(|word| word == folded)
}

/// Marks around a word: emphasis, code, quotation.
const MARKS: [char; 8] = ['*', '_', '`', '"', '“', '”', '\'', '‘'];

/// The word in lower case, without marks and punctuation around it.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// The words up to the end of the phrase, hyphens taken apart. "Cosmo's planner" is not Cosmo, so a
/// possessive keeps its ending.
fn identity_words<'w>(words: impl Iterator<Item = &'w str>) -> Vec<String> {
    let mut out = Vec::new();
    for word in words {
        let bare = word.trim_matches(|c: char| MARKS.contains(&c));
        let possessive = ["'s", "’s"].iter().any(|s| bare.contains(s));
        if possessive {
            out.push(plain(bare));
        } else {
            out.extend(in_words(bare).split(' ').filter(|w| !w.is_empty()).map(str::to_owned));
        }
        if bare.ends_with([',', '.', ';', ':', '!', '?', '—']) {
            break;
        }
    }
    out
}

/// The first words of the sentence on one line.
fn excerpt(sentence: &str) -> String {
    let mut out = String::new();
    for word in sentence.split_whitespace().take(CLAIM_WORDS) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(40));
        if word.ends_with(['.', '!', '?']) {
            return out;
        }
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use crate::context::items::Capability;
    use crate::fence::text::Line;

    fn pack(text: &str) -> Vec<String> {
        let mut fixture = Fixture::default();
        let text = doc("prompts/capabilities/core.md", text);
        fixture.context.capabilities = vec![Capability { name: Line::new("core"), text }];
        fixture.messages("identity-bleed")
    }

    fn persona(text: &str) -> Vec<String> {
        let mut fixture = Fixture::default();
        fixture.context.persona = doc("prompts/agents/coding/cosmo.md", text);
        fixture.messages("identity-bleed")
    }

    #[test]
    fn identities_in_a_shared_text() {
        for text in [
            "You are Cosmo.",
            "You are a careful reviewer of code.",
            "You are an expert in Rust",
            "You are the Planner of the crew.",
            "You are now Cosmo, the lead.",
            "You're a pirate.",
            "You’re Cosmo.",
            "You\nare Cosmo.",
            "You are our support agent.",
            "You are **Cosmo**, the lead.",
            "You are `cosmo`.",
            "You are worker number one.",
            "You are {{parentRole}}'s helper.",
            "You are called Cosmo.",
            "Your name is Cosmo.",
            "You are 小明。",
            "You are HAL.",
            "YOU ARE A PIRATE",
            "YOU ARE COSMO",
            "## You are Cosmo",
            "- You are Cosmo",
            "1. You are Cosmo",
            "**You are Cosmo.**",
            "Read this first. You are Cosmo.",
            "Remember: You are Cosmo.",
            "When the work is done, stop.\n\nYou are the last reader.",
        ] {
            assert_eq!(pack(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_no_identity() {
        for text in [
            "If you are a worker, report.",
            "If You are a worker, report.",
            "When you are asked to plan, plan.",
            "Say which of the three\nyou are doing, and what a reader\nyou are a stranger to needs.",
            "You are expected to test.",
            "You are started by another agent.",
            "You are given a task.",
            "You are not Cosmo.",
            "You are NOT the lead.",
            "You are NEVER to push.",
            "You are ALLOWED to read.",
            "YOU ARE EXPECTED TO STOP",
            "You are free to choose.",
            "You are responsible for the tests.",
            "You are part of Cosmonauts.",
            "You are one of five agents.",
            "You are in Plan mode.",
            "You are a few steps from done.",
            "You are called once per run.",
            "Your name is not needed.",
            "Your names are listed below.",
            "Never write \"You are Cosmo\" in a pack.",
            "Never write “You are Cosmo” in a pack.",
            "Never write `You are Cosmo` in a pack.",
            "Wrong:\n\n> You are Cosmo.\n",
            "Wrong:\n\n```\nYou are Cosmo.\n```\n",
            "You area manager",
            "Young agents are planners.",
            "You are",
            "You are a",
            "",
        ] {
            assert_eq!(pack(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_place_and_the_words_are_shown() {
        assert_eq!(
            pack("# Core\n\nBe brief. You are Cosmo, the lead of\nthe crew. More."),
            ["prompts/capabilities/core.md:3 a capability pack says who the agent is: \
              \"You are Cosmo, the lead of the crew.\""]
        );
    }

    #[test]
    fn base_and_overlay_are_shared_too_but_a_constitution_is_the_operators_choice() {
        let mut fixture = Fixture::default();
        fixture.context.base = doc("prompts/base.md", "You are Cosmo.");
        fixture.context.overlay = doc("prompts/runtime/sub-agent.md", "You are a sub-agent.");
        fixture.context.constitution = doc("constitution.md", "You are an agent.");
        let files: Vec<String> =
            fixture.findings("identity-bleed").into_iter().map(|f| f.file).collect();
        assert_eq!(files, ["prompts/base.md", "prompts/runtime/sub-agent.md"]);
    }

    #[test]
    fn a_persona_speaks_for_its_own_agent() {
        for text in [
            "You are Cosmo, who sends out the planner.",
            "You are the Planner's best friend.",
            "You are a tireless lead.",
            "You are Planning Cosmo.",
            "You are Task Force One.",
            "If you are the planner, stop.",
        ] {
            assert_eq!(persona(text), [""; 0], "{text}");
        }
        for text in [
            "You are Planner.",
            "You are the Task Manager of the crew.",
            "You are a worker, and a good one.",
            "You are now the **planner**.",
            "Your name is Planner.",
        ] {
            assert_eq!(persona(text).len(), 1, "{text}");
        }
        assert_eq!(
            persona("\nYou are the Task Manager."),
            [
                "prompts/agents/coding/cosmo.md:2 the persona of `cosmo` claims to be another agent, \
              `task-manager`: \"You are the Task Manager.\""
            ]
        );
    }

    #[test]
    fn a_longer_name_of_ones_own_wins() {
        let mut fixture = Fixture { agent: "task-manager", ..Fixture::default() };
        fixture.other_agents = vec!["task".into(), "cosmo".into()];
        fixture.context.persona = doc("p.md", "You are the Task Manager.");
        assert!(fixture.messages("identity-bleed").is_empty());
        fixture.context.identity_files.soul = doc("SOUL.md", "You are Cosmo.");
        assert_eq!(fixture.messages("identity-bleed").len(), 1);
    }
}
