//! Many threads, one transaction: entries that arrive together are made durable together.

use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};

use crate::chain::Head;
use crate::error::StoreError;
use crate::event::Event;
use crate::heads::Heads;
use crate::key::AuditKey;
use crate::store::{Options, Store};

/// So many entries may wait; whoever brings more has to wait with them.
const QUEUE: usize = 4096;
/// So many entries go into one transaction at most.
const BATCH: usize = 2048;

type Answer = Result<Head, StoreError>;

struct Request {
    at_ms: i64,
    event: Event,
    answer: SyncSender<Answer>,
}

/// A thread that appends to the audit log for many others.
///
/// While one transaction is made durable the next entries gather, so the cost of durability is
/// shared. An entry that was acknowledged survives whatever happens to who brought it.
#[derive(Debug)]
pub struct AuditWriter {
    queue: RwLock<Option<SyncSender<Request>>>,
    thread: Option<JoinHandle<()>>,
}

/// An entry on its way.
#[derive(Debug)]
#[must_use = "an entry is only known to be durable once it was waited for"]
pub struct Ticket(Receiver<Answer>);

impl Ticket {
    /// Waits until the entry is durable; gives the end of the log that it made.
    ///
    /// # Errors
    ///
    /// When the transaction that carried it failed.
    pub fn wait(self) -> Result<Head, StoreError> {
        self.0.recv().unwrap_or(Err(StoreError::WriterStopped))
    }
}

impl AuditWriter {
    /// Opens the database and starts the thread.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], and when no thread can be started.
    pub fn start(
        database: &Path,
        key: AuditKey,
        heads: Heads,
        options: Options,
    ) -> Result<Self, StoreError> {
        let store = Store::open_with(database, key, heads, options)?;
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        let thread = thread::Builder::new()
            .name("foreword-audit".to_owned())
            .spawn(move || serve(&store, &receiver))
            .map_err(|error| StoreError::io("start a thread for", database, error))?;
        Ok(Self { queue: RwLock::new(Some(sender)), thread: Some(thread) })
    }

    /// Puts an event on record and waits until it is durable.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn append(&self, at_ms: i64, event: Event) -> Result<Head, StoreError> {
        self.submit(at_ms, event)?.wait()
    }

    /// Hands over an event to be put on record; waits only where too many are under way.
    ///
    /// # Errors
    ///
    /// When the writer has stopped.
    pub fn submit(&self, at_ms: i64, event: Event) -> Result<Ticket, StoreError> {
        let (answer, ticket) = mpsc::sync_channel(1);
        let queue = self.queue.read().unwrap_or_else(PoisonError::into_inner);
        queue
            .as_ref()
            .ok_or(StoreError::WriterStopped)?
            .send(Request { at_ms, event, answer })
            .map_err(|_| StoreError::WriterStopped)?;
        Ok(Ticket(ticket))
    }
}

impl Drop for AuditWriter {
    /// Waits until all that was handed over is durable.
    fn drop(&mut self) {
        self.queue.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = self.thread.take() {
            // A panic there was answered by `WriterStopped` to everyone who waited.
            let _ = thread.join();
        }
    }
}

fn serve(store: &Store, queue: &Receiver<Request>) {
    while let Ok(first) = queue.recv() {
        let batch: Vec<Request> =
            std::iter::once(first).chain(queue.try_iter().take(BATCH - 1)).collect();
        let now_ms = batch.last().map_or(0, |request| request.at_ms);
        let result = store.write(now_ms, |write| {
            batch
                .iter()
                .map(|request| write.audit_at(request.at_ms, &request.event))
                .collect::<Result<Vec<Head>, StoreError>>()
        });
        // Whoever no longer waits for the answer has no use for it.
        match result {
            Ok(heads) => {
                for (request, head) in batch.into_iter().zip(heads) {
                    let _ = request.answer.send(Ok(head));
                }
            }
            Err(error) => {
                let error = Arc::new(error);
                for request in batch {
                    let _ = request.answer.send(Err(StoreError::Batch(Arc::clone(&error))));
                }
            }
        }
    }
}
