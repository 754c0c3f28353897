//! `unguarded`: a blueprint of the user's own that tells the agent nothing about its boundaries.

use super::{Desk, Report, Rule};
use crate::blueprints::blueprint::Blueprint;

pub(super) const RULE: Rule = Rule {
    id: "unguarded",
    about: "a custom blueprint keeps the sections on security and injected instructions",
    check,
};

/// What is missed, and the modules any of which has it.
const GUARDS: [(&str, &str, &[&str]); 2] = [
    ("security boundaries", "security", &["security"]),
    (
        "injected instructions",
        "injection-defense-stable",
        &["injection-defense", "injection-defense-stable", "constitution", "foundation"],
    ),
];

fn check(desk: &Desk<'_>, report: &mut Report) {
    let blueprint = desk.subject.blueprint;
    if Blueprint::builtin(blueprint.name()).is_some() {
        return;
    }
    for (what, kind, modules) in GUARDS {
        if !blueprint.slots.iter().any(|slot| modules.contains(&slot.module.name())) {
            let message = format!("blueprint `{}` has no section on {what}", blueprint.name());
            let hint = format!("add a module of kind `{kind}`, or extend `standard`");
            report.warning(desk.subject.blueprint_file, 1, message, hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use crate::blueprints::blueprint::Blueprint;

    fn messages(toml: &str) -> Vec<String> {
        let load = &mut |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let blueprint = Blueprint::from_toml("b.toml", toml, load).unwrap();
        Fixture { blueprint, blueprint_file: "b.toml", ..Fixture::default() }.messages("unguarded")
    }

    #[test]
    fn a_blueprint_that_removes_its_guards() {
        let all = "name = \"b\"\nextends = \"standard\"\n";
        assert!(messages(all).is_empty());
        assert_eq!(
            messages(&format!("{all}remove = [\"security\"]\n")),
            ["b.toml:1 blueprint `b` has no section on security boundaries"]
        );
        let remove = "remove = [\"security\", \"constitution\", \"injection-defense\"]\n";
        assert_eq!(messages(&format!("{all}{remove}")).len(), 2);
    }
}
