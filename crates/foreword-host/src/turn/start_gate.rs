//! How many turns may start at the same time.
//!
//! Starting a turn is the expensive part: gathering and rendering its prompt, noting the state of the
//! workspace, and starting a sandbox. With hundreds of sessions, turns that all start at once only slow each
//! other down, and each holds its prompt in memory meanwhile. So a turn waits here before it has anything to
//! hold, first come, first served. Once its agent has rendered the prompt, it mostly waits for the model, and
//! the next one may start: turns that run are not limited.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

use crate::error::HostError;

/// Turns per processor that may start at the same time.
const STARTS_PER_PROCESSOR: usize = 2;
/// How long a turn that starts keeps others waiting. One that hangs must not stop all.
const MAX_START: Duration = Duration::from_secs(5);
/// How often a waiting turn checks whether it was cancelled.
const TICK: Duration = Duration::from_millis(200);

/// Lets a bounded number of turns start at the same time.
#[derive(Debug)]
pub(crate) struct StartGate {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    limit: usize,
    last: u64,
    /// Turns that are starting, and since when.
    starting: BTreeMap<u64, Instant>,
    waiting: VecDeque<Thread>,
}

/// The right to start a turn, given back when dropped.
#[derive(Debug)]
pub(crate) struct StartPermit {
    number: u64,
    state: Arc<Mutex<State>>,
}

impl Default for StartGate {
    fn default() -> Self {
        let processors = thread::available_parallelism().map_or(2, usize::from);
        Self::new(processors.max(2) * STARTS_PER_PROCESSOR)
    }
}

impl StartGate {
    fn new(limit: usize) -> Self {
        let (starting, waiting) = (BTreeMap::new(), VecDeque::new());
        Self { state: Arc::new(Mutex::new(State { limit, last: 0, starting, waiting })) }
    }

    /// Waits until the turn may start. `check` says now and then whether it still wants to.
    pub(crate) fn enter(
        &self,
        check: &dyn Fn() -> Result<(), HostError>,
    ) -> Result<StartPermit, HostError> {
        let own = thread::current();
        {
            let mut state = lock(&self.state);
            if state.waiting.is_empty() && state.has_room() {
                return Ok(self.admit(&mut state));
            }
            state.waiting.push_back(own.clone());
        }
        loop {
            thread::park_timeout(TICK);
            let checked = check();
            let mut state = lock(&self.state);
            if let Err(error) = checked {
                state.waiting.retain(|waiting| waiting.id() != own.id());
                state.wake_next();
                return Err(error);
            }
            if state.is_next(own.id()) && state.has_room() {
                state.waiting.pop_front();
                let permit = self.admit(&mut state);
                state.wake_next();
                return Ok(permit);
            }
        }
    }

    fn admit(&self, state: &mut State) -> StartPermit {
        state.last += 1;
        state.starting.insert(state.last, Instant::now());
        StartPermit { number: state.last, state: Arc::clone(&self.state) }
    }
}

impl State {
    fn has_room(&self) -> bool {
        let starting = self.starting.values().filter(|since| since.elapsed() < MAX_START);
        starting.count() < self.limit
    }

    fn is_next(&self, thread: ThreadId) -> bool {
        self.waiting.front().is_some_and(|next| next.id() == thread)
    }

    fn wake_next(&self) {
        if let Some(next) = self.waiting.front().filter(|_| self.has_room()) {
            next.unpark();
        }
    }
}

impl Drop for StartPermit {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.starting.remove(&self.number);
        state.wake_next();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn go_on() -> Result<(), HostError> {
        Ok(())
    }

    #[test]
    fn turns_start_in_the_order_in_which_they_came() {
        let gate = StartGate::new(1);
        let first = gate.enter(&go_on).unwrap();
        let (started, order) = mpsc::channel();
        thread::scope(|scope| {
            for number in 0..5 {
                let (gate, started) = (&gate, started.clone());
                scope.spawn(move || {
                    let permit = gate.enter(&go_on).unwrap();
                    started.send(number).unwrap();
                    drop(permit);
                });
                while lock(&gate.state).waiting.len() <= number {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            drop(first);
        });
        assert_eq!(order.try_iter().collect::<Vec<usize>>(), [0, 1, 2, 3, 4]);
        assert!(lock(&gate.state).starting.is_empty());
    }

    #[test]
    fn a_cancelled_turn_leaves_the_queue() {
        let gate = StartGate::new(1);
        let first = gate.enter(&go_on).unwrap();
        let cancelled = || Err(HostError::Cancelled);
        assert!(matches!(gate.enter(&cancelled), Err(HostError::Cancelled)));
        assert!(lock(&gate.state).waiting.is_empty());
        drop(first);
        assert!(gate.enter(&go_on).is_ok());
    }

    #[test]
    fn a_turn_that_hangs_while_it_starts_does_not_stop_the_others() {
        let gate = StartGate::new(1);
        let _hangs = gate.enter(&go_on).unwrap();
        let began = Instant::now();
        let _next = gate.enter(&go_on).unwrap();
        assert!(began.elapsed() >= MAX_START - TICK, "{:?}", began.elapsed());
    }
}
