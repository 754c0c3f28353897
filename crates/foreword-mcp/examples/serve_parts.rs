//! An MCP server over a workspace's prompts and skills, without a host, at standard input and
//! output: what the tests hand to real clients.
//!
//! `cargo run -p foreword-mcp --example serve_parts -- DIR`

#[path = "../tests/parts/mod.rs"]
mod parts;

use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args_os().nth(1).ok_or("say which workspace to serve")?;
    foreword_mcp::serve_stdio(Arc::new(parts::Parts::new(root.as_ref())))?;
    Ok(())
}
