//! Runs of agents in a scratch workspace against a model on loopback.

use foreword_store::{AuditKey, Heads, Store};
use serde_json::Value;

use super::model::ModelServer;
use super::{Foreword, Scratch};

/// The key the host has and no agent may see.
pub(crate) const KEY: &str = "sk-ant-api03-the-key-that-only-the-host-may-know-0123456789";

/// `foreword run --quiet --json` with a key, in a session of its own name.
pub(crate) fn turn(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    on_host(scratch, model, &[&["run", "--quiet", "--json", "--trust"], args].concat())
}

/// Any command with the environment of a host.
pub(crate) fn on_host(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Foreword {
    scratch
        .command(args)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY)
}

/// One turn that has to work.
pub(crate) fn done(scratch: &Scratch, model: &ModelServer, args: &[&str]) -> Value {
    turn(scratch, model, args).run().ok().json()
}

/// Makes every schedule due, as if it had been missed for years. A row changed by hand would not run.
pub(crate) fn make_due(scratch: &Scratch) {
    let config = scratch.config_dir();
    let key = AuditKey::load(&config).unwrap();
    let database = scratch.join(".foreword/foreword.db");
    let store = Store::open(&database, key, Heads::new(&config)).unwrap();
    let active = store.schedule_list().unwrap();
    let mut changed = 0;
    for schedule in active {
        let Some(next) = schedule.next_at else { continue };
        let claimed = store.write(1000, |w| w.schedule_claim(&schedule.id, next, Some(1000), 1000));
        assert!(claimed.unwrap().is_some());
        changed += 1;
    }
    assert!(changed > 0);
}

/// The entries of the audit log, oldest first.
pub(crate) fn audit(scratch: &Scratch) -> Vec<Value> {
    let log = scratch.run(&["audit", "log", "--json", "--limit", "1000"]).ok().json();
    let mut entries = match log {
        Value::Array(entries) => entries,
        mut log => log["entries"].as_array_mut().map(std::mem::take).unwrap_or_default(),
    };
    entries.sort_by_key(|entry| entry["seq"].as_u64());
    entries
}

/// Whether an action is on record with an outcome.
pub(crate) fn on_record(scratch: &Scratch, action: &str, outcome: &str) -> bool {
    audit(scratch).iter().any(|entry| entry["action"] == action && entry["outcome"] == outcome)
}
