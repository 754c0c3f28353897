//! From a syntax tree to the common form.
//!
//! Python, JavaScript, TypeScript and Ruby share one walk (`statements`, `expressions`): their grammars
//! name things alike, and where they differ the names do too. Shells have their own. Languages without a
//! grammar are read by their tokens (`loose`).

mod expressions;
mod loose;
mod powershell;
mod shell;
mod statements;
mod vocabulary;

use super::ir::Stmt;
use super::language::{Language, Parsers};
use tree_sitter::{Node, TreeCursor};
use vocabulary::{Kind, Vocabulary};

/// Deeper trees are cut off; no person writes them.
const MAX_DEPTH: usize = 120;
/// Stages of a pipeline that are lowered one within the other; the ones before stand side by side.
/// No stack holds a pipeline of any length, neither to follow it nor to drop it.
const MAX_STAGES: usize = 128;
/// Nodes that are looked at in one file.
const MAX_NODES: usize = 400_000;

/// Lowers one file.
pub(crate) struct Lowerer<'t> {
    pub(super) text: &'t str,
    words: &'static Vocabulary,
    /// Goes through the children of one node at a time.
    cursor: TreeCursor<'t>,
    depth: usize,
    left: usize,
}

/// The statements of a program.
pub(crate) fn lower(parsers: &mut Parsers, language: Language, text: &str) -> Vec<Stmt> {
    if let Language::Loose(dialect) = language {
        return loose::loose(text, dialect);
    }
    let (Some(tree), Some(words)) = (parsers.parse(language, text), Vocabulary::of(language))
    else {
        return Vec::new();
    };
    let root = tree.root_node();
    let mut lowerer = Lowerer { text, words, cursor: root.walk(), depth: 0, left: MAX_NODES };
    match language {
        Language::Shell => lowerer.shell_block(root),
        Language::PowerShell => lowerer.powershell_block(root),
        _ => lowerer.block(root),
    }
}

impl<'t> Lowerer<'t> {
    pub(super) fn source(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn line(&self, node: Node<'t>) -> u32 {
        u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
    }

    fn kind_of(&self, node: Node<'t>) -> &'static Kind {
        self.words.kind(node.kind_id())
    }

    /// The same as the node says, without reading it out of the grammar.
    pub(super) fn kind(&self, node: Node<'t>) -> &'static str {
        &self.kind_of(node).name
    }

    /// The named children, comments aside.
    pub(super) fn children(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        let words = self.words;
        let is_comment = |child: &Node<'t>| words.kind(child.kind_id()).name == "comment";
        let count = node.named_child_count();
        let mut children = Vec::with_capacity(count);
        if count == 1 {
            children.extend(node.named_child(0));
        } else if count > 1 {
            children.extend(node.named_children(&mut self.cursor));
        }
        children.retain(|child| !is_comment(child));
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

    fn field_text(&self, node: Node<'t>, field: u16) -> Option<&'t str> {
        node.child_by_field_id(field).map(|child| self.source(child))
    }
}
