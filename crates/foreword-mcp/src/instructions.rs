//! What a client's model is told about the server: only of tools that it offers.

/// The texts, each with the tool that it is about; without one, it always stands there.
const TEXTS: [(Option<&str>, &str); 6] = [
    (None, "Foreword holds the skills, memories and prompts of a workspace."),
    (
        Some("skill_read"),
        "Skills are screened instructions for recurring tasks: before you start a task, list the \
         resources and read the skills that apply.",
    ),
    (Some("skill_list"), "`skill_list` also lists them."),
    (Some("skill_propose"), "Propose a new or better skill with `skill_propose`."),
    (Some("memory_write"), "Save a memory with `memory_write`."),
    (None, "If a tool refuses, it says why: tell the user instead of working around it."),
];

/// The instructions of a server that offers some tools.
pub(crate) fn instructions(offers: impl Fn(&str) -> bool) -> String {
    let texts = TEXTS.iter().filter(|(tool, _)| tool.is_none_or(&offers)).map(|(_, text)| *text);
    texts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_are_offered_are_named() {
        let all = instructions(|_| true);
        assert!(all.contains("`skill_list`") && all.contains("`memory_write`"), "{all}");
        let few = instructions(|name| name == "memory_write");
        assert_eq!(
            few,
            "Foreword holds the skills, memories and prompts of a workspace. Save a memory with \
             `memory_write`. If a tool refuses, it says why: tell the user instead of working around it."
        );
    }
}
