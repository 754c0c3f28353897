//! `tool-mismatch`: a text that names a tool the agent does not have. The model will call it anyway.
//!
//! A tool is named in backticks, alone or as a call. Words without them are prose, "read the file" names
//! no tool, unless they cannot be: nobody writes `spawn_agent` and means two words. Code blocks are
//! examples, and the language of a block is no tool either.

use std::collections::HashSet;

use super::{Desk, Report, Rule};

pub(super) const RULE: Rule =
    Rule { id: "tool-mismatch", about: "no text names a tool that the agent does not have", check };

fn check(desk: &Desk<'_>, report: &mut Report) {
    let subject = desk.subject;
    let own: HashSet<&str> = subject.context.tools.iter().map(|tool| tool.name.inspect()).collect();
    let lacking: HashSet<&str> =
        subject.known_tools.iter().map(String::as_str).filter(|tool| !own.contains(tool)).collect();
    if lacking.is_empty() {
        return;
    }
    for text in desk.texts.iter().filter(|text| text.is_operator()) {
        let in_code =
            text.code.iter().filter_map(|code| Some((code.at, *lacking.get(called(&code.text))?)));
        let in_prose = words(&text.body)
            .filter(|(_, word)| word.contains('_'))
            .filter_map(|(at, word)| Some((at, *lacking.get(word)?)))
            .filter(|(at, _)| !text.is_quoted(*at));
        let mut named: Vec<(u32, &str)> =
            in_code.chain(in_prose).map(|(at, tool)| (text.line_at(at), tool)).collect();
        named.sort_unstable();
        named.dedup();
        for (line, tool) in named {
            // The person cannot change Foreword's own text, and has to write one of their own.
            if let Some(builtin) = text.file.strip_prefix("builtin:capabilities/") {
                report.warning(
                    &text.file,
                    line,
                    format!("names the tool `{tool}`, which {} does not have", subject.who()),
                    format!(
                        "give {} the tool, or write prompts/capabilities/{builtin}.md without it",
                        subject.who()
                    ),
                );
                continue;
            }
            report.error(
                &text.file,
                line,
                format!("names the tool `{tool}`, which {} does not have", subject.who()),
                format!("remove `{tool}` from this text, or give {} the tool", subject.who()),
            );
        }
    }
}

/// Words of letters, digits and underscores, with where they start.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    text.split(move |c: char| !is_part(c)).filter_map(move |word| {
        let start = at;
        // What separates words is one character, of any length.
        at += word.len() + text.get(start + word.len()..)?.chars().next().map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((start, word))
    })
}

/// `name` of `name` and of `name(…)`.
fn called(code: &str) -> &str {
    let code = code.trim();
    match code.split_once('(') {
        Some((name, rest)) if rest.ends_with(')') => name.trim_end(),
        _ => code,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, doc};
    use crate::context::items::Tool;
    use crate::fence::text::Line;

    fn planner(text: &str) -> Vec<String> {
        let mut fixture = Fixture { agent: "planner", ..Fixture::default() };
        fixture.known_tools = ["read", "search", "bash", "edit"].map(String::from).to_vec();
        fixture.context.tools = ["read", "search"]
            .map(|name| Tool { name: Line::new(name), ..Tool::default() })
            .to_vec()
            .into();
        fixture.context.persona = doc("prompts/agents/coding/planner.md", text);
        fixture.messages("tool-mismatch")
    }

    #[test]
    fn a_tool_the_agent_lacks() {
        assert_eq!(
            planner("Use `read`.\n\nThen run `bash`, and `bash` again.\n"),
            ["prompts/agents/coding/planner.md:3 names the tool `bash`, which `planner` does not \
              have"]
        );
        assert_eq!(planner("Call `bash(command)`.").len(), 1);
        assert_eq!(planner("Call ``edit( path, text )``.").len(), 1);
        assert_eq!(planner("Both `edit` and `bash`, then `edit`.").len(), 2);
        assert_eq!(planner("Hidden `ba\u{200b}sh`.").len(), 1);
    }

    #[test]
    fn a_name_that_can_be_nothing_else_needs_no_backticks() {
        let mut fixture = Fixture { agent: "planner", ..Fixture::default() };
        fixture.known_tools = vec!["spawn_agent".into()];
        let text = "Plan.\n\n– Call spawn_agent, or `spawn_agent`.\n\n```\nspawn_agent\n```\nmy_spawn_agent_x\n";
        fixture.context.persona = doc("p.md", text);
        assert_eq!(
            fixture.messages("tool-mismatch"),
            ["p.md:3 names the tool `spawn_agent`, which `planner` does not have"]
        );
    }

    #[test]
    fn forewords_own_text_is_a_warning_with_what_the_person_can_do() {
        let mut fixture = Fixture { agent: "lead", ..Fixture::default() };
        fixture.known_tools = vec!["chain_run".into()];
        fixture.context.persona = doc("builtin:capabilities/spawning", "Use `chain_run`.");
        let finding = fixture.findings("tool-mismatch").remove(0);
        assert_eq!(finding.severity, crate::lint::Severity::Warning);
        assert_eq!(
            finding.hint,
            "give `lead` the tool, or write prompts/capabilities/spawning.md without it"
        );
    }

    #[test]
    fn what_names_no_tool_that_is_missing() {
        for text in [
            "Use `read` and `search(query)`.",
            "Do not edit. A bash script is fine.",
            "```bash\nbash edit\n```",
            "Run `bash -c ls`, the file `edit.rs`, the flag `--edit`, the thing `frobnicate`.",
            "`edit(a",
        ] {
            assert_eq!(planner(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn every_operator_text_is_read_and_the_users_is_not() {
        let mut fixture = Fixture { known_tools: vec!["bash".into()], ..Fixture::default() };
        let text = "Use `bash`.";
        fixture.context.identity_files.tools = doc("TOOLS.md", text);
        fixture.context.identity_files.heartbeat = doc("HEARTBEAT.md", text);
        fixture.context.identity_files.user = doc("USER.md", text);
        fixture.context.context_content =
            crate::fence::text::Documents(vec![doc("CONTEXT.md", text)]);
        let files: Vec<String> =
            fixture.findings("tool-mismatch").into_iter().map(|f| f.file).collect();
        assert_eq!(files, ["CONTEXT.md", "HEARTBEAT.md", "TOOLS.md"]);
    }
}
