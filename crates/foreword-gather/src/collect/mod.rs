//! What the workspace says: agents, layers, tools, skills and the blueprint, as a Context.

pub(crate) mod blueprint;
pub(crate) mod gather;
pub(crate) mod import_tools;
pub(crate) mod prompts;
pub(crate) mod skills;
pub(crate) mod surfaces;
pub(crate) mod text;
pub(crate) mod tools;
