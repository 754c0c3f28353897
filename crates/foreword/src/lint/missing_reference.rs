//! `missing-reference`: a file that was asked for and is not there. What it would have said is
//! missing from the prompt, and nobody would notice.

use super::{Desk, Report, Rule};

pub(super) const RULE: Rule =
    Rule { id: "missing-reference", about: "every file that is referred to exists", check };

const HINT: &str = "create the file, or correct the reference";

fn check(desk: &Desk<'_>, report: &mut Report) {
    let subject = desk.subject;
    for missing in subject.missing {
        let message = if missing.name == missing.path {
            format!("`{}` does not exist", missing.path)
        } else {
            format!("`{}` does not exist: there is no file {}", missing.name, missing.path)
        };
        report.error(&missing.file, missing.line, message, HINT);
    }
    for module in subject.blueprint.files() {
        let known = subject.missing.iter().any(|missing| missing.path == module.file);
        if !module.optional && !known && !subject.context.files.contains_key(&module.file) {
            report.error(
                subject.blueprint_file,
                1,
                format!("module `{}` shows `{}`, which does not exist", module.module, module.file),
                format!("{HINT}, or set `optional = true`"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MissingRef;
    use super::super::fixture::{Fixture, doc};
    use crate::blueprints::blueprint::Blueprint;

    #[test]
    fn each_missing_file_is_an_error_where_it_was_asked_for() {
        let missing = MissingRef {
            name: "capabilities/taks".into(),
            file: "agents/cosmo/AGENT.md".into(),
            line: 8,
            path: "prompts/capabilities/taks.md".into(),
        };
        let fixture = Fixture { missing: vec![missing], ..Fixture::default() };
        assert_eq!(
            fixture.messages("missing-reference"),
            ["agents/cosmo/AGENT.md:8 `capabilities/taks` does not exist: there is no file \
              prompts/capabilities/taks.md"]
        );
        assert!(Fixture::default().messages("missing-reference").is_empty());
    }

    #[test]
    fn a_file_that_a_blueprint_requires() {
        let toml = "name = \"b\"\nextends = \"standard\"\n\
                    [[module]]\nname = \"house\"\nfile = \"docs/house.md\"\n\
                    [[module]]\nname = \"extra\"\nfile = \"docs/extra.md\"\noptional = true\n";
        let mut fixture = Fixture {
            blueprint: Blueprint::from_toml("b.toml", toml, &mut |_| {
                Err(std::io::ErrorKind::NotFound.into())
            })
            .unwrap(),
            blueprint_file: "b.toml",
            ..Fixture::default()
        };
        assert_eq!(
            fixture.messages("missing-reference"),
            ["b.toml:1 module `house` shows `docs/house.md`, which does not exist"]
        );
        fixture.context.files.insert("docs/house.md".into(), doc("docs/house.md", "Be kind."));
        assert!(fixture.messages("missing-reference").is_empty());
    }
}
