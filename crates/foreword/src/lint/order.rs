//! `order`: base, capability packs, persona, runtime overlay. The persona has the last word over the
//! packs, and the overlay over both; a list in another order says something else.

use super::{Desk, PromptRef, Report, Rule};

pub(super) const RULE: Rule = Rule {
    id: "order",
    about: "prompts are listed as base, capabilities, persona, runtime",
    check,
};

/// The layer a reference belongs to. The order is the order of the layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Base,
    Capability,
    Persona,
    Runtime,
}

impl Layer {
    /// By the folder under `prompts/`.
    pub(super) fn of(reference: &PromptRef) -> Self {
        let name = reference.name.trim_start_matches("./");
        let name = name.strip_prefix("prompts/").unwrap_or(name);
        match name.split_once('/') {
            Some(("capabilities", _)) => Self::Capability,
            Some(("agents", _)) => Self::Persona,
            Some(("runtime", _)) => Self::Runtime,
            _ => Self::Base,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Base => "a base",
            Self::Capability => "a capability pack",
            Self::Persona => "a persona",
            Self::Runtime => "a runtime overlay",
        }
    }
}

fn check(desk: &Desk<'_>, report: &mut Report) {
    let mut highest: Option<(&PromptRef, Layer)> = None;
    for reference in desk.subject.refs {
        let layer = Layer::of(reference);
        match highest {
            Some((above, above_layer)) if layer < above_layer => report.error(
                &reference.file,
                reference.line,
                format!(
                    "`{}` ({}) comes after `{}` ({})",
                    reference.name,
                    layer.as_str(),
                    above.name,
                    above_layer.as_str()
                ),
                "list them in this order: base, capabilities/*, agents/*, runtime/*",
            ),
            _ => highest = Some((reference, layer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;

    #[test]
    fn the_order_of_the_layers_is_fine() {
        for refs in [
            &["cosmonauts", "capabilities/core", "capabilities/todo", "agents/coding/cosmo"][..],
            &["base", "agents/coding/cosmo", "runtime/sub-agent"],
            &["prompts/base", "prompts/capabilities/core", "./agents/coding/cosmo"],
            &[],
        ] {
            let messages = Fixture::default().with_refs(refs).messages("order");
            assert!(messages.is_empty(), "{messages:?}");
        }
    }

    #[test]
    fn another_order_is_an_error_at_the_entry_out_of_place() {
        let refs = ["cosmonauts", "agents/coding/cosmo", "capabilities/core", "capabilities/todo"];
        assert_eq!(
            Fixture::default().with_refs(&refs).messages("order"),
            [
                "agents/cosmo/AGENT.md:8 `capabilities/core` (a capability pack) comes after \
                 `agents/coding/cosmo` (a persona)",
                "agents/cosmo/AGENT.md:9 `capabilities/todo` (a capability pack) comes after \
                 `agents/coding/cosmo` (a persona)",
            ]
        );
        let refs = ["capabilities/core", "cosmonauts", "agents/coding/cosmo"];
        assert_eq!(
            Fixture::default().with_refs(&refs).messages("order"),
            ["agents/cosmo/AGENT.md:7 `cosmonauts` (a base) comes after `capabilities/core` \
              (a capability pack)"]
        );
    }
}
