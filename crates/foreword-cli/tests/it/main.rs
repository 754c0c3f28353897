//! The integration tests of `foreword-cli`, one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod adversary;
mod audit;
mod backup;
mod bad_input;
mod build;
mod confirm;
mod docs_layers;
mod docs_migrating;
#[cfg(unix)]
mod docs_pages;
mod docs_reference;
mod eval_memory;
mod eval_retrieval;
mod examples_run;
mod explain_diff_lint;
mod first_hour;
mod first_hour_chat;
mod first_hour_tools;
mod host_bad_input;
mod host_canary;
mod host_chat;
mod host_command_tools;
mod host_compaction;
mod host_hold_changes;
mod host_hold_reader;
mod host_hold_spend;
mod host_hold_taint;
mod host_hold_trust;
mod host_killed;
mod host_mcp;
mod host_mcp_servers;
mod host_one_prompt;
mod host_permissions;
mod host_run;
mod host_runners;
mod host_sandbox;
mod host_session;
mod host_shown;
mod host_skill_calls;
mod host_skills;
mod host_taint;
mod host_tool_results;
mod init;
mod json_version;
mod memory;
mod migrate;
mod migrate_honest;
mod migrate_run;
mod migrate_settings;
mod model;
mod pages;
mod readme;
mod sandbox_check;
mod scan;
mod schema;
mod seed_000_host;
mod seed_001_host;
mod seed_001_skills;
mod seed_002_assembly;
mod seed_002_layers;
mod seed_003_spawning;
mod seed_003_workspace;
mod seed_004_workspace;
mod semantics;
mod serve;
mod skill;
mod skill_folder;
mod support;
mod sync;
mod tool_names;
mod upgrade;
mod voice;
mod watch;
mod watch_clients;
mod workspace;
