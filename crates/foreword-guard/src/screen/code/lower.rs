//! From a syntax tree to the common form.
//!
//! Python, JavaScript, TypeScript and Ruby share one walk (`statements`, `expressions`): their grammars
//! name things alike, and where they differ the names do too. Shells have their own.

mod expressions;
mod powershell;
mod shell;
mod statements;

use super::ir::Stmt;
use super::language::Language;
use tree_sitter::Node;

/// Deeper trees are cut off; no person writes them.
const MAX_DEPTH: usize = 120;
/// Nodes that are looked at in one file.
const MAX_NODES: usize = 400_000;

/// Lowers one file.
pub(crate) struct Lowerer<'t> {
    pub(super) text: &'t str,
    depth: usize,
    left: usize,
}

/// The statements of a program.
pub(crate) fn lower(language: Language, text: &str) -> Vec<Stmt> {
    let Some(tree) = language.parse(text) else { return Vec::new() };
    let mut lowerer = Lowerer { text, depth: 0, left: MAX_NODES };
    let root = tree.root_node();
    match language {
        Language::Shell => lowerer.shell_block(root),
        Language::PowerShell => lowerer.powershell_block(root),
        _ => lowerer.block(root),
    }
}

impl<'t> Lowerer<'t> {
    pub(super) fn source(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn line(&self, node: Node<'_>) -> u32 {
        u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The named children, comments aside.
    pub(super) fn children<'n>(&mut self, node: Node<'n>) -> Vec<Node<'n>> {
        let mut cursor = node.walk();
        let children: Vec<_> =
            node.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect();
        self.left = self.left.saturating_sub(children.len());
        if self.left == 0 { Vec::new() } else { children }
    }

    /// Goes one level down, unless that is too deep.
    pub(super) fn deeper<T>(&mut self, otherwise: T, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            return otherwise;
        }
        self.depth += 1;
        let done = work(self);
        self.depth -= 1;
        done
    }

    fn field_text(&self, node: Node<'_>, field: &str) -> Option<String> {
        node.child_by_field_name(field).map(|child| self.source(child).to_owned())
    }
}
