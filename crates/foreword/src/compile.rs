//! The compiler: a Context and a Blueprint in, a Prompt out. No I/O, no clock, no environment.

pub(crate) mod budget;
pub(crate) mod cut;
pub(crate) mod manifest;
pub(crate) mod module;
pub(crate) mod payload;
pub(crate) mod prompt;
pub(crate) mod section;
pub(crate) mod template;
pub(crate) mod titles;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::blueprints::blueprint::{Blueprint, Bootstrap, Slot};
use crate::compile::budget::{Allocation, Candidate, Decision, allocate};
use crate::compile::manifest::{Filtered, OmissionCause, Omitted};
use crate::compile::prompt::{Built, Figures, Prompt};
use crate::compile::section::{Section, Sink, Span};
use crate::context::field::Field;
use crate::context::{Context, HistoryOmitted};
use crate::fence::authority::{Authority, Detail};
use crate::tokens::TokenCounter;

const SEPARATOR: &str = "\n\n";

/// A section that was written: which module, where in its sink, what it costs.
struct Draft {
    slot: usize,
    authority: Authority,
    start: usize,
    end: usize,
    spans: (usize, usize),
    notes: (usize, usize),
    tokens: u32,
}

/// What became of a module that was divided.
enum Part {
    /// Some of it has its place.
    Written(Draft),
    /// None of it has; this is what it had to say about that.
    Notes(Vec<Filtered>),
}

impl Blueprint {
    /// Compiles a Context with the built-in estimate.
    pub fn build(&self, context: &Context) -> Prompt {
        self.compile(context, None)
    }

    /// Compiles a Context, counting with an exact counter.
    pub fn build_counted(&self, context: &Context, counter: &dyn TokenCounter) -> Prompt {
        self.compile(context, Some(counter))
    }

    fn compile(&self, context: &Context, counter: Option<&dyn TokenCounter>) -> Prompt {
        let available = context.available_tokens();
        let mut omitted = Vec::new();
        let mut inactive = Vec::new();
        let mut drafts = Vec::with_capacity(self.slots.len());
        let mut sink = Sink::with_capacity(8 * 1024);
        let bootstrap_alone = self.bootstrap == Bootstrap::Alone && context.is_bootstrap();

        for (index, slot) in self.slots.iter().enumerate() {
            if !slot.module.should_include(context) {
                inactive.push(index);
                continue;
            }
            if let Some((cause, reason)) = slot.refusal(context, bootstrap_alone) {
                omitted.push(Omitted { module: slot.name.clone(), reason, cause });
                continue;
            }
            // An optional section longer than all there is can only be left out: no need to write it.
            sink.limit = match counter {
                None if slot.spec.optional => {
                    Some(u32::try_from(available.max(0)).unwrap_or(u32::MAX))
                }
                _ => None,
            };
            match self.draft(&mut sink, index, counter, |section| {
                slot.module.render(context, section);
                true
            }) {
                Some(draft) => drafts.push(draft),
                None => inactive.push(index),
            }
        }

        let total: i64 = drafts.iter().map(|draft| i64::from(draft.tokens) + 1).sum::<i64>() - 1;
        let mut over_budget = false;
        let sections = if total <= available || drafts.is_empty() {
            drafts
                .into_iter()
                .map(|draft| Built {
                    slot: draft.slot,
                    authority: draft.authority,
                    detail: Detail::Full,
                    tokens: draft.tokens,
                    start: draft.start,
                    end: draft.end,
                })
                .collect()
        } else {
            let (tight, over) = self.fit(context, counter, &sink, &drafts, available, &mut omitted);
            over_budget = over;
            sink = tight.0;
            tight.1
        };
        self.finish(context, counter, sink, sections, omitted, inactive, over_budget)
    }

    /// Divides a budget that is too small for everything, and writes what fits.
    fn fit(
        &self,
        context: &Context,
        counter: Option<&dyn TokenCounter>,
        full: &Sink,
        drafts: &[Draft],
        available: i64,
        omitted: &mut Vec<Omitted>,
    ) -> ((Sink, Vec<Built>), bool) {
        let mut short = Sink::default();
        let mut minimal: Vec<Option<Draft>> = Vec::with_capacity(drafts.len());
        let mut candidates = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let Some(slot) = self.slots.get(draft.slot) else { continue };
            short.limit = None;
            let shorter = self
                .draft(&mut short, draft.slot, counter, |section| {
                    slot.module.render_minimal(context, section)
                })
                .filter(|shorter| shorter.tokens < draft.tokens);
            candidates.push(Candidate {
                optional: slot.spec.optional,
                keep: slot.spec.keep,
                full: draft.tokens.saturating_add(1),
                minimal: shorter.as_ref().map(|shorter| shorter.tokens.saturating_add(1)),
            });
            minimal.push(shorter);
        }
        // Each section pays for the blank line in front of it; the first one has none.
        let allocation = allocate(&candidates, available.saturating_add(1));

        let parts =
            self.divide(context, counter, &mut short, drafts, &candidates, &allocation, available);

        let mut out = Sink::with_capacity(full.text.len().min(64 * 1024));
        let mut sections = Vec::new();
        let mut noted = 0;
        for draft in drafts {
            // What sections that came out empty had to say.
            out.notes.extend_from_slice(full.notes.get(noted..draft.notes.0).unwrap_or_default());
            noted = draft.notes.1;
        }
        out.notes.extend_from_slice(full.notes.get(noted..).unwrap_or_default());
        for (index, (draft, decision)) in drafts.iter().zip(&allocation.decisions).enumerate() {
            let shorter = minimal.get(index).and_then(Option::as_ref);
            if let Some(Part::Written(part)) = parts.get(&index) {
                sections.push(copy_section(&mut out, &short, part, Detail::Minimal));
                continue;
            }
            if let Some(Part::Notes(notes)) = parts.get(&index) {
                out.notes.extend_from_slice(notes);
            }
            let (source, chosen, detail) = match (decision, shorter) {
                (Decision::Include(Detail::Minimal), Some(shorter)) => {
                    (&short, shorter, Detail::Minimal)
                }
                (Decision::Include(_), _) => (full, draft, Detail::Full),
                (Decision::Omit { needs, left }, _) => {
                    let module = self
                        .slots
                        .get(draft.slot)
                        .map_or_else(String::new, |slot| slot.name.clone());
                    let needs = needs.saturating_sub(1);
                    let reason = format!("over budget: {needs} tokens, {left} left");
                    omitted.push(Omitted { module, reason, cause: OmissionCause::Budget });
                    continue;
                }
            };
            sections.push(copy_section(&mut out, source, chosen, detail));
        }
        ((out, sections), allocation.over_budget)
    }

    /// Gives what an allocation leaves over to modules that were left out and can be divided, most
    /// `keep` first.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step of `fit`")]
    fn divide(
        &self,
        context: &Context,
        counter: Option<&dyn TokenCounter>,
        short: &mut Sink,
        drafts: &[Draft],
        candidates: &[Candidate],
        allocation: &Allocation,
        available: i64,
    ) -> BTreeMap<usize, Part> {
        let mut left = available - (allocation.used - 1);
        let mut order: Vec<usize> = (0..drafts.len())
            .filter(|index| matches!(allocation.decisions.get(*index), Some(Decision::Omit { .. })))
            .collect();
        order.sort_by_key(|index| {
            std::cmp::Reverse(candidates.get(*index).map_or(0, |candidate| candidate.keep))
        });
        let mut parts = BTreeMap::new();
        for index in order {
            let Some(draft) = drafts.get(index) else { continue };
            let Some(slot) = self.slots.get(draft.slot) else { continue };
            // The blank line in front of a section has its price.
            short.limit = Some(u32::try_from(left - 1).unwrap_or(0));
            let notes = short.notes.len();
            let part = self
                .draft(short, draft.slot, counter, |section| {
                    slot.module.render_within(context, section)
                })
                .filter(|part| i64::from(part.tokens) < left);
            match part {
                Some(part) => {
                    left -= i64::from(part.tokens) + 1;
                    parts.insert(index, Part::Written(part));
                }
                None => {
                    let noted = short.notes.get(notes..).unwrap_or_default().to_vec();
                    parts.insert(index, Part::Notes(noted));
                }
            }
        }
        parts
    }

    /// Writes one section; nothing if it comes out empty.
    fn draft(
        &self,
        sink: &mut Sink,
        slot: usize,
        counter: Option<&dyn TokenCounter>,
        render: impl FnOnce(&mut Section<'_>) -> bool,
    ) -> Option<Draft> {
        let before = sink.text.len();
        let (spans, notes) = (sink.spans.len(), sink.notes.len());
        if before > 0 {
            sink.text.push_str(SEPARATOR);
        }
        let start = sink.text.len();
        let written = render(&mut Section::new(sink, &self.titles));
        let end = sink.text.len();
        if !written || end == start {
            sink.text.truncate(before);
            sink.spans.truncate(spans);
            return None;
        }
        let tokens = match counter {
            Some(counter) => counter.count(sink.text.get(start..end).unwrap_or_default()),
            None => sink.tokens(),
        };
        let own = self.slots.get(slot).map_or(Authority::Reference, |slot| slot.spec.authority);
        Some(Draft {
            slot,
            authority: sink.lowered.unwrap_or(own).max(own),
            start,
            end,
            spans: (spans, sink.spans.len()),
            notes: (notes, sink.notes.len()),
            tokens,
        })
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a prompt, gathered once")]
    fn finish(
        &self,
        context: &Context,
        counter: Option<&dyn TokenCounter>,
        mut sink: Sink,
        sections: Vec<Built>,
        omitted: Vec<Omitted>,
        inactive: Vec<usize>,
        over_budget: bool,
    ) -> Prompt {
        let in_system = |built: &&Built| {
            !self.turn_apart || !self.slots.get(built.slot).is_some_and(Slot::is_turn)
        };
        let system_end = sections.iter().rfind(in_system).map_or(0, |built| built.end);
        let turn_start = sections
            .iter()
            .find(|built| !in_system(built))
            .map_or(sink.text.len(), |built| built.start);
        let stable_end = sections
            .iter()
            .take_while(|built| {
                self.slots.get(built.slot).is_some_and(|s| {
                    s.spec.volatility == crate::fence::authority::Volatility::Stable
                })
            })
            .last()
            .map_or(0, |built| built.end);
        let estimated_tokens = match counter {
            Some(counter) => counter.count(&sink.text),
            None => {
                let joins = u32::try_from(sections.len().saturating_sub(1)).unwrap_or(0);
                sections.iter().fold(joins, |sum, built| sum.saturating_add(built.tokens))
            }
        };
        for field in self.unread.iter().filter(|field| field.is_given(context)) {
            sink.notes.push(Filtered {
                kind: "context".to_owned(),
                id: field.as_str().to_owned(),
                reason: match field {
                    Field::Task => {
                        format!("blueprint `{}` leaves it to the user's message", self.name())
                    }
                    _ => format!("blueprint `{}` has no section for it", self.name()),
                },
            });
        }
        if let Some(omitted) = context.history_omitted.filter(|omitted| omitted.turns > 0) {
            let HistoryOmitted { turns, tokens } = omitted;
            let oldest = if turns == 1 { "turn".to_owned() } else { format!("{turns} turns") };
            sink.notes.push(Filtered {
                kind: "history".to_owned(),
                id: format!("oldest {oldest}"),
                reason: format!("no room in the window: {tokens} tokens"),
            });
        }
        sink.notes.extend(context.left_out.iter().cloned());
        let selection = context.selection.clone();
        sink.notes.extend(selection.iter().flat_map(|selection| &selection.filtered).cloned());
        // A value that stands in several places is noted once.
        let mut seen = std::collections::HashSet::new();
        let mut filtered = sink.notes;
        if filtered.len() > 1 {
            filtered.retain(|note| seen.insert(note.clone()));
        }
        Prompt {
            text: sink.text,
            spans: sink.spans,
            sections,
            slots: self.slots.clone(),
            omitted,
            inactive,
            filtered,
            selection,
            skills: Arc::clone(&context.skills),
            system_end,
            turn_start,
            stable_end,
            figures: Figures::new(context, estimated_tokens, over_budget),
        }
    }
}

impl Slot {
    /// Why a module that has something to say does not take part.
    fn refusal(&self, context: &Context, bootstrap_alone: bool) -> Option<(OmissionCause, String)> {
        if bootstrap_alone && !self.module.survives_bootstrap() {
            return Some((OmissionCause::Bootstrap, "bootstrap mode".to_owned()));
        }
        let reason = self.when.as_ref()?.refusal(context)?;
        Some((OmissionCause::Condition, reason))
    }
}

/// Copies a section with what was noted about it into another sink.
fn copy_section(out: &mut Sink, source: &Sink, draft: &Draft, detail: Detail) -> Built {
    if !out.text.is_empty() {
        out.text.push_str(SEPARATOR);
    }
    let start = out.text.len();
    out.text.push_str(source.text.get(draft.start..draft.end).unwrap_or_default());
    for span in source.spans.get(draft.spans.0..draft.spans.1).unwrap_or_default() {
        out.spans.push(Span {
            start: start + (span.start - draft.start),
            end: start + (span.end - draft.start),
            origin: span.origin.clone(),
            added_lines: span.added_lines,
        });
    }
    out.notes.extend_from_slice(source.notes.get(draft.notes.0..draft.notes.1).unwrap_or_default());
    Built {
        slot: draft.slot,
        authority: draft.authority,
        detail,
        tokens: draft.tokens,
        start,
        end: out.text.len(),
    }
}
