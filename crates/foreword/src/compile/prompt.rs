//! A compiled prompt and the account of how it came to be.

use std::sync::Arc;

use crate::blueprints::blueprint::Slot;
use crate::compile::manifest::{
    Filtered, Manifest, Metadata, OmissionCause, Omitted, SectionEntry, SectionSource, SkillEntry,
};
use crate::compile::section::{Origin, Span};
use crate::context::Context;
use crate::context::items::Skill;
use crate::context::selection::Selection;
use crate::fence::authority::{Authority, Detail, Volatility};
use crate::fence::text::Line;

/// A section in the finished text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Built {
    pub(crate) slot: usize,
    pub(crate) authority: Authority,
    pub(crate) detail: Detail,
    pub(crate) tokens: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The figures that do not depend on the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    context_window: u64,
    history_tokens: u64,
    reserved_tokens: u64,
    output_reserve: u64,
    estimated_tokens: u32,
    over_budget: bool,
}

impl Figures {
    pub(crate) fn new(context: &Context, estimated_tokens: u32, over_budget: bool) -> Self {
        Self {
            context_window: context.context_window,
            history_tokens: context.history_tokens,
            reserved_tokens: context.reserved_tokens,
            output_reserve: context.output_reserve,
            estimated_tokens,
            over_budget,
        }
    }

    /// The share of the window that history, reserves for tools and prompt leave, to a tenth.
    #[expect(clippy::cast_precision_loss, reason = "a percentage needs no more than 52 bits")]
    fn percent_remaining(&self) -> f64 {
        let used = self
            .history_tokens
            .saturating_add(self.reserved_tokens)
            .saturating_add(u64::from(self.estimated_tokens));
        let left =
            self.context_window.saturating_sub(used) as f64 / self.context_window.max(1) as f64;
        (left * 1000.0).round() / 10.0
    }
}

/// A skill in the manifest, where it is known how it came to be here.
fn skill_entry(skill: &Skill) -> Option<SkillEntry<'_>> {
    Some(SkillEntry {
        name: skill.name.inspect(),
        path: skill.path.as_ref().map(Line::inspect),
        approval: skill.provenance.as_ref()?.as_str(),
    })
}

/// A compiled prompt.
///
/// ```
/// use foreword::{Blueprint, Context};
///
/// let context = Context::from_json(r#"{"now": "2026-02-26T14:30:00Z"}"#).unwrap();
/// let prompt = Blueprint::builtin("standard").unwrap().build(&context);
/// assert!(prompt.turn_context().contains("2026-02-26 14:30 UTC"));
/// assert!(!prompt.system().contains("2026"), "the system prompt can be cached");
/// ```
#[derive(Clone, Debug)]
pub struct Prompt {
    pub(crate) text: String,
    pub(crate) spans: Vec<Span>,
    pub(crate) sections: Vec<Built>,
    pub(crate) slots: Arc<[Slot]>,
    pub(crate) omitted: Vec<Omitted>,
    pub(crate) inactive: Vec<usize>,
    pub(crate) filtered: Vec<Filtered>,
    pub(crate) selection: Option<Selection>,
    pub(crate) skills: Arc<Vec<Skill>>,
    pub(crate) system_end: usize,
    pub(crate) turn_start: usize,
    pub(crate) stable_end: usize,
    pub(crate) figures: Figures,
}

impl Prompt {
    /// System prompt and turn context as one text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the prompt lacks for want of room, one line each: sections that were left out or are in their
    /// short form, and files, skills and old turns that were cut or left out.
    pub fn shortened(&self) -> Vec<String> {
        let omitted = self.omitted.iter().filter(|omitted| omitted.cause == OmissionCause::Budget);
        let omitted = omitted
            .map(|omitted| format!("section {} left out: {}", omitted.module, omitted.reason));
        let short = self.sections.iter().filter(|section| section.detail == Detail::Minimal);
        let short = short
            .filter_map(|section| self.slots.get(section.slot))
            .map(|slot| format!("section {} shortened: over budget", slot.name));
        let cut = self.filtered.iter().filter(|filtered| filtered.is_for_want_of_room());
        let cut = cut.map(|cut| format!("{} {}: {}", cut.kind, cut.id, cut.reason));
        omitted.chain(short).chain(cut).collect()
    }

    /// The system prompt: the same bytes all through a session.
    pub fn system(&self) -> &str {
        self.text.get(..self.system_end).unwrap_or_default()
    }

    /// What belongs in front of the newest user message; empty where a blueprint does not set it apart.
    pub fn turn_context(&self) -> &str {
        self.text.get(self.turn_start..).unwrap_or_default()
    }

    /// The part of the system prompt that changes only when a file changes, and the rest of it.
    pub fn system_at_cache_boundary(&self) -> (&str, &str) {
        self.system()
            .split_at_checked(self.stable_end.min(self.system_end))
            .unwrap_or(("", self.system()))
    }

    /// Bytes from the start that change only when a file changes.
    pub fn stable_prefix_bytes(&self) -> usize {
        self.stable_end
    }

    /// Tokens of the whole text.
    pub fn tokens(&self) -> u32 {
        self.figures.estimated_tokens
    }

    /// Does it exceed what is available, though everything optional was left out?
    pub fn is_over_budget(&self) -> bool {
        self.figures.over_budget
    }

    /// Digest of the whole text.
    pub fn digest(&self) -> String {
        digest(self.text.as_bytes())
    }

    /// The figures.
    pub fn metadata(&self) -> Metadata<'_> {
        Metadata {
            module_count: self.sections.len(),
            modules: self.sections.iter().map(|built| self.module_name(built.slot)).collect(),
            estimated_tokens: self.figures.estimated_tokens,
            build_time_ms: 0.0,
            tokens_by_module: self
                .sections
                .iter()
                .map(|built| (self.module_name(built.slot), built.tokens))
                .collect(),
            context_window: self.figures.context_window,
            history_tokens: self.figures.history_tokens,
            output_reserve: self.figures.output_reserve,
            percent_remaining: self.figures.percent_remaining(),
            over_budget: self.figures.over_budget,
        }
    }

    /// The whole account, without digests.
    pub fn manifest(&self) -> Manifest<'_> {
        let mut spans = self.spans.as_slice();
        let sections = self
            .sections
            .iter()
            .filter_map(|built| {
                let slot = self.slots.get(built.slot)?;
                let count = spans.iter().take_while(|span| span.end <= built.end).count();
                let (own, rest) = spans.split_at_checked(count)?;
                spans = rest;
                Some(SectionEntry {
                    module: &slot.name,
                    authority: built.authority,
                    volatility: slot.spec.volatility,
                    detail: built.detail,
                    tokens: built.tokens,
                    range: [built.start, built.end],
                    sources: self.sources(built, own),
                })
            })
            .collect();
        Manifest {
            content: &self.text,
            system: self.system(),
            turn_context: self.turn_context(),
            metadata: self.metadata(),
            sections,
            omitted: &self.omitted,
            inactive: self.inactive.iter().map(|slot| self.module_name(*slot)).collect(),
            filtered: &self.filtered,
            selection: self.selection.as_ref(),
            skills: self.skills.iter().filter_map(skill_entry).collect(),
            stable_prefix_bytes: self.stable_end,
            digest: None,
        }
    }

    /// The whole account with the digest of the text and of every source.
    pub fn manifest_with_digests(&self) -> Manifest<'_> {
        let mut manifest = self.manifest();
        for source in manifest.sections.iter_mut().flat_map(|section| &mut section.sources) {
            let [start, end] = source.range;
            source.digest = self.text.as_bytes().get(start..end).map(digest);
        }
        manifest.digest = Some(self.digest());
        manifest
    }

    /// Modules that had content and were left out.
    pub fn omitted(&self) -> &[Omitted] {
        &self.omitted
    }

    /// Items that were left out or changed.
    pub fn filtered(&self) -> &[Filtered] {
        &self.filtered
    }

    /// What was selected for the task, if anything was.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// The text a module wrote, if it stands in the prompt.
    pub fn section(&self, module: &str) -> Option<&str> {
        let built = self.sections.iter().find(|built| self.module_name(built.slot) == module)?;
        self.text.get(built.start..built.end)
    }

    /// Does a section that changes every turn stand above one that does not?
    pub fn has_turn_above_stable(&self) -> bool {
        let volatility = |built: &Built| {
            self.slots.get(built.slot).map_or(Volatility::Stable, |slot| slot.spec.volatility)
        };
        self.sections
            .iter()
            .zip(self.sections.iter().skip(1))
            .any(|(a, b)| volatility(a) > volatility(b))
    }

    fn module_name(&self, slot: usize) -> &str {
        self.slots.get(slot).map_or("", |slot| &slot.name)
    }

    /// The sources of a section; the module itself where it wrote all of it.
    fn sources<'p>(&'p self, built: &Built, own: &'p [Span]) -> Vec<SectionSource<'p>> {
        if !own.is_empty() {
            return own.iter().map(|span| self.source(span)).collect();
        }
        let text = self.text.as_bytes().get(built.start..built.end).unwrap_or_default();
        let more = u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX);
        let (path, lines) = ("context", [1, more.saturating_add(1)]);
        vec![SectionSource { path, lines, range: [built.start, built.end], digest: None }]
    }

    fn source<'p>(&'p self, span: &'p Span) -> SectionSource<'p> {
        let text = self.text.as_bytes().get(span.start..span.end).unwrap_or_default();
        let more = u32::try_from(memchr::memchr_iter(b'\n', text).count()).unwrap_or(u32::MAX);
        let (path, first) = match &span.origin {
            Origin::File(source) => (source.path.as_ref(), source.first_line),
            Origin::Named(name) => (*name, 1),
        };
        let more = more.saturating_sub(span.added_lines);
        SectionSource {
            path,
            lines: [first, first.saturating_add(more)],
            range: [span.start, span.end],
            digest: None,
        }
    }
}

/// `blake3:` and the hash in hex.
pub fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}
