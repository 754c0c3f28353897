//! The figures side by side.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::peers::start::{Starts, median};

/// Runs of one builder, each a best and a median in microseconds.
pub(super) struct Builder {
    pub(super) name: &'static str,
    best: Vec<f64>,
    medians: Vec<f64>,
    bytes: u64,
}

impl Builder {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, best: Vec::new(), medians: Vec::new(), bytes: 0 }
    }

    /// Takes one result: `{"minUs", "medianUs", "bytes"}`.
    pub(super) fn add(&mut self, result: &Value) {
        let number = |key: &str| result.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN);
        self.best.push(number("minUs"));
        self.medians.push(number("medianUs"));
        self.bytes = result.get("bytes").and_then(Value::as_u64).unwrap_or(0);
    }

    pub(super) fn min(&self) -> f64 {
        self.best.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(super) fn median(&self) -> f64 {
        median(&self.medians)
    }

    #[expect(clippy::cast_precision_loss, reason = "kilobytes with two decimals")]
    fn per_kb(&self) -> f64 {
        self.min() * 1024.0 / (self.bytes.max(1) as f64)
    }
}

/// A row that could not be measured, and what is missing.
pub(super) struct Absent {
    pub(super) name: &'static str,
    pub(super) why: String,
}

/// All that was measured in one run.
pub(super) struct Report {
    pub(super) machine: Value,
    pub(super) builders: Vec<Builder>,
    pub(super) starts: Vec<Starts>,
    pub(super) absent: Vec<Absent>,
}

impl Report {
    fn builder(&self, name: &str) -> Option<&Builder> {
        self.builders.iter().find(|builder| builder.name == name)
    }

    /// What was promised, what was found, and whether it holds.
    fn targets(&self) -> Vec<(String, bool)> {
        let mut targets = Vec::new();
        let mut at_least = |what: &str, times: Option<f64>, least: f64| {
            if let Some(times) = times {
                targets
                    .push((format!("{what}: {times:.1} times (at least {least})"), times >= least));
            }
        };
        let times =
            |name: &str, other: &str| Some(self.builder(other)?.min() / self.builder(name)?.min());
        at_least("guarded with metadata beside the seed", times(super::METADATA, super::SEED), 4.0);
        at_least("guarded with manifest beside the seed", times(super::MANIFEST, super::SEED), 2.0);
        let start = |name: &str| self.starts.iter().find(|start| start.name == name);
        let node = start(super::NODE).zip(start(super::BUILD));
        at_least("start beside `node -e 0`", node.map(|(n, b)| n.median() / b.median()), 10.0);
        let mut at_most = |what: &str, found: Option<f64>, most: f64, unit: &str| {
            if let Some(found) = found {
                targets.push((
                    format!("{what}: {found:.2} {unit} (at most {most} {unit})"),
                    found <= most,
                ));
            }
        };
        at_most(
            "standard, 12,000 characters",
            self.builder(super::DAY).map(Builder::min),
            10.0,
            "µs",
        );
        at_most(
            "standard, 500 skills, tight",
            self.builder(super::SKILLS).map(Builder::min),
            1000.0,
            "µs",
        );
        at_most("start to last byte", start(super::BUILD).map(Starts::median), 8.0, "ms");
        at_most("peak memory", start(super::BUILD).map(Starts::peak_mb), 20.0, "MB");
        targets
    }

    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        let fact = |key: &str| match self.machine.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => "absent".to_owned(),
            Some(other) => other.to_string(),
        };
        let _ = writeln!(
            out,
            "{}, {} cores, {}, load {}; {}; node {}\n",
            fact("cpu"),
            fact("cores"),
            fact("os"),
            fact("load"),
            fact("rustc"),
            fact("node")
        );
        let _ = writeln!(
            out,
            "{:<44} {:>9} {:>9} {:>8} {:>8}",
            "CPU time per build", "best µs", "median µs", "bytes", "µs/KB"
        );
        for row in &self.builders {
            let _ = writeln!(
                out,
                "{:<44} {:>9.2} {:>9.2} {:>8} {:>8.2}",
                row.name,
                row.min(),
                row.median(),
                row.bytes,
                row.per_kb()
            );
        }
        let _ = writeln!(
            out,
            "\n{:<44} {:>9} {:>9} {:>8} {:>8}",
            "process start to last byte", "best ms", "median ms", "CPU ms", "peak MB"
        );
        for row in &self.starts {
            let _ = writeln!(
                out,
                "{:<44} {:>9.2} {:>9.2} {:>8.2} {:>8.1}",
                row.name,
                row.min(),
                row.median(),
                row.cpu_median(),
                row.peak_mb()
            );
        }
        for row in &self.absent {
            let _ = writeln!(out, "\n{}: not measured: {}", row.name, row.why);
        }
        let _ = writeln!(out, "\ntargets");
        for (target, holds) in self.targets() {
            let _ = writeln!(out, "  {} {target}", if holds { "met   " } else { "missed" });
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let builders: Vec<Value> = self.builders.iter().map(|row| {
            json!({"name": row.name, "minUs": row.min(), "medianUs": row.median(), "bytes": row.bytes, "usPerKb": row.per_kb()})
        }).collect();
        let starts: Vec<Value> = self.starts.iter().map(|row| {
            json!({"name": row.name, "minMs": row.min(), "medianMs": row.median(), "cpuMs": row.cpu_median(), "peakMb": row.peak_mb()})
        }).collect();
        let absent: Vec<Value> =
            self.absent.iter().map(|row| json!({"name": row.name, "why": row.why})).collect();
        let targets: Vec<Value> = self
            .targets()
            .into_iter()
            .map(|(what, met)| json!({"target": what, "met": met}))
            .collect();
        json!({"machine": self.machine, "builders": builders, "starts": starts, "absent": absent, "targets": targets})
    }
}
