//! The open connections, at most so many. When all places are taken, a newcomer gets the place of the
//! connection that has been idle for longest, so clients that only hold connections delay nobody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The places for connections.
#[derive(Clone)]
pub(super) struct Connections(Arc<Shared>);

struct Shared {
    max: usize,
    table: Mutex<Table>,
    /// A place came free, or a connection became idle.
    changed: Notify,
}

#[derive(Default)]
struct Table {
    open: BTreeMap<u64, Open>,
    /// Counts the events that order connections by age.
    next: u64,
}

struct Open {
    /// When it became idle, as a count; none while it has a request.
    idle_since: Option<u64>,
    evict: CancellationToken,
}

impl Connections {
    pub(super) fn new(max: usize) -> Self {
        let (table, changed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { max, table, changed }))
    }

    /// A place, as soon as one is free or has an idle connection.
    pub(super) async fn admit(&self) -> Place {
        loop {
            let changed = self.0.changed.notified();
            if let Some(place) = self.try_admit() {
                return place;
            }
            changed.await;
        }
    }

    fn try_admit(&self) -> Option<Place> {
        let mut table = self.table();
        if table.open.len() >= self.0.max {
            let idle = table.open.iter().filter_map(|(id, open)| Some((open.idle_since?, *id)));
            let (_, oldest) = idle.min()?;
            table.open.remove(&oldest)?.evict.cancel();
        }
        let id = table.count();
        let evict = CancellationToken::new();
        table.open.insert(id, Open { idle_since: Some(id), evict: evict.clone() });
        Some(Place { connections: self.clone(), id, evict })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_idle(&self, id: u64, idle: bool) {
        let mut table = self.table();
        let since = idle.then(|| table.count());
        if let Some(open) = table.open.get_mut(&id) {
            open.idle_since = since;
        }
        drop(table);
        self.0.changed.notify_waiters();
    }
}

impl Table {
    fn count(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// The place of one connection, free again when dropped.
pub(super) struct Place {
    connections: Connections,
    id: u64,
    evict: CancellationToken,
}

impl Place {
    /// Waits until the connection has to give way.
    pub(super) async fn evicted(&self) {
        self.evict.cancelled().await;
    }

    /// What marks requests of this connection.
    pub(super) fn requests(&self) -> Requests {
        Requests { connections: self.connections.clone(), id: self.id }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.table().open.remove(&self.id);
        self.connections.0.changed.notify_waiters();
    }
}

#[derive(Clone)]
pub(super) struct Requests {
    connections: Connections,
    id: u64,
}

impl Requests {
    /// A request has come; the connection is idle again when this is dropped.
    pub(super) fn begin(&self) -> InProgress {
        self.connections.set_idle(self.id, false);
        InProgress(self.clone())
    }
}

pub(super) struct InProgress(Requests);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.connections.set_idle(self.0.id, true);
    }
}
