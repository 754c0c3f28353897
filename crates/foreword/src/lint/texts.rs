//! The texts of a subject, read once: what each is, its lines, its code and its quotes.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::Subject;
use crate::fence::invisible::clean;
use crate::fence::text::Document;

/// What a text is for. Rules differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Base,
    Constitution,
    Rules,
    Capability,
    /// The persona file, or the body of AGENT.md.
    Persona,
    /// SOUL.md and IDENTITY.md.
    Character,
    /// USER.md and USER_BOOTSTRAP.md: the one kind that is not the operator's.
    User,
    Bootstrap,
    Heartbeat,
    Tools,
    Context,
    Overlay,
    /// A file that the blueprint shows.
    File,
}

/// Inline code: where it stands, and what it says.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) at: usize,
    pub(super) text: String,
}

/// A text as the prompt will have it, hidden characters removed, and where it came from.
#[derive(Debug)]
pub(super) struct Text<'s> {
    pub(super) kind: Kind,
    pub(super) document: &'s Document,
    /// The file, or a name where there is none.
    pub(super) file: Cow<'s, str>,
    pub(super) body: Cow<'s, str>,
    pub(super) code: Vec<Code>,
    /// Code and block quotes: text that is shown rather than said. In order, not overlapping.
    quoted: Vec<Range<usize>>,
    line_starts: Vec<usize>,
    first_line: u32,
}

impl<'s> Text<'s> {
    pub(super) fn new(kind: Kind, document: &'s Document, name: impl Into<Cow<'s, str>>) -> Self {
        let (body, _) = clean(document.inspect());
        let source = document.source();
        let breaks = memchr::memchr_iter(b'\n', body.as_bytes()).map(|at| at + 1);
        let line_starts = std::iter::once(0).chain(breaks).collect();
        let (code, quoted) = code_and_quotes(&body);
        Self {
            kind,
            document,
            file: source.map_or_else(|| name.into(), |source| Cow::Borrowed(&*source.path)),
            first_line: source.map_or(1, |source| source.first_line),
            body,
            code,
            quoted,
            line_starts,
        }
    }

    /// Is it the operator's, or above?
    pub(super) fn is_operator(&self) -> bool {
        self.kind != Kind::User
    }

    /// The line in the file of a byte of the body.
    pub(super) fn line_at(&self, at: usize) -> u32 {
        self.line(self.line_starts.partition_point(|start| *start <= at).saturating_sub(1))
    }

    /// The line in the file of a line of the body, counted from 0.
    pub(super) fn line(&self, index: usize) -> u32 {
        self.first_line.saturating_add(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The line in the file of the first line that says something.
    pub(super) fn first_said_line(&self) -> u32 {
        self.line_at(self.body.len() - self.body.trim_start().len())
    }

    /// Does the byte stand in code or in a block quote?
    pub(super) fn is_quoted(&self, at: usize) -> bool {
        let next = self.quoted.partition_point(|range| range.start <= at);
        next.checked_sub(1)
            .and_then(|last| self.quoted.get(last))
            .is_some_and(|range| at < range.end)
    }
}

fn code_and_quotes(body: &str) -> (Vec<Code>, Vec<Range<usize>>) {
    let (mut code, mut quoted) = (Vec::new(), Vec::<Range<usize>>::new());
    for (event, range) in Parser::new(body).into_offset_iter() {
        match event {
            Event::Code(text) => code.push(Code { at: range.start, text: text.into_string() }),
            Event::Start(Tag::CodeBlock(_) | Tag::BlockQuote(_)) => {}
            _ => continue,
        }
        if quoted.last().is_none_or(|last| last.end <= range.start) {
            quoted.push(range);
        }
    }
    (code, quoted)
}

/// Every text of the subject that says something, in a fixed order. The agent's own text may reach
/// the Context under several names; it is listed once.
pub(super) fn of<'s>(subject: &'s Subject<'s>) -> Vec<Text<'s>> {
    let context = subject.context;
    let files = &context.identity_files;
    let agent_file = if subject.agent_file.is_empty() { "AGENT.md" } else { subject.agent_file };
    let mut texts = Vec::new();

    let personas = [
        (Some(&context.persona), "persona"),
        (Some(&files.agent), agent_file),
        (Some(&files.agents), "AGENTS.md"),
        (subject.persona_file, "persona"),
        (Some(subject.agent_body), agent_file),
    ];
    for (document, name) in personas {
        let Some(document) = document.filter(|document| !is_empty(document)) else { continue };
        let again = texts.iter().any(|text: &Text<'_>| same_text(text.document, document));
        if !again {
            texts.push(Text::new(Kind::Persona, document, name));
        }
    }

    let mut push = |kind, document: &'s Document, name: Cow<'s, str>| {
        if !is_empty(document) {
            texts.push(Text::new(kind, document, name));
        }
    };
    for (kind, document, name) in [
        (Kind::Base, &context.base, "base"),
        (Kind::Constitution, &context.constitution, "constitution"),
        (Kind::Rules, &context.rules, "rules"),
        (Kind::Character, &files.soul, "SOUL.md"),
        (Kind::Character, &files.identity, "IDENTITY.md"),
        (Kind::User, &files.user, "USER.md"),
        (Kind::User, &files.user_bootstrap, "USER_BOOTSTRAP.md"),
        (Kind::Bootstrap, &files.bootstrap, "BOOTSTRAP.md"),
        (Kind::Heartbeat, &files.heartbeat, "HEARTBEAT.md"),
        (Kind::Tools, &files.tools, "TOOLS.md"),
        (Kind::Overlay, &context.overlay, "overlay"),
    ] {
        push(kind, document, Cow::Borrowed(name));
    }
    for pack in &context.capabilities {
        let name = match pack.name.inspect() {
            "" => Cow::Borrowed("capabilities"),
            name => Cow::Owned(format!("capabilities/{name}")),
        };
        push(Kind::Capability, &pack.text, name);
    }
    for document in context.context_content.iter() {
        push(Kind::Context, document, Cow::Borrowed("CONTEXT.md"));
    }
    for (file, document) in &context.files {
        push(Kind::File, document, Cow::Borrowed(file));
    }
    texts
}

/// Nothing but white space? A text of hidden characters is blank to the prompt and news to a linter.
fn is_empty(document: &Document) -> bool {
    document.inspect().trim().is_empty()
}

/// The same file, of which one may be cut, or the same words.
fn same_text(a: &Document, b: &Document) -> bool {
    let path = |document: &Document| document.source().map(|source| source.path.clone());
    path(a).is_some_and(|a| path(b) == Some(a)) || a.inspect() == b.inspect()
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use super::*;
    use crate::fence::text::Source;

    #[test]
    fn lines_are_those_of_the_file() {
        let source = Source { path: "a.md".into(), first_line: 10 };
        let document = Document::new("\n\none\r\ntwo").from_source(source);
        let text = Text::new(Kind::Base, &document, "x");
        assert_eq!(text.body, "\n\none\ntwo");
        assert_eq!((text.line_at(0), text.line_at(2), text.line_at(6)), (10, 12, 13));
        assert_eq!(text.line_at(999), 13);
        assert_eq!(text.first_said_line(), 12);
        assert_eq!(text.file, "a.md");
    }

    #[test]
    fn code_and_block_quotes_are_known() {
        let document = Document::new("a `b` c\n\n```sh\nd\n```\n> e `f`\n\ng");
        let text = Text::new(Kind::Base, &document, "x");
        let quoted: String = ["a", "b", "c", "d", "e", "f", "g"]
            .into_iter()
            .filter(|letter| text.is_quoted(text.body.find(letter).unwrap()))
            .collect();
        assert_eq!(quoted, "bdef");
        let code: Vec<&str> = text.code.iter().map(|code| code.text.as_str()).collect();
        assert_eq!(code, ["b", "f"]);
    }

    #[test]
    fn the_agents_own_text_is_read_once() {
        let mut fixture = Fixture::default();
        let body = doc("agents/cosmo/AGENT.md", "Lead the crew.");
        fixture.context.identity_files.agent = body.clone();
        fixture.context.persona = body.clone();
        fixture.body = body;
        fixture.persona = Some(doc("prompts/agents/coding/cosmo.md", "Another."));
        fixture.context.files.insert("docs/x.md".into(), Document::new("File."));
        let subject = fixture.subject();
        let files: Vec<String> = of(&subject).iter().map(|text| text.file.to_string()).collect();
        assert_eq!(files, ["agents/cosmo/AGENT.md", "prompts/agents/coding/cosmo.md", "docs/x.md"]);
    }
}
