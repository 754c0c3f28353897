//! From the start of a process to its last byte, and the memory it took.

use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::error::TaskError;

/// Runs of one command.
pub(crate) struct Starts {
    pub(crate) name: &'static str,
    command: Command,
    millis: Vec<f64>,
    cpu_millis: Vec<f64>,
    peak_bytes: u64,
}

impl Starts {
    pub(crate) fn new(name: &'static str, mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Self { name, command, millis: Vec::new(), cpu_millis: Vec::new(), peak_bytes: 0 }
    }

    /// One more run.
    pub(crate) fn run(&mut self) -> Result<(), TaskError> {
        let fault = || TaskError::io(format!("cannot run {}", self.name));
        let started = Instant::now();
        let mut child = self.command.spawn().map_err(fault())?;
        if let Some(mut out) = child.stdout.take() {
            std::io::copy(&mut out, &mut std::io::sink()).map_err(fault())?;
        }
        self.millis.push(started.elapsed().as_secs_f64() * 1e3);
        let used = child.wait4().map_err(fault())?;
        if !used.status.success() {
            return Err(TaskError::Failed { steps: vec![self.name.to_owned()] });
        }
        let cpu = used.rusage.utime + used.rusage.stime;
        self.cpu_millis.push(cpu.as_secs_f64() * 1e3);
        self.peak_bytes = self.peak_bytes.max(used.rusage.maxrss);
        Ok(())
    }

    pub(crate) fn min(&self) -> f64 {
        self.millis.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.millis)
    }

    pub(crate) fn cpu_median(&self) -> f64 {
        median(&self.cpu_millis)
    }

    #[expect(clippy::cast_precision_loss, reason = "megabytes with one decimal")]
    pub(crate) fn peak_mb(&self) -> f64 {
        self.peak_bytes as f64 / f64::from(1 << 20)
    }
}

pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
