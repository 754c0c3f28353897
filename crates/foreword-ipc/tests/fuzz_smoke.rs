//! The check of `fuzz/ipc_checks.rs` on arbitrary text, and on calls that were damaged.
//! `fuzz/harness.rs` says how.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests"
)]

#[path = "../../../fuzz/ipc_checks.rs"]
mod checks;
#[path = "../../../fuzz/harness.rs"]
mod harness;

use harness::{damaged, fuzz};

const CALLS: &[&str] = &[
    "{\"id\":1,\"token\":\"t\",\"action\":\"skill_list\"}\n{\"id\":2,\"token\":\"t\",\"action\":\"skill_read\",\"args\":{\"name\":\"tea\"}}\n",
    "{\"id\":3,\"token\":\"t\",\"action\":\"skill_propose\",\"args\":{\"skill\":\"tea\",\"content\":\"# T\\u00e9a\\n\",\"reason\":null}}\r\n",
    "{\"id\":4,\"token\":\"t\",\"action\":\"memory_write\",\"args\":{\"text\":\"x\",\"kind\":\"activity\",\"importance\":0.1}}\n",
    "{\"id\":5,\"token\":\"t\",\"action\":\"model_call\",\"args\":{\"path\":\"/v1/messages\",\"headers\":{\"a\":\"b\"},\"body\":{\"x\": [1e5, 0.10],\"y\":\"\\n\"}}}\n",
    "{\"id\":6,\"token\":\"t\",\"action\":\"chain_run\",\"args\":{\"stages\":[{\"role\":\"a\",\"prompt\":\"b\",\"runtimeContext\":{\"mode\":\"sub-agent\"}}]}}\n",
    "{\"id\":7,\"token\":\"t\",\"action\":\"todo_write\",\"args\":{\"items\":[{\"text\":\"a\",\"state\":\"doing\"}]}}\n",
    "{\"id\":8,\"token\":\"t\",\"action\":\"schedule_add\",\"args\":{\"cron\":\"@daily\",\"prompt\":\"p\"}}\n",
];

#[test]
fn any_line() {
    fuzz(damaged(CALLS), checks::call);
}

#[test]
fn a_fault_does_not_repeat_all_it_read() {
    let long = "x".repeat(1 << 19);
    for line in [
        format!(r#"{{"id":1,"token":"t","action":"skill_list","args":{{"{long}":1}}}}"#),
        format!(r#"{{"id":1,"token":"t","action":"{long}"}}"#),
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"id":"{long}"}}"#),
        format!(r#"{{"id":1,"token":"t","action":"task_list","args":{{"state":"{long}"}}}}"#),
    ] {
        checks::call(&(line + "\n"));
    }
}
