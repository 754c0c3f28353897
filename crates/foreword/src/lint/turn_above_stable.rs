//! `turn-above-stable`: providers bill an unchanged prefix at a fraction. A section that may change
//! every turn ends that prefix, and everything behind it is paid for again.

use super::{Desk, Report, Rule};
use crate::blueprints::blueprint::{Blueprint, Slot};
use crate::context::Context;
use crate::fence::authority::Volatility;

pub(super) const RULE: Rule = Rule {
    id: "turn-above-stable",
    about: "sections that may change every turn stand below those that do not",
    check,
};

/// How many modules a message names.
const MAX_NAMED: usize = 5;

fn check(desk: &Desk<'_>, report: &mut Report) {
    let subject = desk.subject;
    let blueprint = subject.blueprint;
    let system: Vec<&Slot> =
        blueprint.slots.iter().filter(|slot| !(blueprint.turn_apart && slot.is_turn())).collect();
    let is_steady = |slot: &&&Slot| is_steady(slot, subject.context);
    let above = system.iter().rposition(|slot| is_steady(&slot)).unwrap_or(0);
    let turn = names(system.iter().take(above).filter(|slot| slot.is_turn()));
    if turn.is_empty() {
        return;
    }
    let steady = names(system.iter().skip_while(|slot| !slot.is_turn()).filter(is_steady));
    let message = format!(
        "in blueprint `{}`, {turn} can change every turn but comes before {steady}, so \
         providers cannot cache what follows",
        blueprint.name()
    );
    let hint = if is_builtin(blueprint) {
        "this blueprint orders its sections this way on purpose; `standard` keeps changing sections apart"
    } else {
        "give it a higher priority, or set `turn_context = true` in the blueprint"
    };
    report.warning(subject.blueprint_file, 1, message, hint);
}

/// Does it change less often than every turn, and stand in this agent's prompt?
fn is_steady(slot: &Slot, context: &Context) -> bool {
    slot.spec.volatility != Volatility::Turn && slot.module.should_include(context)
}

fn names<'b>(slots: impl Iterator<Item = &'b &'b Slot>) -> String {
    let names: Vec<String> = slots.map(|slot| format!("`{}`", slot.name)).collect();
    let shown = names.get(..MAX_NAMED).unwrap_or(&names).join(", ");
    match names.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The built-in blueprint itself, not one of the user's that has its name.
fn is_builtin(blueprint: &Blueprint) -> bool {
    Blueprint::builtin(blueprint.name())
        .is_some_and(|builtin| builtin.modules().eq(blueprint.modules()))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use crate::blueprints::blueprint::Blueprint;
    use crate::fence::text::{Document, Line};

    fn own(toml: &str) -> Fixture {
        let blueprint =
            Blueprint::from_toml("b.toml", toml, &mut |_| Err(std::io::ErrorKind::NotFound.into()));
        Fixture { blueprint: blueprint.unwrap(), blueprint_file: "b.toml", ..Fixture::default() }
    }

    #[test]
    fn standard_roles_and_companion_are_in_order() {
        for name in ["standard", "roles", "companion", "semantic"] {
            let mut fixture =
                Fixture { blueprint: Blueprint::builtin(name).unwrap(), ..Fixture::default() };
            fixture.context.task = Document::new("Do it.");
            fixture.context.identity_files.soul = Document::new("Kind.");
            assert_eq!(fixture.messages("turn-above-stable"), [""; 0], "{name}");
        }
    }

    #[test]
    fn guarded_is_so_by_design() {
        let blueprint = Blueprint::builtin("guarded").unwrap();
        let fixture =
            Fixture { blueprint, blueprint_file: "builtin:guarded", ..Fixture::default() };
        let findings = fixture.findings("turn-above-stable");
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains(
            "in blueprint `guarded`, `injection-defense` can change every turn but comes before \
             `security`"
        ));
        assert!(findings[0].hint.contains("on purpose"));
    }

    #[test]
    fn a_canary_below_the_rules_counts_once_there_is_one() {
        let blueprint = Blueprint::builtin("semantic").unwrap();
        let mut fixture =
            Fixture { blueprint, blueprint_file: "builtin:semantic", ..Fixture::default() };
        fixture.context.canary = Some(Line::new("c-1"));
        assert_eq!(fixture.findings("turn-above-stable").len(), 1);
    }

    #[test]
    fn a_blueprint_of_ones_own_can_be_mended() {
        let modules = "[[module]]\nname = \"identity\"\npriority = 0\n\
                       [[module]]\nname = \"clock\"\npriority = 5\n\
                       [[module]]\nname = \"security\"\npriority = 10\n";
        let findings = own(&format!("name = \"b\"\n{modules}")).findings("turn-above-stable");
        assert_eq!(findings.len(), 1);
        assert!(findings[0].hint.contains("turn_context"));
        let apart = own(&format!("name = \"b\"\nturn_context = true\n{modules}"));
        assert!(apart.findings("turn-above-stable").is_empty());
        let named_alike = own(&format!("name = \"guarded\"\n{modules}"));
        assert!(named_alike.findings("turn-above-stable")[0].hint.contains("turn_context"));
    }
}
