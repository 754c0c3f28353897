//! A client at standard input and output.

use std::sync::Arc;

use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

use crate::backend::Backend;
use crate::error::ServeError;
use crate::handler::Handler;
use crate::work::runtime;

/// The longest message; longer ones are dropped without being kept in memory.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Serves the client that started this process, until it closes standard input.
///
/// Only this server may write to standard output in the meantime.
pub fn serve_stdio(backend: Arc<dyn Backend>) -> Result<(), ServeError> {
    let runtime = runtime().map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport =
            AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_MESSAGE_BYTES);
        let running = match rmcp::serve_server(Handler::new(backend), transport).await {
            Ok(running) => running,
            // It looked in and left.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(error.to_string())),
        };
        let quit = running.waiting().await;
        quit.map(|_| ()).map_err(|error| ServeError::Broken(error.to_string()))
    });
    // A call that hangs, or a terminal that is still being read, does not keep the process.
    runtime.shutdown_background();
    served
}
