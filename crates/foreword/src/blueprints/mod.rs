//! Blueprints: ordered sets of modules, as data.

pub(crate) mod blueprint;
pub(crate) mod parse;
pub(crate) mod when;
