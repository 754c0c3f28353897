//! An MCP server over a workspace's prompts and skills, without a host, at standard input and
//! output: what the tests hand to real clients.
//!
//! `cargo run -p foreword-mcp --example serve_parts -- DIR`
//!
//! With an address and a token after it, over HTTP.

#[path = "../tests/it/parts/mod.rs"]
mod parts;

use std::sync::Arc;

use foreword_mcp::{HttpOptions, serve_http, serve_stdio};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let backend = |root: &str| Arc::new(parts::Parts::new(root.as_ref()));
    match words.as_slice() {
        [root] => serve_stdio(backend(root))?,
        [root, addr, token] => {
            let options = HttpOptions { addr: addr.parse()?, token: (*token).to_owned() };
            serve_http(backend(root), &options)?;
        }
        _ => return Err("say which workspace to serve: DIR, or DIR ADDRESS TOKEN".into()),
    }
    Ok(())
}
