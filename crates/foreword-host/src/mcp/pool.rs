//! The servers of one turn: started on first use, ended with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use foreword_mcp::{McpClientError, ToolAnswer};
use foreword_workspace::{McpServer, PersonalServer};
use serde_json::{Map, Value};

use super::ServerFault;
use super::process::{RunningServer, ServerPlace};
use super::review::offered;
use crate::host::Host;

/// The pause after the first failure; it doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A server that a turn may use.
#[derive(Clone, Debug)]
pub(crate) struct KnownServer {
    pub(crate) server: McpServer,
    pub(crate) personal: Option<PersonalServer>,
    /// The digest of the tool list that the person reviewed.
    pub(crate) digest: String,
}

impl KnownServer {
    /// Whether the person exempted its results from being external.
    pub(crate) fn is_exempt(&self) -> bool {
        self.personal.as_ref().is_some_and(|personal| personal.exempt)
    }

    /// Whether what it does has effects outside the sandbox.
    pub(crate) fn is_outside(&self) -> bool {
        self.server.url.is_some() || self.personal.as_ref().is_some_and(|own| own.outside)
    }
}

/// How often a server failed in a row, over all turns of a host.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Mutex<BTreeMap<String, Pause>>);

#[derive(Debug)]
struct Pause {
    failures: u32,
    until: Instant,
    /// Without what the server said: who is told of the pause reads the host's words only.
    last: String,
}

impl Pauses {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Pause>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, server: &str) -> Result<(), ServerFault> {
        let pauses = self.lock();
        let Some(pause) = pauses.get(server) else { return Ok(()) };
        let left = pause.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        let (failures, last) = (pause.failures, pause.last.clone());
        Err(ServerFault::Pausing { failures, last, seconds: left.as_secs() + 1 })
    }

    fn failed(&self, server: &str, fault: &ServerFault) {
        let mut pauses = self.lock();
        let failures = pauses.get(server).map_or(0, |pause| pause.failures) + 1;
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(failures.saturating_sub(1).min(10));
        let until = Instant::now() + pause.min(MAX_PAUSE);
        pauses.insert(server.to_owned(), Pause { failures, until, last: fault.in_own_words() });
    }

    fn answered(&self, server: &str) {
        self.lock().remove(server);
    }
}

/// The servers of a turn.
#[derive(Debug, Default)]
pub(crate) struct ServerPool {
    place: OnceLock<ServerPlace>,
    running: Mutex<BTreeMap<String, Slot>>,
}

/// One server: locked while it starts, so that two calls do not start two.
type Slot = Arc<Mutex<Option<Arc<RunningServer>>>>;

impl ServerPool {
    /// Says where servers run. Before that, none can be started.
    pub(crate) fn set_place(&self, place: ServerPlace) {
        let _ = self.place.set(place);
    }

    /// Ends all servers.
    pub(crate) fn end(&self) {
        let running = std::mem::take(&mut *self.lock());
        drop(running);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Slot>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self, name: &str) -> Slot {
        Arc::clone(self.lock().entry(name.to_owned()).or_default())
    }

    /// Calls a tool of a server, which is started if it does not run.
    pub(crate) fn call(
        &self,
        host: &Host,
        name: &str,
        known: &KnownServer,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolAnswer, ServerFault> {
        let slot = self.slot(name);
        let server = self.running(host, name, known, &slot)?;
        let called = server.client.call(tool, arguments);
        match called {
            Ok(answer) => {
                host.server_pauses.answered(name);
                Ok(answer)
            }
            Err(error) if error.ends_connection() => {
                let fault = server.fault(error);
                drop(slot.lock().unwrap_or_else(PoisonError::into_inner).take());
                host.server_pauses.failed(name, &fault);
                Err(fault)
            }
            Err(error) => Err(ServerFault::Client { error, said: String::new() }),
        }
    }

    fn running(
        &self,
        host: &Host,
        name: &str,
        known: &KnownServer,
        slot: &Slot,
    ) -> Result<Arc<RunningServer>, ServerFault> {
        let mut held = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = &*held {
            if server.client.took_back_its_list() {
                let checked = check_list(server, known);
                if let Err(fault) = &checked {
                    *held = None;
                    if matches!(fault, ServerFault::ListChanged) {
                        host.tool_list_changed(name);
                    }
                }
                checked?;
                return held.clone().ok_or(ServerFault::ListChanged);
            }
            return Ok(Arc::clone(server));
        }
        host.server_pauses.check(name)?;
        let Some(place) = self.place.get() else {
            return Err(ServerFault::Start("only a turn of an agent starts servers".to_owned()));
        };
        let started = host.start_server(&known.server, known.personal.as_ref(), place);
        let started = started.and_then(|server| {
            check_list(&server, known)?;
            Ok(Arc::new(server))
        });
        match started {
            Ok(server) => {
                *held = Some(Arc::clone(&server));
                Ok(server)
            }
            Err(fault) => {
                match fault {
                    ServerFault::ListChanged => host.tool_list_changed(name),
                    _ => host.server_pauses.failed(name, &fault),
                }
                Err(fault)
            }
        }
    }
}

/// Whether a server still offers what the person reviewed.
fn check_list(server: &RunningServer, known: &KnownServer) -> Result<(), ServerFault> {
    let tools = server.client.tools().map_err(|error| match error {
        McpClientError::Refused(_) => ServerFault::Client { error, said: String::new() },
        error => server.fault(error),
    })?;
    if offered(&known.server, tools.tools).digest == known.digest {
        Ok(())
    } else {
        Err(ServerFault::ListChanged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_doubles_the_pause_until_an_answer() {
        let pauses = Pauses::default();
        assert!(pauses.check("a").is_ok());
        for (failures, least) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
            pauses.failed("a", &ServerFault::Start("x".to_owned()));
            let Err(ServerFault::Pausing { failures: counted, seconds, last }) = pauses.check("a")
            else {
                panic!("it does not pause");
            };
            assert_eq!((counted, last.as_str()), (failures, "cannot start it: x"));
            assert!((least..=least + 1).contains(&seconds), "{seconds}");
        }
        assert!(pauses.check("b").is_ok());
        pauses.answered("a");
        assert!(pauses.check("a").is_ok());
    }
}
