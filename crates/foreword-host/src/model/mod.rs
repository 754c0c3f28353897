//! The only way from an agent to a model.
//!
//! An agent has no credential and no network. Its loop calls the `model_call` action; `call_policy`
//! checks that the call carries the session's prompt and asks for nothing the provider would do on
//! its own (`allow_list`), and the message's budget (`spending`) that it may be paid; `proxy` adds the credential of the `upstream` server and retries; `stream` passes the
//! answer back as it arrives. `ask` makes the calls that are not an agent's: `second_opinion` on skills, and
//! summaries of long conversations.

mod allow_list;
pub(crate) mod ask;
pub(crate) mod call_policy;
pub(crate) mod proxy;
pub(crate) mod second_opinion;
mod stream;
pub(crate) mod upstream;
