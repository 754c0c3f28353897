//! Many changes, one transaction: what arrives together is made durable together.

use std::error::Error;
use std::path::Path;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::heads::Heads;
use crate::audit::key::AuditKey;
use crate::batch_queue::{BatchQueue, Ticket};
use crate::error::StoreError;
use crate::store::{Options, Store};
use crate::transaction::Transaction;

/// How many changes may be queued; further senders wait.
const QUEUE: usize = 1024;
/// The most changes in one transaction.
const BATCH: usize = 512;

/// A thread that changes the database for many others.
///
/// While one transaction is made durable the next changes gather, so the cost of durability is
/// shared. Each change stands alone all the same: one that fails leaves nothing, neither rows nor
/// audit entries, and the others of its transaction do not notice. A change that was answered with
/// success survives whatever happens to who brought it.
///
/// ```
/// use foreword_store::{
///     AuditKey, Event, GroupWriter, Heads, NewSession, Options, Outcome, SessionId, StoreError,
/// };
///
/// # let workspace = tempfile::tempdir()?;
/// # let config = tempfile::tempdir()?;
/// # let config = config.path().join("foreword");
/// # let database = workspace.path().join("foreword.db");
/// let key = AuditKey::load_or_create(&config)?;
/// let writer = GroupWriter::start(&database, key, Heads::new(&config), Options::default())?;
/// let new = NewSession {
///     id: SessionId::parse("main")?,
///     agent: None,
///     user: Some("ada".to_owned()),
///     runner: "native".to_owned(),
///     canary: "k3v7c2mxqa".to_owned(),
///     parent: None,
///     depth: 0,
///     channel: "terminal".to_owned(),
/// };
/// let now_ms = 1_772_000_000_000;
/// let turn = writer.write(now_ms, move |w| {
///     w.session_create(&new, now_ms)?;
///     let turn = w.turn_begin(&new.id, "Hello!", "this host", now_ms)?;
///     w.audit(&Event::new("user:ada", "turn.begin", new.id.as_str(), Outcome::Pending))?;
///     Ok::<_, StoreError>(turn)
/// })?;
/// assert_eq!(turn.0, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GroupWriter {
    queue: BatchQueue<Box<dyn Job>>,
    head_problem: Arc<Mutex<Option<String>>>,
}

impl GroupWriter {
    /// Opens the database and starts the thread.
    pub fn start(
        database: &Path,
        key: AuditKey,
        heads: Heads,
        options: Options,
    ) -> Result<Self, StoreError> {
        let store = Store::open_with(database, key, heads, options)?;
        store.limit_page_cache()?;
        let head_problem = Arc::new(Mutex::new(None));
        let problem = Arc::clone(&head_problem);
        let store = Arc::new(store);
        let resting = Arc::clone(&store);
        let serve = move |jobs| {
            serve(&store, jobs, |store| {
                *problem.lock().unwrap_or_else(PoisonError::into_inner) = store.head_problem();
            });
        };
        let queue = BatchQueue::start(database, QUEUE, BATCH, serve, move || resting.checkpoint())?;
        Ok(Self { queue, head_problem })
    }

    /// Carries out one change and waits until it is durable: all that `change` does happens, or
    /// none of it. `now_ms` is the time of the entries that `change` records.
    ///
    /// `change` runs on the thread of the writer, so it must not wait for this writer itself.
    pub fn write<T, E>(
        &self,
        now_ms: i64,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Error + Send + 'static,
    {
        self.submit(now_ms, change)?.wait()
    }

    /// Hands over a change; waits only where too many are under way.
    pub fn submit<T, E>(
        &self,
        now_ms: i64,
        change: impl FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<Ticket<T, E>, StoreError>
    where
        T: Send + 'static,
        E: From<StoreError> + Error + Send + 'static,
    {
        let (answer, ticket) = mpsc::sync_channel(1);
        let change = Change { now_ms, change: Some(change), result: None, answer };
        self.queue.send(Box::new(change))?;
        Ok(Ticket(ticket))
    }

    /// Why the head of the log could not be written down after the last change, if it could not;
    /// see [`Store::head_problem`].
    #[must_use]
    pub fn head_problem(&self) -> Option<String> {
        self.head_problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A change whatever it gives.
trait Job: Send {
    /// Carries it out; its own failure is kept for the answer. Fails when the transaction is lost.
    fn run(&mut self, write: &mut Transaction<'_>) -> Result<(), StoreError>;

    /// Sends the answer. `failed` says why the transaction was not committed.
    fn answer(self: Box<Self>, failed: Option<&Arc<StoreError>>);
}

struct Change<T, E, F> {
    now_ms: i64,
    change: Option<F>,
    result: Option<Result<T, E>>,
    answer: SyncSender<Result<T, E>>,
}

impl<T, E, F> Job for Change<T, E, F>
where
    T: Send,
    E: From<StoreError> + Error + Send + 'static,
    F: FnOnce(&mut Transaction<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, write: &mut Transaction<'_>) -> Result<(), StoreError> {
        let Some(change) = self.change.take() else { return Ok(()) };
        let part = write.begin_part(self.now_ms)?;
        let result = change(write);
        let ended = write.end_part(part, result.as_ref().err().map(|error| error as &dyn Error));
        self.result = Some(result);
        ended
    }

    fn answer(self: Box<Self>, failed: Option<&Arc<StoreError>>) {
        let answer = match (self.result, failed) {
            // Its own failure says more than that of the transaction.
            (Some(Err(error)), _) => Err(error),
            (_, Some(failed)) => Err(StoreError::Batch(Arc::clone(failed)).into()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(StoreError::WriterStopped.into()),
        };
        // A receiver that is gone needs no answer.
        let _ = self.answer.send(answer);
    }
}

fn serve(store: &Store, mut jobs: Vec<Box<dyn Job>>, committed: impl FnOnce(&Store)) {
    let result = store.write(0, |write| jobs.iter_mut().try_for_each(|job| job.run(write)));
    committed(store);
    let failed = result.err().map(Arc::new);
    for job in jobs {
        job.answer(failed.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::event::{Event, Outcome};
    use crate::batch_queue::Ticket;

    fn job(entries: usize) -> (Box<dyn Job>, Ticket<(), StoreError>) {
        let (answer, ticket) = mpsc::sync_channel(1);
        let change = move |write: &mut Transaction<'_>| {
            let detail = serde_json::json!("x".repeat(4000));
            let event = Event::new("a", "b", "c", Outcome::Done).with_detail(detail);
            (0..entries).try_for_each(|_| write.audit(&event).map(drop))
        };
        let job = Change { now_ms: 1, change: Some(change), result: None, answer };
        (Box::new(job), Ticket(ticket))
    }

    fn run(store: &Store, sizes: &[usize]) -> Vec<Result<(), StoreError>> {
        let (jobs, tickets): (Vec<_>, Vec<_>) = sizes.iter().map(|size| job(*size)).unzip();
        serve(store, jobs, |_| ());
        tickets.into_iter().map(Ticket::wait).collect()
    }

    #[test]
    fn a_full_disk_undoes_the_whole_transaction_and_everyone_is_told() {
        let workspace = tempfile::tempdir().unwrap();
        let config = tempfile::tempdir().unwrap();
        let heads = Heads::new(&config.path().join("foreword"));
        let database = workspace.path().join("foreword.db");
        let store = Store::open(&database, AuditKey::from_bytes([1; 32]), heads).unwrap();
        assert!(run(&store, &[1, 1]).iter().all(Result::is_ok));
        store.limit_pages_for_tests();

        let results = run(&store, &[0, 100, 1]);
        assert!(matches!(results[1], Err(StoreError::DiskFull { .. })), "{:?}", results[1]);
        for place in [0, 2] {
            let Err(StoreError::Batch(error)) = &results[place] else {
                panic!("{place}: {:?}", results[place]);
            };
            let expected =
                "undid this change together with another one that failed: the disk is full";
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert_eq!(store.head().unwrap().seq, 2);
        assert!(store.verify(&[]).unwrap().is_clean());
        // The writer goes on.
        assert!(run(&store, &[0]).iter().all(Result::is_ok));
    }
}
