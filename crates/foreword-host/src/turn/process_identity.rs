//! Which process a turn belongs to, so that a later one can tell whether it is still alive.

use std::fs;

/// This process, by number, start and boot: a number alone is used again.
pub(crate) fn this() -> String {
    of(std::process::id()).unwrap_or_else(|| format!("{}:?:?", std::process::id()))
}

/// Is the process that wrote this still there? Where nobody can tell, it is.
pub(crate) fn is_alive(owner: &str) -> bool {
    let Some((pid, rest)) = owner.split_once(':') else { return false };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    if rest.starts_with('?') {
        return may_be_alive(pid);
    }
    of(pid).is_some_and(|now| now == owner)
}

/// Is there a process of this number?
pub(crate) fn may_be_alive(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap_or(true)
}

fn of(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let start = fields.nth(18)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{pid}:{start}:{}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_and_the_dead() {
        assert!(is_alive(&this()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let owner = of(child.id()).unwrap();
        assert!(is_alive(&owner));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&owner));
        assert!(!is_alive("1:0:another-boot") && !is_alive("") && !is_alive("x:y"));
    }
}
