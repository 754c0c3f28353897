//! Hits that say different things: maximal marginal relevance.

/// So similar are two texts that say the same.
pub(crate) const SAME: f32 = 0.96;

/// Chooses among candidates, given as scores in falling order: each next one is the best that is not
/// too similar to those chosen. Gives the places of the chosen in the order of the scores, and how
/// many were passed over because they say the same as one of them.
pub(crate) fn choose(
    scores: &[f32],
    limit: usize,
    diversity: f32,
    similarity: impl Fn(usize, usize) -> f32,
) -> (Vec<usize>, usize) {
    let diversity = if diversity.is_finite() { diversity.clamp(0.0, 1.0) } else { 0.0 };
    if diversity == 0.0 {
        return ((0..scores.len().min(limit)).collect(), 0);
    }
    let mut chosen: Vec<usize> = Vec::new();
    // The greatest similarity to one that was chosen, of each.
    let mut nearest = vec![0.0_f32; scores.len()];
    let mut open = vec![true; scores.len()];
    let mut repeated = 0;
    while chosen.len() < limit {
        let mut best: Option<(f32, usize)> = None;
        for (place, ((score, near), open)) in scores.iter().zip(&nearest).zip(&open).enumerate() {
            let value = (1.0 - diversity) * score - diversity * near;
            // Of equal ones the first, which has the better score.
            if *open && best.is_none_or(|(most, _)| value > most) {
                best = Some((value, place));
            }
        }
        let Some((_, place)) = best else { break };
        if let Some(open) = open.get_mut(place) {
            *open = false;
        }
        chosen.push(place);
        for (other, (near, open)) in nearest.iter_mut().zip(&mut open).enumerate() {
            if *open {
                *near = near.max(similarity(place, other));
                if *near >= SAME {
                    *open = false;
                    repeated += 1;
                }
            }
        }
    }
    chosen.sort_unstable();
    (chosen, repeated)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_near_duplicate_leaves_its_place_to_another() {
        let alike = |a: usize, b: usize| if a.max(b) < 2 { 0.9 } else { 0.1 };
        assert_eq!(choose(&[0.9, 0.89, 0.8], 2, 0.3, alike).0, [0, 2]);
        assert_eq!(choose(&[0.9, 0.89, 0.8], 2, 0.0, alike).0, [0, 1]);
        assert_eq!(choose(&[0.9, 0.8], 3, 0.3, |_, _| 1.0), (vec![0], 1));
        assert_eq!(choose(&[], 3, 0.3, |_, _| 1.0), (vec![], 0));
    }

    proptest! {
        #[test]
        fn no_two_of_the_chosen_say_the_same(
            mut scores in prop::collection::vec(0.0_f32..1.0, 0..20),
            groups in prop::collection::vec(0_usize..5, 20),
            limit in 0_usize..10,
            diversity in 0.01_f32..1.0,
        ) {
            scores.sort_by(|a, b| b.total_cmp(a));
            let alike = |a: usize, b: usize| if groups[a] == groups[b] { 1.0 } else { 0.2 };
            let (chosen, _) = choose(&scores, limit, diversity, alike);
            prop_assert!(chosen.len() <= limit);
            let mut seen: Vec<usize> = chosen.iter().map(|place| groups[*place]).collect();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), chosen.len());
            prop_assert_eq!(choose(&scores, limit, diversity, alike).0, chosen);
        }
    }
}
