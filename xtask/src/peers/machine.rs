//! The machine that figures were measured on.

use std::process::Command;

use serde_json::{Value, json};

pub(super) fn facts(node: Option<&str>) -> Value {
    json!({
        "cpu": cpu(),
        "cores": std::thread::available_parallelism().map_or(0, usize::from),
        "os": format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        "rustc": said(Command::new("rustc").arg("--version")),
        "node": node,
        "load": load(),
    })
}

/// What a command says on its first line.
pub(super) fn said(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned())
}

fn cpu() -> String {
    let linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.trim().to_owned())
    });
    linux
        .or_else(|| said(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])))
        .unwrap_or_else(|| "unknown".to_owned())
}

/// The load of the last minute: figures of a busy machine are worth less.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}
