//! A workspace with a clerk who sorts mail and has every tool that taint matters to.

use serde_json::json;

use super::Scratch;
use super::model::{Answer, tool};

pub(crate) const SKILL: &str = "# Mail\n\nSort mail by sender.\n";

/// The workspace, with further settings and the text of `mail.txt`.
pub(crate) fn workspace(config: &str, mail: &str) -> Scratch {
    Scratch::new(&[
        ("foreword.toml", &format!("agent = 'clerk'\n{config}\n[model]\nname = 'm'\n")),
        ("SOUL.md", "Calm.\n"),
        (
            "agents/clerk/AGENT.md",
            "---\nid: clerk\ntools: [coding, skills, memory, web, session, tasks, schedule]\n---\nYou sort mail.\n",
        ),
        ("mail.txt", mail),
    ])
}

/// The agent proposes a skill.
pub(crate) fn propose() -> Answer {
    tool("skill_propose", json!({"skill": "sort-mail", "content": SKILL}))
}
