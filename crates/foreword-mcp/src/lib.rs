//! The MCP server of Foreword.
//!
//! This crate owns how a [`Backend`] looks to an MCP client: its actions are tools, its skills are
//! resources (`foreword://skills/NAME`), its agents' prompts are prompts. It speaks over standard
//! input and output ([`serve_stdio`]) or over HTTP on this machine, with a token ([`HttpServer`]).
//! It must not decide what an action may do, and it opens no file and no database: that is the
//! backend's business, and [`SocketBackend`] leaves it to a host behind a socket.
//!
//! ```
//! use foreword_protocol::{ErrorCode, Failure};
//! use foreword_mcp::{Backend, HttpOptions, HttpServer, PromptInfo, SkillInfo, ToolInfo};
//! use serde_json::{Value, json};
//!
//! struct Clock;
//!
//! impl Backend for Clock {
//!     fn tools(&self) -> Vec<ToolInfo> {
//!         let input_schema = json!({"type": "object", "properties": {}});
//!         vec![ToolInfo {
//!             name: "now".to_owned(),
//!             description: "Tell the time.".to_owned(),
//!             input_schema,
//!             read_only: true,
//!             sensitive: false,
//!         }]
//!     }
//!     fn call(&self, _: &str, _: Value) -> Result<Value, Failure> {
//!         Ok(json!({"time": "2026-02-26T14:30:00Z"}))
//!     }
//!     fn skills(&self) -> Result<Vec<SkillInfo>, Failure> {
//!         Ok(Vec::new())
//!     }
//!     fn skill(&self, name: &str) -> Result<String, Failure> {
//!         Err(Failure::new(ErrorCode::NotFound, format!("there is no skill `{name}`")))
//!     }
//!     fn prompts(&self) -> Result<Vec<PromptInfo>, Failure> {
//!         Ok(Vec::new())
//!     }
//!     fn prompt(&self, name: &str, _: Option<&str>) -> Result<String, Failure> {
//!         Err(Failure::new(ErrorCode::NotFound, format!("there is no agent `{name}`")))
//!     }
//! }
//!
//! let options = HttpOptions { addr: "127.0.0.1:0".parse()?, token: "0123456789abcdef".to_owned() };
//! let server = HttpServer::bind(std::sync::Arc::new(Clock), &options)?;
//! assert!(server.addr().ip().is_loopback());
//! server.stopper().stop();
//! server.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backend;
mod client;
mod error;
mod gate;
mod handler;
mod http;
mod instructions;
mod log;
mod page;
mod refuse;
mod skill_uri;
#[cfg(unix)]
mod socket;
mod stdio;
mod tool;
mod work;

#[cfg(unix)]
pub use client::{ClientLimits, McpClient, McpClientError, OfferedTool, OfferedTools, ToolAnswer};

pub use backend::{Backend, PromptInfo, SkillInfo, ToolInfo, agent_tools};
pub use error::ServeError;

pub use http::{HttpOptions, HttpServer, Stopper, serve_http};
pub use refuse::refuse_stdio;
#[cfg(unix)]
pub use socket::{CommandRunner, SocketBackend};
pub use stdio::serve_stdio;
