//! Who gets how much of a tight budget. One algorithm, on plain numbers.

use crate::fence::authority::Detail;

/// A module that wants a place.
///
/// ```
/// use foreword::{Candidate, Decision, Detail, allocate};
///
/// let optional = Candidate { optional: true, keep: 10, full: 100, minimal: None };
/// assert_eq!(allocate(&[optional], 100).decisions, [Decision::Include(Detail::Full)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// May it be left out?
    pub optional: bool,
    /// How long it survives; higher is longer. Ties go to the earlier one.
    pub keep: u8,
    /// Tokens of its full form.
    pub full: u32,
    /// Tokens of its short form, if it has one.
    pub minimal: Option<u32>,
}

/// What was decided for a candidate.
///
/// ```
/// use foreword::{Candidate, Decision, allocate};
///
/// let optional = Candidate { optional: true, keep: 10, full: 100, minimal: Some(60) };
/// assert_eq!(allocate(&[optional], 50).decisions, [Decision::Omit { needs: 60, left: 50 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It stands in the prompt in this form.
    Include(Detail),
    /// It was left out: its smallest form needs `needs` tokens and `left` were left.
    Omit {
        /// Tokens of its smallest form.
        needs: u32,
        /// Tokens that were left.
        left: u32,
    },
}

/// The decisions, in the order of the candidates, and the tokens they add up to.
///
/// ```
/// use foreword::{Candidate, allocate};
///
/// let required = Candidate { optional: false, keep: 90, full: 100, minimal: Some(20) };
/// let allocation = allocate(&[required], 50);
/// assert_eq!((allocation.used, allocation.over_budget), (20, false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// One for each candidate.
    pub decisions: Vec<Decision>,
    /// Their sum.
    pub used: i64,
    /// The required ones alone exceed what is available, even in their short forms.
    pub over_budget: bool,
}

/// Divides `available` tokens:
/// 1. required candidates go in full; while they do not fit, the one with the least `keep` shrinks;
/// 2. optional ones get their smallest form, most `keep` first, as long as they fit;
/// 3. then they grow to full in the same order, as long as they fit.
///
/// Optional candidates never shrink required ones.
pub fn allocate(candidates: &[Candidate], available: i64) -> Allocation {
    let mut order: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    order.sort_by_key(|(index, c)| (std::cmp::Reverse(c.keep), *index));

    let mut decisions = vec![Decision::Omit { needs: 0, left: 0 }; candidates.len()];
    let mut decide = |index: usize, decision: Decision| {
        if let Some(slot) = decisions.get_mut(index) {
            *slot = decision;
        }
    };

    let mut used: i64 = 0;
    for (index, c) in order.iter().filter(|(_, c)| !c.optional) {
        used += i64::from(c.full);
        decide(*index, Decision::Include(Detail::Full));
    }
    for (index, c) in order.iter().rev().filter(|(_, c)| !c.optional) {
        if used <= available {
            break;
        }
        if let Some(minimal) = c.minimal.filter(|minimal| *minimal < c.full) {
            used -= i64::from(c.full) - i64::from(minimal);
            decide(*index, Decision::Include(Detail::Minimal));
        }
    }
    let over_budget = used > available;

    let mut upgradable = Vec::new();
    for (index, c) in order.iter().filter(|(_, c)| c.optional) {
        let needs = c.minimal.map_or(c.full, |minimal| minimal.min(c.full));
        if used + i64::from(needs) > available {
            let left = u32::try_from(available - used).unwrap_or(0);
            decide(*index, Decision::Omit { needs, left });
            continue;
        }
        used += i64::from(needs);
        if needs == c.full {
            decide(*index, Decision::Include(Detail::Full));
        } else {
            decide(*index, Decision::Include(Detail::Minimal));
            upgradable.push((*index, i64::from(c.full) - i64::from(needs)));
        }
    }
    for (index, more) in upgradable {
        if used + more <= available {
            used += more;
            decide(index, Decision::Include(Detail::Full));
        }
    }
    Allocation { decisions, used, over_budget }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Detail::{Full, Minimal};

    fn required(full: u32, minimal: Option<u32>, keep: u8) -> Candidate {
        Candidate { optional: false, keep, full, minimal }
    }

    fn optional(full: u32, minimal: Option<u32>, keep: u8) -> Candidate {
        Candidate { optional: true, keep, full, minimal }
    }

    fn details(candidates: &[Candidate], available: i64) -> Vec<Option<Detail>> {
        allocate(candidates, available)
            .decisions
            .into_iter()
            .map(|d| match d {
                Decision::Include(detail) => Some(detail),
                Decision::Omit { .. } => None,
            })
            .collect()
    }

    #[test]
    fn required_shrink_least_keep_first_and_only_as_far_as_needed() {
        let c = [required(100, Some(20), 90), required(100, Some(10), 50), required(100, None, 10)];
        assert_eq!(details(&c, 300), [Some(Full); 3]);
        assert_eq!(details(&c, 210), [Some(Full), Some(Minimal), Some(Full)]);
        assert_eq!(details(&c, 209), [Some(Minimal), Some(Minimal), Some(Full)]);
        assert!(allocate(&c, 129).over_budget);
        assert_eq!(details(&c, -5), [Some(Minimal), Some(Minimal), Some(Full)]);
    }

    #[test]
    fn optional_get_minimal_first_then_grow_in_keep_order() {
        let c = [optional(100, Some(10), 10), optional(100, Some(10), 90), optional(50, None, 50)];
        assert_eq!(details(&c, 70), [Some(Minimal), Some(Minimal), Some(Full)]);
        assert_eq!(details(&c, 160), [Some(Minimal), Some(Full), Some(Full)]);
        assert_eq!(details(&c, 250), [Some(Full); 3]);
        assert_eq!(details(&c, 25), [Some(Minimal), Some(Minimal), None]);
        assert_eq!(allocate(&c, 25).decisions[2], Decision::Omit { needs: 50, left: 15 });
    }

    #[test]
    fn optional_never_shrink_required() {
        let c = [required(100, Some(1), 0), optional(10, None, 100)];
        assert_eq!(details(&c, 100), [Some(Full), None]);
    }
}
