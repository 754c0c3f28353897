//! Entries that do not follow from the one before, and what can be said about them.

use std::collections::BTreeSet;

use crate::audit::chain::{Fields, Hash, Linker};
use crate::audit::verification::{Fault, MAX_FAULTS};

/// The most broken links that are explained one by one.
const MAX_EXPLAINED: usize = 32;
/// A text longer than any that is written is not kept for looking at.
const MAX_TEXT: usize = 64 * 1024;

/// An entry that does not follow from the one before.
#[derive(Debug)]
pub(crate) struct BrokenLink {
    seq: i64,
    at: i64,
    texts: [Vec<u8>; 5],
    stored: Hash,
    previous: [Option<Hash>; 2],
}

impl BrokenLink {
    pub(crate) fn new(
        fields: &Fields<'_>,
        stored: Option<Hash>,
        previous: [Option<Hash>; 2],
    ) -> Self {
        Self {
            seq: fields.seq,
            at: fields.at,
            texts: fields.texts.map(|text| text.iter().copied().take(MAX_TEXT).collect()),
            stored: stored.unwrap_or(Hash([0; 32])),
            previous,
        }
    }

    /// Whether this is what was written as entry `seq` after one with a hash among `known`.
    fn is_entry(&self, seq: i64, known: &BTreeSet<Hash>, linker: &mut Linker<'_>) -> bool {
        let fields = Fields { seq, at: self.at, texts: self.texts.each_ref().map(Vec::as_slice) };
        known.iter().any(|previous| linker.link(previous, &fields) == self.stored)
    }
}

/// The broken of a walk, in order; their number is not bounded, what is kept of them is.
#[derive(Debug, Default)]
pub(crate) struct BrokenLinks {
    looked_at: Vec<BrokenLink>,
    /// Runs of broken: first and last.
    runs: Vec<(i64, i64)>,
    /// Runs that were not kept.
    beyond: Option<(i64, i64)>,
    total: usize,
}

impl BrokenLinks {
    pub(crate) fn add(&mut self, link: BrokenLink) {
        self.add_unreadable(link.seq);
        if self.looked_at.len() < MAX_EXPLAINED {
            self.looked_at.push(link);
        }
    }

    /// A link with a value of the wrong type, about which nothing more can be said.
    pub(crate) fn add_unreadable(&mut self, seq: i64) {
        self.total += 1;
        if let Some((_, last)) = self.runs.last_mut()
            && last.checked_add(1) == Some(seq)
        {
            *last = seq;
        } else if self.runs.len() < MAX_FAULTS {
            self.runs.push((seq, seq));
        } else {
            let (first, _) = self.beyond.unwrap_or((seq, seq));
            self.beyond = Some((first, seq));
        }
    }

    /// The faults behind the broken: entries that changed places are told from altered ones, and
    /// entries that are intact behind such a one are left out.
    pub(crate) fn explain(self, linker: &mut Linker<'_>) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut innocent = BTreeSet::new();
        if self.total <= MAX_EXPLAINED {
            let known: BTreeSet<Hash> = self
                .looked_at
                .iter()
                .flat_map(|link| link.previous.into_iter().flatten().chain([link.stored]))
                .collect();
            for link in &self.looked_at {
                let home = self
                    .looked_at
                    .iter()
                    .filter(|other| other.seq != link.seq)
                    .find(|other| link.is_entry(other.seq, &known, linker));
                if let Some(home) = home {
                    faults.push(Fault::Moved { from: home.seq, to: link.seq });
                    innocent.insert(link.seq);
                }
            }
            for link in &self.looked_at {
                // Something must be left that explains it.
                if innocent.len() < self.total.saturating_sub(usize::from(faults.is_empty()))
                    && !innocent.contains(&link.seq)
                    && link.is_entry(link.seq, &known, linker)
                {
                    innocent.insert(link.seq);
                }
            }
        }
        for (first, last) in self.runs.into_iter().chain(self.beyond) {
            altered(first, last, &innocent, &mut faults);
        }
        faults
    }
}

/// Adds the runs of entries between two that are not innocent.
fn altered(first: i64, last: i64, innocent: &BTreeSet<i64>, faults: &mut Vec<Fault>) {
    let mut from = first;
    for &seq in innocent.range(first..=last) {
        if from < seq {
            faults.push(Fault::Altered { from, to: seq - 1 });
        }
        from = seq.saturating_add(1);
    }
    if from <= last {
        faults.push(Fault::Altered { from, to: last });
    }
}
