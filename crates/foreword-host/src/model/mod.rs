//! The way to the model: checks, policy, upstream.

pub(crate) mod call_policy;
pub(crate) mod proxy;
pub(crate) mod upstream;
