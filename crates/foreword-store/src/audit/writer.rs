//! The audit log alone, for many threads: entries that arrive together are made durable together.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};

use crate::audit::chain::Head;
use crate::audit::event::Event;
use crate::audit::heads::Heads;
use crate::audit::key::AuditKey;
use crate::batch_queue::{BatchQueue, Ticket};
use crate::error::StoreError;
use crate::store::{Options, Store};

/// How many entries may be queued; further senders wait.
const QUEUE: usize = 4096;
/// The most entries in one transaction.
const BATCH: usize = 2048;

type Answer = Result<Head, StoreError>;

struct Request {
    at_ms: i64,
    event: Event,
    answer: SyncSender<Answer>,
}

/// A thread that appends to the audit log for many others, and does nothing else; a
/// [`GroupWriter`](crate::GroupWriter) also changes rows.
///
/// While one transaction is made durable the next entries gather, so the cost of durability is
/// shared. An entry that was acknowledged survives whatever happens to who brought it.
#[derive(Debug)]
pub struct AuditWriter {
    queue: BatchQueue<Request>,
}

impl AuditWriter {
    /// Opens the database and starts the thread.
    pub fn start(
        database: &Path,
        key: AuditKey,
        heads: Heads,
        options: Options,
    ) -> Result<Self, StoreError> {
        let store = Store::open_with(database, key, heads, options)?;
        let store = Arc::new(store);
        let resting = Arc::clone(&store);
        let serve = move |batch| serve(&store, batch);
        let queue = BatchQueue::start(database, QUEUE, BATCH, serve, move || resting.checkpoint())?;
        Ok(Self { queue })
    }

    /// Records an event and waits until it is durable.
    pub fn append(&self, at_ms: i64, event: Event) -> Result<Head, StoreError> {
        self.submit(at_ms, event)?.wait()
    }

    /// Queues an event; waits only while the queue is full.
    pub fn submit(&self, at_ms: i64, event: Event) -> Result<Ticket, StoreError> {
        let (answer, ticket) = mpsc::sync_channel(1);
        self.queue.send(Request { at_ms, event, answer })?;
        Ok(Ticket(ticket))
    }
}

fn serve(store: &Store, batch: Vec<Request>) {
    let now_ms = batch.last().map_or(0, |request| request.at_ms);
    let result = store.write(now_ms, |write| {
        batch
            .iter()
            .map(|request| write.audit_at(request.at_ms, &request.event))
            .collect::<Result<Vec<Head>, StoreError>>()
    });
    // A receiver that is gone needs no answer.
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
