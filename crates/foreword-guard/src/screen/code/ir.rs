//! What all languages have in common, as far as it matters for what a program does.
//!
//! Control flow is left out on purpose: what a branch may do counts as done. Comments are not here.

use std::sync::Arc;

/// The name of an object of a class of the same file.
pub(crate) const INSTANCE: &str = "instance:";

/// Something that has a value.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    /// Only what flows into it is known.
    Unknown(Vec<Expr>),
    Text(Arc<str>),
    Number(i64),
    Name(Arc<str>),
    Member(Box<Expr>, Arc<str>),
    Index(Box<Expr>, Box<Expr>),
    /// Texts one after the other.
    Join(Vec<Expr>),
    List(Vec<Expr>),
    Map(Vec<(Arc<str>, Expr)>),
    Call(Box<Call>),
    Function(Box<Function>),
    /// One of these.
    Choice(Vec<Expr>),
    /// One entry of a list, whichever.
    Each(Box<Expr>),
    /// A list of everything that a value may be.
    Gather(Box<Expr>),
    /// A shell command; its value is what it prints.
    Command(Box<Command>),
}

/// A call of a function or method.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) callee: Expr,
    pub(crate) args: Vec<Expr>,
    pub(crate) named: Vec<(Arc<str>, Expr)>,
    pub(crate) line: u32,
}

/// How the name of a parameter begins that takes all further arguments.
pub(crate) const REST: char = '*';

/// A function, with or without a name.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) params: Vec<Arc<str>>,
    pub(crate) body: Vec<Stmt>,
}

impl Function {
    /// The place of the parameter that takes all further arguments.
    pub(crate) fn rest(&self) -> Option<usize> {
        self.params.iter().position(|param| param.starts_with(REST))
    }

    /// The names of its parameters, each with the argument that it gets.
    pub(crate) fn bound<'f, V: Clone + Default + 'f>(
        &'f self,
        args: &'f [V],
        gathered: impl Fn(&[V]) -> V + 'f,
    ) -> impl Iterator<Item = (Arc<str>, V)> + 'f {
        self.params.iter().enumerate().map(move |(place, param)| match param.strip_prefix(REST) {
            Some(name) => (name.into(), gathered(args.get(place..).unwrap_or_default())),
            None => (Arc::clone(param), args.get(place).cloned().unwrap_or_default()),
        })
    }
}

/// A command of a shell: its words, what it reads, where its output goes.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) words: Vec<Expr>,
    pub(crate) stdin: Option<Expr>,
    pub(crate) writes: Vec<Expr>,
    pub(crate) line: u32,
}

/// Something that is done.
#[derive(Debug, Clone)]
pub(crate) enum Stmt {
    /// A value gets names; a name may be `self.x`, or one field of the value.
    Bind {
        targets: Vec<Target>,
        value: Expr,
        extends: bool,
    },
    /// `local` names a module or a member of it.
    Import {
        module: Arc<str>,
        member: Option<Arc<str>>,
        local: Arc<str>,
        line: u32,
    },
    Define {
        name: Arc<str>,
        function: Arc<Function>,
    },
    /// What a parameter is if the caller does not say.
    Default {
        name: Arc<str>,
        value: Expr,
    },
    Do(Expr),
    Return(Expr),
    /// Repeats for ever.
    Endless {
        body: Vec<Stmt>,
        line: u32,
    },
}

/// A name that is bound, and to which part of the value.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) name: Arc<str>,
    /// The way to the part: names of fields, or places in lists.
    pub(crate) fields: Vec<Arc<str>>,
    /// Only this entry of the name is bound: `name[entry] = …`. Empty if it is not constant.
    pub(crate) entry: Option<Arc<str>>,
}

impl Target {
    pub(crate) fn whole(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), fields: Vec::new(), entry: None }
    }

    pub(crate) fn field(name: impl Into<Arc<str>>, field: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), fields: vec![field.into()], entry: None }
    }
}
