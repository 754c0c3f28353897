//! An agent whose host is gone ends, and takes with it what it started; while it lives, nobody else
//! looks inside it.

use std::process;
use std::sync::Once;
use std::thread;
use std::time::Duration;

use rustix::process::getppid;

use crate::private_dir;

/// How often to look.
const INTERVAL: Duration = Duration::from_millis(250);
/// The exit code of an agent whose host is gone.
const HOST_GONE: i32 = 3;

/// Closes this process to others of the same user: its open files, its memory and its environment.
/// What an agent starts could else speak for it to the host.
pub fn close_to_others() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Ends this process when its parent does. Whatever is on a leash ends with it.
pub(crate) fn end_with_parent() {
    static WATCHING: Once = Once::new();
    WATCHING.call_once(watch);
}

fn watch() {
    let parent = getppid();
    // Without a thread the agent still ends when it next talks to its host.
    let _ = thread::Builder::new().name("watch".to_owned()).spawn(move || {
        loop {
            thread::sleep(INTERVAL);
            if getppid() != parent {
                private_dir::remove_all();
                process::exit(HOST_GONE);
            }
        }
    });
}
