//! `personas`: an agent is exactly one. With two, the model has to choose; with none, it invents one.

use super::order::Layer;
use super::texts::{Kind, Text};
use super::{Desk, Report, Rule};

pub(super) const RULE: Rule =
    Rule { id: "personas", about: "an agent has exactly one persona", check };

fn check(desk: &Desk<'_>, report: &mut Report) {
    let subject = desk.subject;
    let mut listed = subject.refs.iter().filter(|r| Layer::of(r) == Layer::Persona);
    let first = listed.next();
    for another in listed {
        let kept = first.map_or("", |first| first.name.as_str());
        report.error(
            &another.file,
            another.line,
            format!("second persona `{}` in addition to `{kept}`", another.name),
            "keep one; what both need belongs in a capability pack",
        );
    }

    let has_body = !subject.agent_body.is_blank();
    if first.is_none()
        && !has_body
        && let Some(start) = subject.refs.first()
    {
        report.error(
            &start.file,
            start.line,
            "`prompts` lists no persona, and the file has no body".to_owned(),
            format!(
                "add `agents/{}/{}` after the capabilities, or write the persona into the body",
                subject.context.namespace.inspect(),
                subject.agent
            ),
        );
    }

    let persona_file = subject.persona_file.filter(|persona| !persona.is_blank());
    if !has_body || (first.is_none() && persona_file.is_none()) {
        return;
    }
    let persona = match (persona_file.and_then(|persona| persona.source()), first) {
        (Some(source), _) => source.path.to_string(),
        (None, Some(first)) => first.name.clone(),
        (None, None) => "the persona file".to_owned(),
    };
    let body = Text::new(Kind::Persona, subject.agent_body, subject.own_file());
    report.error(
        &body.file,
        body.first_said_line(),
        format!("two personas: this body and `{persona}`"),
        "keep one of them; leave the body empty where the persona has a file of its own",
    );
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use crate::fence::text::{Document, Source};

    fn body() -> Document {
        let source = Source { path: "agents/cosmo/AGENT.md".into(), first_line: 12 };
        Document::new("\nYou are Cosmo.\n").from_source(source)
    }

    #[test]
    fn one_persona_is_fine() {
        let listed = Fixture::default().with_refs(&["base", "agents/coding/cosmo"]);
        assert!(listed.messages("personas").is_empty());
        let in_body = Fixture { body: body(), ..Fixture::default() };
        assert!(in_body.messages("personas").is_empty());
        let beside_a_list = Fixture { body: body(), ..Fixture::default() }.with_refs(&["base"]);
        assert!(beside_a_list.messages("personas").is_empty());
        let blank = Fixture {
            body: Document::new(" \n"),
            persona: Some(doc("prompts/agents/coding/cosmo.md", "You are Cosmo.")),
            ..Fixture::default()
        };
        assert!(blank.messages("personas").is_empty());
    }

    #[test]
    fn two_in_the_list() {
        let refs = ["base", "agents/coding/cosmo", "agents/coding/planner"];
        assert_eq!(
            Fixture::default().with_refs(&refs).messages("personas"),
            ["agents/cosmo/AGENT.md:8 second persona `agents/coding/planner` in addition to \
              `agents/coding/cosmo`"]
        );
    }

    #[test]
    fn none_in_the_list() {
        let fixture = Fixture::default().with_refs(&["base", "capabilities/core"]);
        let findings = fixture.findings("personas");
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].file.as_str(), findings[0].line), ("agents/cosmo/AGENT.md", 6));
        assert!(findings[0].hint.contains("`agents/coding/cosmo`"));
    }

    #[test]
    fn a_file_and_a_body() {
        let fixture = Fixture {
            body: body(),
            persona: Some(doc("prompts/agents/coding/cosmo.md", "You are Cosmo.")),
            ..Fixture::default()
        };
        assert_eq!(
            fixture.messages("personas"),
            ["agents/cosmo/AGENT.md:13 two personas: this body and \
              `prompts/agents/coding/cosmo.md`"]
        );
        let listed = Fixture { body: body(), ..Fixture::default() }
            .with_refs(&["base", "agents/coding/lead"]);
        assert_eq!(
            listed.messages("personas"),
            ["agents/cosmo/AGENT.md:13 two personas: this body and `agents/coding/lead`"]
        );
    }
}
