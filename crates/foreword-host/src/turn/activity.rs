//! What an agent is doing right now, and what its model calls have used so far.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use foreword_protocol::Usage;
use foreword_store::TurnUsage;

/// Calls in progress, the time of the last sign of life, and usage.
#[derive(Debug)]
pub(crate) struct Activity {
    calls_in_progress: AtomicUsize,
    last_seen: Mutex<Instant>,
    /// Time the host itself spent on the agent's calls, in nanoseconds.
    host_time: AtomicU64,
    model_calls: AtomicU64,
    usage: Mutex<TurnUsage>,
    /// The HTTP status with which the model server refused the last call.
    refused_with: Mutex<Option<u16>>,
    /// Whether it did so because it does not have the model.
    unknown_model: AtomicBool,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            calls_in_progress: AtomicUsize::new(0),
            last_seen: Mutex::new(Instant::now()),
            host_time: AtomicU64::new(0),
            model_calls: AtomicU64::new(0),
            usage: Mutex::default(),
            refused_with: Mutex::default(),
            unknown_model: AtomicBool::new(false),
        }
    }

    pub(crate) fn begin_call(&self) {
        self.calls_in_progress.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn end_call(&self) {
        self.touch();
        self.calls_in_progress.fetch_sub(1, Ordering::SeqCst);
    }

    /// Notes a sign of life.
    pub(crate) fn touch(&self) {
        *lock(&self.last_seen) = Instant::now();
    }

    /// How long the agent has been silent. Zero while a call is in progress.
    pub(crate) fn idle(&self) -> Duration {
        if self.calls_in_progress.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        lock(&self.last_seen).elapsed()
    }

    pub(crate) fn add_host_time(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.host_time.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(crate) fn host_time(&self) -> Duration {
        Duration::from_nanos(self.host_time.load(Ordering::Relaxed))
    }

    /// Counts a model call that is about to start; returns how many came before it.
    pub(crate) fn start_model_call(&self) -> u64 {
        self.model_calls.fetch_add(1, Ordering::SeqCst)
    }

    /// Notes how a model call was answered.
    pub(crate) fn finish_model_call(&self, status: u16, unknown_model: bool) {
        self.unknown_model.store(unknown_model, Ordering::SeqCst);
        let is_success = (200..300).contains(&status);
        *lock(&self.refused_with) = (!is_success).then_some(status);
    }

    /// Counts what a model call used.
    pub(crate) fn add_usage(&self, tokens: Usage) {
        lock(&self.usage).add_call(tokens);
    }

    pub(crate) fn refused_with(&self) -> Option<u16> {
        *lock(&self.refused_with)
    }

    pub(crate) fn has_unknown_model(&self) -> bool {
        self.unknown_model.load(Ordering::SeqCst)
    }

    pub(crate) fn usage(&self) -> TurnUsage {
        *lock(&self.usage)
    }
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
