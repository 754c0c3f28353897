//! What a grammar calls its nodes and fields, looked up once per process.

use std::sync::OnceLock;

use tree_sitter::Language as Grammar;

use super::expressions::ExpressionKind;
use super::statements::StatementKind;
use crate::screen::code::language::Language;

/// One kind of node.
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) statement: StatementKind,
    pub(super) expression: ExpressionKind,
}

impl Kind {
    fn of(name: &str) -> Self {
        let (statement, expression) = (StatementKind::of(name), ExpressionKind::of(name));
        Self { name: name.to_owned(), statement, expression }
    }
}

macro_rules! vocabulary {
    ($($field:ident)*) => {
        /// The kinds of nodes by number, and the number of each field; 0 if the grammar has none.
        pub(super) struct Vocabulary {
            kinds: Vec<Kind>,
            error: Kind,
            $(pub(super) $field: u16,)*
        }

        impl Vocabulary {
            fn new(grammar: &Grammar) -> Self {
                let ids = (0u16..).take(grammar.node_kind_count());
                let name = |id| grammar.node_kind_for_id(id).unwrap_or_default();
                Self {
                    kinds: ids.map(|id| Kind::of(name(id))).collect(),
                    error: Kind::of("ERROR"),
                    $($field: grammar.field_id_for_name(stringify!($field)).map_or(0, u16::from),)*
                }
            }
        }
    };
}

vocabulary! {
    alias arguments attribute block body condition constructor destination function index key left
    method module_name name object operator parameter parameters pattern property receiver right
    source subscript value variable
}

impl Vocabulary {
    /// `None` for a language without a grammar.
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        static ALL: [OnceLock<Vocabulary>; 7] = [const { OnceLock::new() }; 7];
        let [shell, python, javascript, typescript, tsx, powershell, ruby] = &ALL;
        let own = match language {
            Language::Shell => shell,
            Language::Python => python,
            Language::JavaScript => javascript,
            Language::TypeScript => typescript,
            Language::Tsx => tsx,
            Language::PowerShell => powershell,
            Language::Ruby => ruby,
            Language::Loose(_) => return None,
        };
        let grammar = language.grammar()?;
        Some(own.get_or_init(|| Self::new(&grammar)))
    }

    /// The kind with this number; the number of an error is outside the grammar.
    pub(super) fn kind(&self, id: u16) -> &Kind {
        self.kinds.get(usize::from(id)).unwrap_or(&self.error)
    }
}
