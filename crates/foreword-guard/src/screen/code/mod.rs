//! What the code of a skill does: parsed, not matched.
//!
//! `language` parses with tree-sitter; `lower` turns each language into one small form (`ir`);
//! `machine` follows values through it, with `calls` and `commands` for what functions and programs
//! do, across all files of a skill; `judge` weighs what comes out, in one place for all languages;
//! `capabilities` says it for people. Nothing is run, and no text is ever written to a file.

mod calls;
pub(crate) mod capabilities;
mod commands;
mod effect;
mod ir;
mod judge;
pub(crate) mod language;
mod lower;
mod machine;
mod manifests;
mod places;
mod settings;
#[cfg(test)]
mod tests;
mod text;
mod value;

pub(crate) use judge::Judgement;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, Scope};

use capabilities::Capabilities;
use effect::Effect;
use ir::Stmt;
use judge::Addresses;
pub(crate) use judge::Documents;
use language::{Language, Parsers};
use machine::Program;
pub(crate) use machine::ProgramKind;

use crate::screen::verdict::Verdict;

/// Below this much text a second thread costs more than it brings.
const FEW_BYTES: usize = 24 * 1024;
const MAX_THREADS: usize = 4;
/// Larger programs are looked at in part.
const MAX_PROGRAM: usize = 512 * 1024;
/// Data files whose texts are known to programs: how many, and how long each may be.
const MAX_ASSETS: usize = 64;
const MAX_ASSET: usize = 16 * 1024;
/// Programs of one skill that are looked at, fences included.
const MAX_PROGRAMS: usize = 400;

/// The programs of one skill.
#[derive(Debug, Default)]
pub(crate) struct Code {
    programs: Vec<Program>,
    /// The text of each program.
    texts: Vec<String>,
    /// Where each program stands: the index of its file, and whether it runs on its own.
    places: Vec<(usize, Option<String>)>,
    /// The texts of files that programs may read, by name.
    assets: HashMap<String, String>,
    /// Programs that were left out.
    pub(crate) left_out: usize,
}

/// What was found in one file of a skill.
pub(crate) struct Found {
    pub(crate) file: usize,
    pub(crate) judgement: Judgement,
}

impl Code {
    /// Adds a program, or a piece of one that stands `lines_above` lines down its file.
    pub(crate) fn add(
        &mut self,
        file: usize,
        path: &str,
        language: Language,
        text: &str,
        (kind, lines_above): (ProgramKind, u32),
        trigger: Option<String>,
    ) {
        if self.programs.len() >= MAX_PROGRAMS {
            self.left_out += 1;
            return;
        }
        let mut end = text.len().min(MAX_PROGRAM);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default().trim_start_matches('\u{feff}');
        self.programs.push(Program { path: path.to_owned(), language, kind, lines_above });
        self.texts.push(text.to_owned());
        self.places.push((file, trigger));
    }

    /// Adds the code that stands in a file which is no program, and what programs may read of it; whether
    /// there is any code.
    pub(crate) fn add_embedded(&mut self, file: usize, path: &str, text: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if text.len() <= MAX_ASSET && self.assets.len() < MAX_ASSETS {
            self.assets.entry(name.to_owned()).or_insert_with(|| text.to_owned());
        }
        let pieces = manifests::embedded(path, text);
        self.left_out += pieces.left_out;
        let any = !pieces.kept.is_empty();
        for piece in pieces.kept {
            let above = piece.line.saturating_sub(1);
            let kind = if piece.hears { ProgramKind::Hook } else { ProgramKind::Embedded };
            let place = (kind, above);
            self.add(file, path, piece.language, &piece.code, place, piece.trigger);
        }
        any
    }

    /// What the programs can do, and what is wrong with it.
    ///
    /// `read` reads the documents of the skill while other threads parse.
    pub(crate) fn judge(&self, read: impl FnOnce() -> Documents) -> (Vec<Found>, Capabilities) {
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (documents, effects) = self.effects(scope, &next, read);
            self.weigh(&documents, &effects)
        })
    }

    fn weigh(&self, documents: &Documents, effects: &[Effect]) -> (Vec<Found>, Capabilities) {
        let addresses = Addresses::default();
        let mut capabilities = Capabilities::default();
        for effect in effects {
            capabilities.add(effect, &addresses);
        }
        for (_, trigger) in &self.places {
            if let Some(trigger) = trigger {
                capabilities.starts.insert(trigger.clone());
            }
        }
        let swappers: Vec<usize> = effects
            .iter()
            .filter(|effect| matches!(effect.act, effect::Act::Clip | effect::Act::Payee))
            .map(|effect| effect.file)
            .filter(|file| self.texts.get(*file).is_some_and(|t| judge::seeks_payment_addresses(t)))
            .collect();
        let found = judge::judge(effects, &self.programs, documents, &addresses, &swappers);
        let accepted = self.texts.iter().enumerate().filter(|(program, _)| {
            self.programs.get(*program).is_some_and(|p| p.kind == ProgramKind::File)
        });
        let accepted = accepted.filter_map(|(program, text)| {
            Some(Judgement {
                rule: "fixed-password",
                verdict: Verdict::NeedsReview,
                program,
                line: judge::accepted_constant(text)?,
                message: "Accepts a password that stands in the program.".into(),
            })
        });
        let found = found.into_iter().chain(accepted).map(|mut j| {
            let above = self.programs.get(j.program).map_or(0, |program| program.lines_above);
            j.line = j.line.saturating_add(above);
            let file = self.places.get(j.program).map_or(0, |(file, _)| *file);
            Found { file, judgement: j }
        });
        (found.collect(), capabilities)
    }

    /// Follows the programs while they are parsed, by several threads if there is much to parse.
    fn effects<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        next: &'s AtomicUsize,
        read: impl FnOnce() -> Documents,
    ) -> (Documents, Vec<Effect>) {
        let bytes: usize = self.texts.iter().map(String::len).sum();
        let threads = if bytes < FEW_BYTES {
            1
        } else {
            thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
        };
        let parse_next = move |parsers: &mut Parsers| {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (program, text) = (self.programs.get(at)?, self.texts.get(at)?);
            Some((at, lower::lower(parsers, program.language, text)))
        };
        let (sender, parsed) = mpsc::channel();
        for _ in 1..threads {
            let sender = sender.clone();
            scope.spawn(move || {
                let mut parsers = Parsers::default();
                while let Some(body) = parse_next(&mut parsers) {
                    if sender.send(body).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let documents = read();
        let mut parsers = Parsers::default();
        let mut bodies: Vec<Option<Arc<Vec<Stmt>>>> = vec![None; self.programs.len()];
        let body = |wanted: usize| {
            loop {
                if let Some(Some(body)) = bodies.get(wanted) {
                    return Arc::clone(body);
                }
                let waiting = parsed.try_recv().ok();
                let ready = waiting.or_else(|| parse_next(&mut parsers));
                // All are taken: another thread is at it, unless it failed.
                let Some((at, body)) = ready.or_else(|| parsed.recv().ok()) else {
                    return Arc::default();
                };
                if let Some(place) = bodies.get_mut(at) {
                    *place = Some(Arc::new(body));
                }
            }
        };
        let effects = machine::effects(&self.programs, &self.assets, body);
        if threads > 1 {
            // Taking large programs apart takes time; what they do can be weighed meanwhile.
            scope.spawn(move || drop(bodies));
        }
        (documents, effects)
    }

    /// The pieces that run on their own, each with its file and line.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = (usize, u32, &str)> {
        let all = self.programs.iter().zip(&self.places);
        all.filter_map(|(program, (file, trigger))| {
            Some((*file, program.lines_above + 1, trigger.as_deref()?))
        })
    }
}
