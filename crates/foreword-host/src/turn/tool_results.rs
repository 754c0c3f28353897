//! How the results of an agent's tools count in the session's taint ledger.

use foreword::estimate;
use foreword_guard::Provenance;
use foreword_protocol::{ActionInfo, ResultTaint};

use crate::error::HostError;
use crate::turn::active_session::ActiveSession;

/// A tool's name without the prefix that Claude Code puts in front of it.
pub(super) fn own_name(name: &str) -> &str {
    name.strip_prefix("mcp__foreword__").unwrap_or(name)
}

/// Counts what a tool brought into the session.
pub(super) fn count_result(
    active: &ActiveSession,
    name: &str,
    content: &str,
) -> Result<(), HostError> {
    let tokens = u64::from(estimate(content));
    let counted_by_action =
        ActionInfo::named(name).is_some_and(|action| action.result_taint == ResultTaint::ByAction);
    if tokens == 0 || counted_by_action {
        return Ok(());
    }
    let external = active.settings.external_tools.iter().any(|tool| tool == name);
    active.add_content(Provenance::ToolResult, name, tokens, external)?;
    Ok(())
}
