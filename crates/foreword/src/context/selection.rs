//! What was selected for the task, and why: made by whoever gathered the Context, shown by modules
//! and told in the manifest.

use serde::{Deserialize, Serialize};

use crate::compile::manifest::Filtered;
use crate::fence::text::Line;

/// What was selected for the task. A Context without one shows everything it has.
///
/// ```
/// use foreword::{Selected, Selection};
///
/// let chosen = Selected { name: "deploy".into(), score: 0.8, reasons: Vec::new() };
/// let selection = Selection { skills: vec![chosen], ..Selection::default() };
/// assert!(selection.has_skill(&"deploy".into()) && !selection.has_tool(&"deploy".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Selection {
    /// The tools, best first.
    pub tools: Vec<Selected>,
    /// The skills, best first.
    pub skills: Vec<Selected>,
    /// The embedder used; absent if only keywords were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedder: Option<Line>,
    /// Why only keywords were compared, although embeddings were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degraded: Option<Line>,
    /// Scores below this did not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// The kinds (`tools`, `skills`) for which nothing fit the task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abstained: Vec<Line>,
    /// Number of embedding calls.
    pub embedding_calls: u32,
    /// Number of recalled memories and activity entries that were left out, because of their kind or as
    /// likely injections.
    pub filtered_count: u32,
    /// What was recalled or selected and then left out or cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filtered: Vec<Filtered>,
}

/// A tool or skill that was selected.
///
/// ```
/// use foreword::Selected;
///
/// let chosen = Selected { name: "deploy".into(), score: 0.8, reasons: vec!["named in the task".into()] };
/// assert_eq!(chosen.name.inspect(), "deploy");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Selected {
    /// Its name.
    pub name: Line,
    /// How well it fits.
    #[serde(default)]
    pub score: f64,
    /// Why it is here: `named` by the task, `base` of the mode, or its `score`.
    #[serde(default)]
    pub reasons: Vec<Line>,
}

impl Selection {
    /// Is the tool of this name selected?
    pub fn has_tool(&self, name: &Line) -> bool {
        self.tools.iter().any(|selected| selected.name == *name)
    }

    /// Is the skill of this name selected?
    pub fn has_skill(&self, name: &Line) -> bool {
        self.skills.iter().any(|selected| selected.name == *name)
    }
}

/// The items that were selected, in the order of the selection, and the others in their own order.
pub(crate) fn divide<'c, T>(
    items: &'c [T],
    selected: &[Selected],
    name: impl Fn(&T) -> &Line,
) -> (Vec<&'c T>, Vec<&'c T>) {
    let places: std::collections::HashMap<&str, usize> =
        selected.iter().enumerate().map(|(place, it)| (it.name.0.as_str(), place)).collect();
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for item in items {
        match places.get(name(item).0.as_str()) {
            Some(place) => chosen.push((*place, item)),
            None => others.push(item),
        }
    }
    chosen.sort_by_key(|(place, _)| *place);
    (chosen.into_iter().map(|(_, item)| item).collect(), others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_divided_in_the_order_of_the_selection() {
        let names = ["a", "b", "c", "b"].map(Line::new);
        let selected = ["b", "a", "gone"]
            .map(|name| Selected { name: Line::new(name), ..Selected::default() });
        let (chosen, others) = divide(&names, &selected, |name| name);
        assert_eq!(chosen, [&names[1], &names[3], &names[0]]);
        assert_eq!(others, [&names[2]]);
    }
}
