//! A small HTTP server on 127.0.0.1 inside the sandbox, for programs that expect the model's server
//! to speak HTTP. What it is asked it asks the host; it answers nothing by itself that matters.

mod answers;
mod caller;
mod http;
mod results;
mod serve;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::host::Host;

/// The most connections at once.
pub(crate) const MAX_CONNECTIONS: usize = 16;

/// What the server knows.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) host: Host,
    /// The model it says there is.
    pub(crate) model: String,
    /// What a program must show for calls of the model.
    pub(crate) key: String,
    /// What the extension must show for calls of tools; nothing if there is none.
    pub(crate) call_token: Option<String>,
}

/// A running server. Dropping it ends it and its connections.
#[derive(Debug)]
pub(crate) struct Bridge {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    caller: caller::Caller,
    results: results::Results,
    stopped: AtomicBool,
    connections: Mutex<BTreeMap<u64, TcpStream>>,
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, TcpStream>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bridge {
    /// Listens on a port, or on any.
    pub(crate) fn start(port: Option<u16>, settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            settings,
            caller: caller::Caller::default(),
            results: results::Results::default(),
            stopped: AtomicBool::new(false),
            connections: Mutex::new(BTreeMap::new()),
        });
        let server = Arc::clone(&shared);
        let accepting = thread::Builder::new()
            .name("bridge".to_owned())
            .spawn(move || accept(&listener, &server))?;
        Ok(Self { port, shared, accepting: Some(accepting) })
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        for connection in self.shared.connections().values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut next = 0;
    loop {
        let accepted = listener.accept();
        if shared.stopped.load(Ordering::Acquire) {
            return;
        }
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, most likely; another moment may be better.
            thread::sleep(std::time::Duration::from_millis(50));
            continue;
        };
        let Ok(known) = stream.try_clone() else { continue };
        let mut connections = shared.connections();
        if connections.len() >= MAX_CONNECTIONS {
            drop(connections);
            serve::refuse_connection(stream);
            continue;
        }
        next += 1;
        connections.insert(next, known);
        drop(connections);
        let (number, server) = (next, Arc::clone(shared));
        let spawned =
            thread::Builder::new().name("bridge-connection".to_owned()).spawn(move || {
                serve::connection(stream, &server.settings, &server.caller, &server.results);
                server.connections().remove(&number);
            });
        if spawned.is_err() {
            shared.connections().remove(&next);
        }
    }
}

#[cfg(test)]
mod tests;
