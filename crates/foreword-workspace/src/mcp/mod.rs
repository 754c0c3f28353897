//! MCP servers: what a workspace names, what the person says of them, and the tool lists they reviewed.

pub(crate) mod json_file;
pub(crate) mod server;
pub(crate) mod tool_list;
