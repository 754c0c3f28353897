//! What a program does to the world around it.

use std::rc::Rc;

use super::value::Marks;

/// One thing that a program does.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    pub(crate) act: Act,
    /// The address, path, program or text that it is about.
    pub(crate) target: Rc<str>,
    /// Where what it uses came from.
    pub(crate) marks: Marks,
    /// Of these, what only proves who calls: headers, user and password.
    pub(crate) proof: Marks,
    pub(crate) file: usize,
    pub(crate) line: u32,
}

/// The kinds of what a program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Act {
    /// A request over HTTP.
    Http,
    /// A connection of another kind.
    Connect,
    /// A name is looked up.
    Lookup,
    /// A mail is sent.
    Mail,
    /// A copy to another machine, or a push to a repository.
    Copy,
    /// Text goes to the clipboard.
    Clip,
    /// A program is started.
    Program,
    /// Code that came from elsewhere runs.
    Evaluate,
    /// Code that was disguised runs.
    Disguise,
    /// A shell is joined to a connection.
    RemoteShell,
    /// A shell starts that takes its orders from its input.
    Shell,
    /// A secret is read.
    ReadSecret,
    /// A place where secrets lie is named.
    NameSecret,
    /// Another machine is let in: a tunnel, a remote login.
    Tunnel,
    /// Much is deleted that lies elsewhere: in a cluster, in backups.
    Wipe,
    Write,
    Delete,
    /// Something is made to start on its own.
    Persist,
    /// Packages are installed.
    Install,
    /// A package is replaced by another that the program names.
    Replace,
    /// The links of a text are made to lead elsewhere.
    Relink,
    /// Cryptocurrency is mined.
    Mine,
    /// An account with all rights is made.
    Account,
    /// An address for payments takes the place of another.
    Payee,
    /// Requests without an end.
    Flood,
    /// A protection is switched off, or a trace removed.
    Lower,
    /// A password is asked for.
    AskPassword,
    /// Another machine may connect.
    Listen,
    /// A module is loaded from an address.
    LoadRemote,
}

/// The target of an [`Act::Write`] that adds to the instructions of a skill.
pub(crate) const APPENDED: &str = "SKILL.md of a skill";
