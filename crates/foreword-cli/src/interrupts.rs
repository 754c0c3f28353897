//! Ctrl-C and termination signals: they cancel the current turn, or end this process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use foreword_host::AgentTree;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::error::CliError;

/// Listens for signals for the life of the process.
pub(crate) struct Interrupts(Arc<Shared>);

struct Shared {
    /// The agents of the current turn.
    tree: Mutex<Option<AgentTree>>,
    /// A signal asked this process to end.
    ended: AtomicBool,
    /// The terminal's settings before line editing.
    terminal: Option<Termios>,
}

impl Interrupts {
    pub(crate) fn listen() -> Result<Self, CliError> {
        let mut signals =
            signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(|error| {
                CliError::internal(format!("cannot install signal handlers: {error}"))
            })?;
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

    /// Runs `work`; Ctrl-C cancels all agents of the tree, and a second Ctrl-C ends this process.
    pub(crate) fn during<T>(&self, tree: &AgentTree, work: impl FnOnce() -> T) -> T {
        self.0.set(Some(tree.clone()));
        let done = work();
        self.0.set(None);
        done
    }

    /// Whether this process should end after the current turn.
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
