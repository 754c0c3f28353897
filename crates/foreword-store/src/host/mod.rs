//! What the host keeps about sessions: turns, contents, grants, schedules, tasks.

pub(crate) mod adopt;
pub(crate) mod compactions;
pub(crate) mod contents;
pub(crate) mod grants;
pub(crate) mod held_changes;
pub(crate) mod identity;
pub(crate) mod last_sandbox;
pub(crate) mod refusals;
pub(crate) mod removal;
pub(crate) mod schedules;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod spending;
pub(crate) mod taint;
pub(crate) mod tainted_files;
pub(crate) mod tasks;
pub(crate) mod todos;
pub(crate) mod turn;
pub(crate) mod turns;
