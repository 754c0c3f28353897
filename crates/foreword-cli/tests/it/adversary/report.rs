//! What was tried and what came of it.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;

/// Faults that are shown at most.
const MAX_SHOWN: usize = 40;

pub(super) struct Report {
    sandbox: &'static str,
    seed: u64,
    since: Instant,
    shown: usize,
    pub(super) scenes: usize,
    pub(super) turns: usize,
    pub(super) peak_mib: u64,
    /// Attacks by class: how many, and how many of them were carried out to their end.
    classes: BTreeMap<&'static str, (usize, usize)>,
    /// Turns that the host refused, by what it said.
    refusals: BTreeMap<String, usize>,
    faults: Vec<String>,
}

impl Report {
    pub(super) fn new(sandbox: &'static str, seed: u64) -> Self {
        Self {
            sandbox,
            seed,
            since: Instant::now(),
            shown: 0,
            scenes: 0,
            turns: 0,
            peak_mib: 0,
            classes: BTreeMap::new(),
            refusals: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    pub(super) fn attack(&mut self, class: &'static str, is_complete: bool) {
        let (all, complete) = self.classes.entry(class).or_default();
        *all += 1;
        *complete += usize::from(is_complete);
    }

    pub(super) fn refused(&mut self, said: &str, is_refused: bool) {
        if is_refused {
            let first = said.lines().find(|line| line.starts_with("error:")).unwrap_or("no error");
            *self.refusals.entry(first.chars().take(120).collect()).or_default() += 1;
        }
    }

    pub(super) fn fault(&mut self, scene: u64, class: &str, what: &str, found: impl AsRef<str>) {
        let found: String = found.as_ref().chars().take(600).collect();
        let fault = format!("scene {scene}, {class} ({what}): {found}");
        eprintln!("{}: {fault}", self.sandbox);
        self.faults.push(fault);
    }

    /// Says how far a long run is.
    pub(super) fn progress(&mut self, of: usize) {
        let step = (of / 20).max(100);
        if self.turns / step > self.shown {
            self.shown = self.turns / step;
            let (seconds, faults) = (self.since.elapsed().as_secs(), self.faults.len());
            eprintln!(
                "{}: {} of {of} turns, {seconds} s, {faults} faults",
                self.sandbox, self.turns
            );
        }
    }

    /// Writes the report, and fails if something did not hold.
    pub(super) fn finish(self) {
        if let Some(directory) = std::env::var_os("FOREWORD_ATTACK_REPORT") {
            let classes = &self.classes;
            let report = json!({
                "sandbox": self.sandbox, "seed": self.seed, "scenes": self.scenes, "turns": self.turns,
                "seconds": self.since.elapsed().as_secs(), "peakMib": self.peak_mib, "classes": classes,
                "refused": self.refusals.values().sum::<usize>(), "faults": self.faults,
            });
            let file = std::path::Path::new(&directory).join(format!("{}.json", self.sandbox));
            std::fs::write(file, report.to_string()).unwrap();
        }
        eprintln!(
            "{}: {} attacks in {} turns of {} scenes, {:.0} s, peak {} MiB; {:?}; refused: {:?}",
            self.sandbox,
            self.classes.values().map(|(all, _)| all).sum::<usize>(),
            self.turns,
            self.scenes,
            self.since.elapsed().as_secs_f64(),
            self.peak_mib,
            self.classes,
            self.refusals,
        );
        let shown = self.faults.iter().take(MAX_SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(
            self.faults.is_empty(),
            "{} faults with FOREWORD_ATTACK_SEED={}:\n{shown}",
            self.faults.len(),
            self.seed
        );
    }
}
