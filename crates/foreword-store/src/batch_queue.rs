//! A thread that takes what many others bring, as much at once as there is.

use std::fmt;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::StoreError;

/// How long nothing must arrive before the writer counts as idle.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// A change that was submitted to a writer.
#[derive(Debug)]
#[must_use = "it is only known to be durable once it was waited for"]
pub struct Ticket<T, E>(pub(crate) Receiver<Result<T, E>>);

impl<T, E: From<StoreError>> Ticket<T, E> {
    /// Waits until the change is durable, and returns its result.
    pub fn wait(self) -> Result<T, E> {
        self.0.recv().unwrap_or_else(|_| Err(StoreError::WriterStopped.into()))
    }
}

/// A bounded queue and the thread at its end.
pub(crate) struct BatchQueue<J> {
    sender: RwLock<Option<SyncSender<J>>>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> BatchQueue<J> {
    /// Starts a thread that gives to `serve` what has gathered, at most `batch` at once, and calls
    /// `idle` once when nothing has arrived for a moment. Senders wait while `room` jobs are queued.
    pub(crate) fn start(
        database: &Path,
        room: usize,
        batch: usize,
        mut serve: impl FnMut(Vec<J>) + Send + 'static,
        mut idle: impl FnMut() + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::sync_channel(room);
        let thread = thread::Builder::new()
            .name("foreword-writer".to_owned())
            .spawn(move || {
                let mut rested = true;
                loop {
                    let first = if rested {
                        receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
                    } else {
                        receiver.recv_timeout(IDLE_AFTER)
                    };
                    rested = first.is_err();
                    match first {
                        Ok(first) => {
                            let more = receiver.try_iter().take(batch.saturating_sub(1));
                            serve(std::iter::once(first).chain(more).collect());
                        }
                        Err(RecvTimeoutError::Timeout) => idle(),
                        Err(RecvTimeoutError::Disconnected) => break,
                    }
                }
            })
            .map_err(|error| StoreError::io("start a thread for", database, error))?;
        Ok(Self { sender: RwLock::new(Some(sender)), thread: Some(thread) })
    }

    pub(crate) fn send(&self, job: J) -> Result<(), StoreError> {
        let sender = self.sender.read().unwrap_or_else(PoisonError::into_inner);
        let sender = sender.as_ref().ok_or(StoreError::WriterStopped)?;
        sender.send(job).map_err(|_| StoreError::WriterStopped)
    }
}

impl<J> fmt::Debug for BatchQueue<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchQueue").finish_non_exhaustive()
    }
}

impl<J> Drop for BatchQueue<J> {
    /// Waits until all that was handed over is done.
    fn drop(&mut self) {
        self.sender.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = self.thread.take() {
            // A panic there was answered by `WriterStopped` to everyone who waited.
            let _ = thread.join();
        }
    }
}
