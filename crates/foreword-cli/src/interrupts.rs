//! Ctrl-C and the like: they end a turn if one is under way, else this process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use foreword_host::AgentTree;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// Listens for Ctrl-C for as long as the process lives.
pub(crate) struct Interrupts(Arc<Shared>);

struct Shared {
    /// What the agents of the turn under way share.
    tree: Mutex<Option<AgentTree>>,
    /// Somebody wants this process to end.
    ended: AtomicBool,
    /// The terminal as it was, before anybody edited a line on it.
    terminal: Option<Termios>,
}

impl Interrupts {
    pub(crate) fn listen() -> Result<Self, CliError> {
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])
            .map_err(|error| CliError::internal(format!("cannot listen for Ctrl-C: {error}")))?;
        let shared = Arc::new(Shared {
            tree: Mutex::default(),
            ended: AtomicBool::new(false),
            terminal: tcgetattr(std::io::stdin()).ok(),
        });
        let heard = Arc::clone(&shared);
        std::thread::spawn(move || {
            for signal in signals.forever() {
                heard.handle(signal);
            }
        });
        Ok(Self(shared))
    }

    /// Does something that Ctrl-C ends with all agents of the tree. A second Ctrl-C ends this process.
    pub(crate) fn during<T>(&self, tree: &AgentTree, work: impl FnOnce() -> T) -> T {
        self.0.set(Some(tree.clone()));
        let done = work();
        self.0.set(None);
        done
    }

    /// Does somebody want this process to end, now that its turn is over?
    pub(crate) fn ended(&self) -> bool {
        self.0.ended.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn set(&self, tree: Option<AgentTree>) {
        *self.tree.lock().unwrap_or_else(PoisonError::into_inner) = tree;
    }

    fn handle(&self, signal: i32) {
        let tree = self.tree.lock().unwrap_or_else(PoisonError::into_inner);
        if signal != SIGINT {
            self.ended.store(true, Ordering::SeqCst);
        }
        match tree.as_ref() {
            Some(tree) if !tree.is_cancelled() => tree.cancel(),
            _ => {
                if let Some(before) = &self.terminal {
                    let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
                }
                std::process::exit(128 + signal);
            }
        }
    }
}
