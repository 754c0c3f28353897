//! Whether a directory that a command removes or overwrites may contain the files of a rule.

use std::path::Path;

use super::pattern::{Pattern, Piece, overlap, pieces, wildcards};

const UNKNOWN: char = '…';

impl Pattern {
    /// Whether files that this names lie in a directory, by the names of the directories above them: `rm -rf *`
    /// takes `docs/**` along. A pattern for names anywhere is only about the root and what is above it, because
    /// any directory may have such a file.
    pub(super) fn lies_in(&self, directory: &str, root: &Path) -> bool {
        // Only the shell knows where that is.
        if directory.contains(UNKNOWN) {
            return false;
        }
        let above = root.to_string_lossy();
        let is_absolute = directory.starts_with('/');
        let mut names: Vec<Vec<Piece>> = Vec::new();
        let own = self.names_to_it();
        let is_own_absolute = own.first().is_some_and(Vec::is_empty);
        match (is_absolute, is_own_absolute) {
            (false, true) => return false,
            (true, false) => {
                let literal = |name: &str| name.chars().map(Piece::Char).collect();
                names.extend(parts(&above).map(literal));
            }
            _ => {}
        }
        names.extend(own.into_iter().filter(|name| !name.is_empty()));
        let mut names = names.iter();
        for part in parts(directory) {
            let Some(name) = names.next() else { return false };
            let is_any = part.chars().all(|c| c == '*');
            if name.windows(2).any(|pair| pair == [Piece::Any; 2]) || part == "**" {
                return is_any;
            }
            if !overlap(name, &wildcards(part)) {
                return false;
            }
        }
        true
    }

    /// The directories to its files and their name. The first is empty if it begins at the root of the machine.
    fn names_to_it(&self) -> Vec<Vec<Piece>> {
        let text = match self {
            Self::Glob(text) if !text.contains('/') => format!("**/{text}"),
            Self::Glob(text) | Self::Exact(text) => text.clone(),
            Self::Prefix(text) => format!("{text}*"),
        };
        text.strip_prefix("./").unwrap_or(&text).split('/').map(pieces).collect()
    }
}

/// The names in a path.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{
        Permission, PermissionRule, PermissionTable, RuleLayer, ToolUse, default_rules,
    };
    use super::*;

    fn table(rules: &[&str]) -> PermissionTable {
        let mut table = default_rules();
        let rules = rules.iter().map(|rule| PermissionRule::parse(rule).unwrap()).collect();
        table.add(RuleLayer::Personal, Permission::Deny, rules);
        table
    }

    fn is_denied(table: &PermissionTable, command: &str) -> bool {
        let arguments = json!({"command": command});
        let root = Path::new("/home/me/w");
        let call = ToolUse { tool: "bash", arguments: &arguments, cwd: root, root };
        table.decide(&call).permission == Permission::Deny
    }

    #[test]
    fn a_directory_above_denied_files_is_denied_to_commands_that_erase_it() {
        let table = table(&["write(docs/api/**)"]);
        for command in [
            "rm -rf .",
            "rm -rf ./",
            "rm -rf *",
            "rm -fR -- *",
            "rm --recurs d*",
            "rm -r docs",
            "rm -r docs/*",
            "rm -rf $PWD",
            "rm -rf ..",
            "rm -rf ../*",
            "rm -rf /home/me",
            "rm -rf /",
            "cd src && rm -rf ../docs",
            "mv docs old",
            "mv * /tmp/x",
            "mv -t /tmp docs",
            "chmod -R a-w .",
            "rsync -a --delete x/ .",
            "find . -delete",
            "find -type f -delete",
            "find docs -mtime +1 -delete",
            "find . -exec rm {} +",
            "find . -type f | xargs rm",
            "git clean -fdx",
            "git clean -fdx -e keep",
            "git -C docs clean -fd",
            "git checkout -- .",
            "git checkout .",
            "git restore docs",
            "git rm -r docs",
            "git reset --hard",
            "git reset --hard HEAD~1",
        ] {
            assert!(is_denied(&table, command), "{command}");
        }
        for command in [
            "rm -rf build",
            "rm -rf build/*",
            "rm -rf docs/old",
            "rm -rf $X",
            "rm -rf /tmp/x",
            "rm *",
            "rm -rf *.o",
            "mv a .",
            "mv -t . /tmp/a",
            "mv a docs",
            "cp -r x .",
            "ls -R .",
            "chmod -R a+x bin",
            "find . -name '*.pyc' -delete",
            "find . -path '*/__pycache__/*' -delete",
            "find . -type d -empty -delete",
            "find . -type f | xargs grep x",
            "find src -delete",
            "git clean -n",
            "git clean -fdx build",
            "git checkout main",
            "git restore src",
            "git reset HEAD .",
            "git -C src clean -fd",
        ] {
            assert!(!is_denied(&table, command), "{command}");
        }
    }

    #[test]
    fn a_name_anywhere_guards_the_root_but_no_other_directory() {
        for rule in ["write(**/.env)", "edit(.env)", "write(*.md)"] {
            let table = table(&[rule]);
            for command in ["rm -rf .", "rm -rf *", "git clean -fdx", "rm -rf .."] {
                assert!(is_denied(&table, command), "{rule}: {command}");
            }
            assert!(!is_denied(&table, "rm -rf node_modules"), "{rule}");
        }
        let table = table(&["write(/etc/app/**)"]);
        assert!(is_denied(&table, "rm -rf /etc") && is_denied(&table, "rm -rf /*"));
        assert!(!is_denied(&table, "rm -rf .") && !is_denied(&table, "rm -rf /home"));
    }

    #[test]
    fn without_a_pattern_whatever_git_removes_is_denied() {
        let table = table(&["write"]);
        assert!(is_denied(&table, "git clean -fdx") && is_denied(&table, "git reset --hard"));
        assert!(!is_denied(&table, "git clean --dry-run") && !is_denied(&table, "git reset"));
    }
}
