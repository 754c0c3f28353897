//! Which tools and skills fit a task, and why.

pub(crate) mod background;
pub(crate) mod exemplars;
pub(crate) mod fusion;
pub(crate) mod measures;
pub(crate) mod query_map;
pub(crate) mod selector;
#[cfg(test)]
pub(crate) mod selector_tests;
