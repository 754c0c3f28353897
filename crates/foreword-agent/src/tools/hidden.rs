//! Files that permission rules keep from walks: a rule on `read` holds for whatever shows a file.

use std::path::{Path, PathBuf};

use foreword_guard::{Permission, PermissionRule, PermissionTable, RuleLayer};
use foreword_protocol::{FileRules, LocalTool};

/// Which files one walk leaves out.
pub(super) struct Hidden {
    table: PermissionTable,
    /// Where paths in rules begin, as given and where it leads.
    roots: [PathBuf; 2],
    tool: &'static str,
}

impl Hidden {
    pub(super) fn of(rules: &FileRules, tool: LocalTool) -> Self {
        let parsed = |texts: &[String]| -> Vec<PermissionRule> {
            texts.iter().filter_map(|text| PermissionRule::parse(text).ok()).collect()
        };
        let mut table = PermissionTable::default();
        table.add(RuleLayer::Workspace, Permission::Deny, parsed(&rules.deny));
        table.add(RuleLayer::Workspace, Permission::Ask, parsed(&rules.ask));
        table.add(RuleLayer::Session, Permission::Allow, parsed(&rules.allow));
        let real = rules.root.canonicalize().unwrap_or_else(|_| rules.root.clone());
        Self { table, roots: [rules.root.clone(), real], tool: tool.name() }
    }

    /// Whether a file or directory is left out.
    pub(super) fn has(&self, path: &Path) -> bool {
        if self.table.rules.is_empty() {
            return false;
        }
        let inside = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        self.table.leaves_out(self.tool, &inside.unwrap_or(path).to_string_lossy())
    }
}
