//! The descendants of a process, read from `/proc`.
//!
//! Only the launcher uses this, on Linux. Without `/proc` no descendants are found: the supervisor then
//! ends the program itself, and what the program started may outlive it.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// Every living process below a process, nearest first.
pub(crate) fn below(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((state, parent)) = state_and_parent(&stat)
            && state != 'Z'
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut at = 0;
    while let Some(pid) = found.get(at) {
        found.extend(children.remove(pid).unwrap_or_default());
        at += 1;
    }
    found
}

/// The program name is in parentheses and may contain any character, including parentheses.
fn state_and_parent(stat: &str) -> Option<(char, u32)> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

/// Kills a process, if it is still there.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lie_about_its_parent() {
        assert_eq!(state_and_parent("7 (sh) S 3 7 7 0"), Some(('S', 3)));
        assert_eq!(state_and_parent("7 (a) S 9 (b)) R 3 7"), Some(('R', 3)));
        assert_eq!(state_and_parent("7 (sh)"), None);
        assert_eq!(state_and_parent(""), None);
    }
}
