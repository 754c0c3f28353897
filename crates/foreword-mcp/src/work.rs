//! Blocking calls of a backend, away from the threads that talk to clients, and bounded in number.

use std::sync::Arc;

use foreword_protocol::{ErrorCode, Failure};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;

/// Calls that run at once.
const RUNNING: usize = 8;
/// Calls that run or wait; one more is refused.
const MAX_CALLS: usize = 256;

/// A backend and the places at it.
pub(crate) struct Work {
    backend: Arc<dyn Backend>,
    running: Arc<Semaphore>,
    taken: Arc<Semaphore>,
}

impl Work {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self { backend, running: places(RUNNING), taken: places(MAX_CALLS) }
    }

    /// Runs a job as soon as there is room for it.
    ///
    /// A client that gives up is not waited for; the job, once begun, ends by itself and keeps its
    /// place until then.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        given_up: &CancellationToken,
        job: impl FnOnce(&dyn Backend) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let gone = || Failure::new(ErrorCode::Unavailable, "the client cancelled the call");
        let closed = || Failure::new(ErrorCode::Unavailable, "the server is shutting down");
        let Ok(taken) = Arc::clone(&self.taken).try_acquire_owned() else {
            let message =
                format!("more than {MAX_CALLS} concurrent calls; retry when some have finished");
            return Err(Failure::new(ErrorCode::Limit, message));
        };
        let running = tokio::select! {
            biased;
            () = given_up.cancelled() => return Err(gone()),
            running = Arc::clone(&self.running).acquire_owned() => running.map_err(|_| closed())?,
        };
        let backend = Arc::clone(&self.backend);
        let job = tokio::task::spawn_blocking(move || {
            let _places = (taken, running);
            job(&*backend)
        });
        tokio::select! {
            biased;
            done = job => done.unwrap_or_else(|_| {
                Err(Failure::new(ErrorCode::Internal, "the call panicked; this is a bug in Foreword"))
            }),
            () = given_up.cancelled() => Err(gone()),
        }
    }
}

/// One thread handles the connection; blocking calls run on others.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
