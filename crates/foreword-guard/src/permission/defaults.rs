//! The rules that Foreword ships: what cannot be undone is asked about.

use super::{Permission, PermissionRule, PermissionTable, RuleLayer};

/// Work inside the sandbox and actions that have gates of their own.
const ALLOW: [&str; 30] = [
    "read",
    "write",
    "edit",
    "list",
    "search",
    "bash",
    "skill_list",
    "skill_read",
    "skill_propose",
    "identity_propose",
    "memory_search",
    "memory_write",
    "audit_report",
    "web_fetch",
    "spawn_agent",
    "chain_run",
    "task_create",
    "task_list",
    "task_update",
    "todo_read",
    "todo_write",
    "schedule_add",
    "schedule_list",
    "schedule_remove",
    "tool_describe",
    "tool_search",
    "tool_call",
    "session_status",
    "result_read",
    "mcp__*",
];

/// Commands that destroy work or reach other people and machines.
const ASK: [&str; 42] = [
    "bash(git push*)",
    "bash(git reset --hard*)",
    "bash(git reset * --hard*)",
    "bash(git clean*)",
    "bash(git checkout -- *)",
    "bash(git checkout * -- *)",
    "bash(git checkout .)",
    "bash(git checkout -f*)",
    "bash(git restore *)",
    "bash(git branch -D*)",
    "bash(git stash drop*)",
    "bash(git stash clear*)",
    "bash(rm -rf*)",
    "bash(rm -fr*)",
    "bash(rm -r*)",
    "bash(rm -R*)",
    "bash(rm * -r*)",
    "bash(rm * -R*)",
    "bash(rm --recursive*)",
    "bash(rm * --recursive*)",
    "bash(find * -delete*)",
    "bash(shred*)",
    "bash(dd *)",
    "bash(mkfs*)",
    "bash(truncate*)",
    "bash(sudo*)",
    "bash(ssh*)",
    "bash(scp*)",
    "bash(rsync*)",
    "bash(npm publish*)",
    "bash(cargo publish*)",
    "bash(twine upload*)",
    "bash(docker push*)",
    "bash(docker system prune*)",
    "bash(kubectl delete*)",
    "bash(kubectl apply*)",
    "bash(terraform apply*)",
    "bash(terraform destroy*)",
    "bash(gh pr merge*)",
    "bash(gh release*)",
    "bash(psql*)",
    "bash(mysql*)",
];

/// The rules that Foreword ships.
#[must_use]
pub fn default_rules() -> PermissionTable {
    let rules =
        |texts: &[&str]| texts.iter().filter_map(|it| PermissionRule::parse(it).ok()).collect();
    let mut table = PermissionTable::default();
    table.add(RuleLayer::Default, Permission::Ask, rules(&ASK));
    table.add(RuleLayer::Default, Permission::Allow, rules(&ALLOW));
    table
}
