//! The thread of a connection: a runtime of its own, and nothing in it that waits without end.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest,
    CustomResult, Implementation, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::{Map, Value};
use tokio::net::unix::pipe;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::bounded::{Bounded, Traffic};
use super::messages::{OfferedTool, OfferedTools, ToolAnswer};
use super::{ClientLimits, McpClientError};
use crate::work::runtime;

/// Pages and tools of one list.
const MAX_PAGES: usize = 1000;
const MAX_TOOLS: usize = 10_000;
/// How much of a server's own words an error repeats.
const MAX_REPEATED_CHARS: usize = 500;

/// A question of a caller, and where its answer goes.
pub(super) struct Request {
    pub(super) wanted: Wanted,
}

pub(super) enum Wanted {
    Tools(Sender<Result<OfferedTools, McpClientError>>),
    Call {
        tool: String,
        arguments: Map<String, Value>,
        reply: Sender<Result<ToolAnswer, McpClientError>>,
    },
}

/// What a server is told of us: we can do nothing for it.
struct Listener {
    traffic: Arc<Traffic>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("foreword", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.traffic.set_list_changed();
    }
}

/// Holds a connection until its client is dropped or the server is gone.
pub(super) fn run(
    output: OwnedFd,
    input: OwnedFd,
    limits: ClientLimits,
    traffic: &Arc<Traffic>,
    requests: UnboundedReceiver<Request>,
    ready: &Sender<Result<(), McpClientError>>,
) {
    let failed = |error: std::io::Error| McpClientError::Io(error.to_string());
    let done = runtime().map_err(failed).and_then(|runtime| {
        runtime.block_on(hold(output, input, limits, traffic, requests, ready))
    });
    if let Err(error) = done {
        let _ = ready.send(Err(error));
    }
}

async fn hold(
    output: OwnedFd,
    input: OwnedFd,
    limits: ClientLimits,
    traffic: &Arc<Traffic>,
    mut requests: UnboundedReceiver<Request>,
    ready: &Sender<Result<(), McpClientError>>,
) -> Result<(), McpClientError> {
    let failed = |error: std::io::Error| McpClientError::Io(error.to_string());
    let output = pipe::Receiver::from_owned_fd(output).map_err(failed)?;
    let input = pipe::Sender::from_owned_fd(input).map_err(failed)?;
    // Lines are bounded before they are read.
    let reader = Bounded::new(output, Arc::clone(traffic));
    let transport = AsyncRwTransport::new_client(reader, input).with_max_line_length(usize::MAX);
    let listener = Listener { traffic: Arc::clone(traffic) };
    let service = match timeout(limits.start, listener.serve(transport)).await {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => return Err(not_introduced(error)),
        Err(_) => return Err(McpClientError::TimedOut(limits.start)),
    };
    let _ = ready.send(Ok(()));
    loop {
        let request = tokio::select! {
            () = traffic.stopped().cancelled() => break,
            request = requests.recv() => request,
        };
        let Some(request) = request else { break };
        let peer = service.peer().clone();
        tokio::spawn(answer(peer, request, limits.call));
    }
    let _ = timeout(Duration::from_millis(200), service.cancel()).await;
    Ok(())
}

async fn answer(peer: Peer<RoleClient>, request: Request, limit: Duration) {
    let late = McpClientError::TimedOut(limit);
    match request.wanted {
        Wanted::Tools(reply) => {
            let _ = reply.send(timeout(limit, tools(&peer)).await.unwrap_or(Err(late)));
        }
        Wanted::Call { tool, arguments, reply } => {
            let called = timeout(limit, call(&peer, tool, arguments)).await;
            let _ = reply.send(called.unwrap_or(Err(late)));
        }
    }
}

/// Why a server did not introduce itself.
fn not_introduced(error: ClientInitializeError) -> McpClientError {
    match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => McpClientError::EndedAtStart,
        ClientInitializeError::JsonRpcError(error) => {
            McpClientError::Refused(repeated(&error.message))
        }
        other => McpClientError::Protocol(repeated(&other.to_string())),
    }
}

async fn tools(peer: &Peer<RoleClient>) -> Result<OfferedTools, McpClientError> {
    let mut tools = OfferedTools::default();
    let mut seen = HashSet::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ListToolsRequest { params: Some(params), ..ListToolsRequest::default() };
        let request = ClientRequest::ListToolsRequest(request);
        let next = match peer.send_request(request).await.map_err(fault)? {
            ServerResult::ListToolsResult(page) => {
                tools.tools.extend(page.tools.iter().map(OfferedTool::of));
                page.next_cursor
            }
            // One tool that is none makes the whole page another kind of answer.
            ServerResult::CustomResult(CustomResult(page)) => tools.add_page(&page)?,
            _ => return Err(McpClientError::Protocol("it did not list its tools".to_owned())),
        };
        if tools.tools.len() > MAX_TOOLS {
            let message = format!("it lists more than {MAX_TOOLS} tools");
            return Err(McpClientError::Protocol(message));
        }
        cursor = next;
        match &cursor {
            None => return Ok(tools),
            Some(next) if !seen.insert(next.clone()) => {
                let message = "its list of tools begins again and again".to_owned();
                return Err(McpClientError::Protocol(message));
            }
            Some(_) => {}
        }
    }
    Err(McpClientError::Protocol(format!("its list of tools has more than {MAX_PAGES} pages")))
}

async fn call(
    peer: &Peer<RoleClient>,
    tool: String,
    arguments: Map<String, Value>,
) -> Result<ToolAnswer, McpClientError> {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments);
    match peer.call_tool_once(params).await.map_err(fault)? {
        CallToolResponse::Complete(result) => Ok(ToolAnswer::of(&result)),
        _ => {
            let message = "it asks for more input, which Foreword does not give".to_owned();
            Err(McpClientError::Refused(message))
        }
    }
}

fn fault(error: ServiceError) -> McpClientError {
    match error {
        ServiceError::McpError(error) => McpClientError::Refused(repeated(&error.message)),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => McpClientError::Closed,
        ServiceError::Cancelled { .. } => McpClientError::Closed,
        other => McpClientError::Protocol(repeated(&other.to_string())),
    }
}

/// A server's own words, on one line and cut.
fn repeated(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(MAX_REPEATED_CHARS).collect()
}
