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
mod text;
mod value;

pub(crate) use judge::{Documents, Judgement};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use capabilities::Capabilities;
use language::{Language, Parsers};
use machine::Program;
pub(crate) use machine::ProgramKind;

/// Below this much text a second thread costs more than it brings.
const FEW_BYTES: usize = 24 * 1024;
const MAX_THREADS: usize = 4;
/// Larger programs are looked at in part.
const MAX_PROGRAM: usize = 512 * 1024;
/// Programs of one skill that are looked at, fences included.
const MAX_PROGRAMS: usize = 400;

/// The programs of one skill.
#[derive(Debug, Default)]
pub(crate) struct Code {
    programs: Vec<Program>,
    /// The text of each program that is not parsed yet.
    texts: Vec<String>,
    /// Where each program stands: the index of its file, and whether it runs on its own.
    places: Vec<(usize, Option<String>)>,
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
        let (path, body) = (path.to_owned(), Vec::new());
        self.programs.push(Program { path, language, kind, lines_above, body });
        self.texts.push(text.to_owned());
        self.places.push((file, trigger));
    }

    /// Adds the code that stands in a file which is no program.
    pub(crate) fn add_embedded(&mut self, file: usize, path: &str, text: &str) {
        for piece in manifests::embedded(path, text) {
            let above = piece.line.saturating_sub(1);
            let place = (ProgramKind::Embedded, above);
            self.add(file, path, piece.language, &piece.code, place, piece.trigger);
        }
    }

    /// What the programs can do, and what is wrong with it.
    pub(crate) fn judge(&mut self, documents: &Documents<'_>) -> (Vec<Found>, Capabilities) {
        self.parse();
        let effects = machine::effects(&self.programs);
        let mut capabilities = Capabilities::default();
        for effect in &effects {
            capabilities.add(effect);
        }
        for (_, trigger) in &self.places {
            if let Some(trigger) = trigger {
                capabilities.starts.insert(trigger.clone());
            }
        }
        let found = judge::judge(&effects, &self.programs, documents).into_iter().map(|mut j| {
            let above = self.programs.get(j.program).map_or(0, |program| program.lines_above);
            j.line = j.line.saturating_add(above);
            let file = self.places.get(j.program).map_or(0, |(file, _)| *file);
            Found { file, judgement: j }
        });
        (found.collect(), capabilities)
    }

    /// Parses all programs, by several threads if there is much to parse.
    fn parse(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        let bytes: usize = texts.iter().map(String::len).sum();
        let threads = if bytes < FEW_BYTES {
            1
        } else {
            thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
        };
        let next = AtomicUsize::new(0);
        let programs = &self.programs;
        let work = || {
            let (mut done, mut parsers) = (Vec::new(), Parsers::default());
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let (Some(program), Some(text)) = (programs.get(at), texts.get(at)) else {
                    return done;
                };
                done.push((at, lower::lower(&mut parsers, program.language, text)));
            }
        };
        let bodies = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut bodies = work();
            for other in others {
                match other.join() {
                    Ok(more) => bodies.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            bodies
        });
        for (at, body) in bodies {
            if let Some(program) = self.programs.get_mut(at) {
                program.body = body;
            }
        }
    }

    /// The pieces that run on their own, each with its file and line.
    pub(crate) fn triggers(&self) -> impl Iterator<Item = (usize, u32, &str)> {
        let all = self.programs.iter().zip(&self.places);
        all.filter_map(|(program, (file, trigger))| {
            Some((*file, program.lines_above + 1, trigger.as_deref()?))
        })
    }
}
