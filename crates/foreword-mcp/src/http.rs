//! Clients over HTTP, on this machine, with a token.
//!
//! No sessions are kept: each request brings what it needs, so nothing grows with the number of
//! clients that came by.

mod connections;
mod head;

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::backend::Backend;
use crate::error::ServeError;
use crate::gate::Gate;
use crate::handler::Handler;
use crate::http::connections::{Connections, Place};
use crate::http::head::MAX_HEAD_BYTES;
use crate::work::runtime;

/// Where the server is.
const PATH: &str = "/mcp";
/// The largest request.
const LARGEST_BODY: usize = 4 << 20;
/// The pages that may ask, if a browser runs them: those of this machine.
const ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];

/// The limits of the server, apart from sizes.
#[derive(Clone, Copy)]
struct Limits {
    /// Connections at once. One more gets the place of an idle one, or waits if all have a request.
    connections: usize,
    /// How long a client may take to send the head, and then the body, of a request.
    patience: Duration,
    /// How long requests may take to finish once the server stops.
    grace: Duration,
}

const LIMITS: Limits =
    Limits { connections: 64, patience: Duration::from_secs(20), grace: Duration::from_secs(5) };

/// How to listen.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// An address of this machine only; port 0 for any.
    pub addr: SocketAddr,
    /// What clients send as `Authorization: Bearer TOKEN`; at least 16 characters.
    pub token: String,
}

/// A server that listens, and answers once it runs.
pub struct HttpServer {
    listener: TcpListener,
    addr: SocketAddr,
    door: Door,
    stop: CancellationToken,
}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(CancellationToken);

impl Stopper {
    /// Accepts no more requests and gives running ones a moment to finish.
    pub fn stop(&self) {
        self.0.cancel();
    }
}

/// Serves until the process is interrupted or terminated.
pub fn serve_http(backend: Arc<dyn Backend>, options: &HttpOptions) -> Result<(), ServeError> {
    HttpServer::bind(backend, options)?.run_until_signal()
}

impl HttpServer {
    /// Listens, at `/mcp` of an address. Clients wait until it runs.
    pub fn bind(backend: Arc<dyn Backend>, options: &HttpOptions) -> Result<Self, ServeError> {
        Self::bind_within(backend, options, LIMITS)
    }

    fn bind_within(
        backend: Arc<dyn Backend>,
        options: &HttpOptions,
        limits: Limits,
    ) -> Result<Self, ServeError> {
        let addr = options.addr;
        if !addr.ip().is_loopback() {
            return Err(ServeError::NotLoopback { addr });
        }
        let gate = Gate::new(&options.token)?;
        let listen = |source| ServeError::Listen { addr, source };
        let listener = TcpListener::bind(addr).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let addr = listener.local_addr().map_err(listen)?;

        let handler = Handler::new(backend);
        let ended = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_allowed_origins(ORIGINS)
            .with_max_request_body_bytes(LARGEST_BODY)
            .with_cancellation_token(ended.clone());
        let sessions = Arc::new(NeverSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
        let door = Door { gate: Arc::new(gate), service, ended, limits };
        Ok(Self { listener, addr, door, stop: CancellationToken::new() })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped.
    pub fn run(self) -> Result<(), ServeError> {
        self.run_with(None::<std::future::Pending<()>>)
    }

    /// Serves until it is stopped, or the process is interrupted or terminated.
    pub fn run_until_signal(self) -> Result<(), ServeError> {
        self.run_with(Some(signal()))
    }

    fn run_with(self, end: Option<impl Future<Output = ()>>) -> Result<(), ServeError> {
        let runtime = runtime().map_err(ServeError::Start)?;
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener);
            let listener = listener.map_err(ServeError::Start)?;
            let stop = self.stop.clone();
            let mut end = pin!(async {
                match end {
                    Some(end) => end.await,
                    None => std::future::pending().await,
                }
            });
            let mut accepting = pin!(accept(&listener, &self.door, &self.stop));
            tokio::select! {
                () = &mut end => stop.cancel(),
                () = &mut accepting => return Ok(()),
            }
            accepting.await;
            Ok(())
        });
        // A call that hangs does not keep the process.
        runtime.shutdown_background();
        served
    }
}

/// Accepts connections until it is stopped, then lets open ones finish.
async fn accept(listener: &tokio::net::TcpListener, door: &Door, stop: &CancellationToken) {
    let places = Connections::new(door.limits.connections);
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let stream = listener.accept().await?.0;
            Ok::<_, std::io::Error>((places.admit().await, stream))
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = next => match accepted {
                Ok((place, stream)) => {
                    let (door, stop) = (door.clone(), stop.clone());
                    connections.spawn(connection(stream, place, door, stop));
                    while connections.try_join_next().is_some() {}
                }
                // Out of files, most likely: some will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            },
        }
    }
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(door.limits.grace, finished).await;
    door.ended.cancel();
}

async fn connection(stream: TcpStream, place: Place, door: Door, stop: CancellationToken) {
    let patience = door.limits.patience;
    let requests = place.requests();
    let answer = service_fn(move |request| {
        let (door, request_in_progress) = (door.clone(), requests.begin());
        async move {
            let answer = door.answer(request).await;
            // The answer goes out after this: the connection is busy until all of it is written.
            Ok::<_, Infallible>(answer.map(|body| {
                let keep = move |frame| {
                    let _ = &request_in_progress;
                    frame
                };
                body.map_frame(keep).boxed()
            }))
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), answer)
    );
    // What goes wrong on a connection concerns its client, who sees it.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = place.evicted() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What stands between a connection and the protocol.
#[derive(Clone)]
struct Door {
    gate: Arc<Gate>,
    service: StreamableHttpService<Handler, NeverSessionManager>,
    ended: CancellationToken,
    limits: Limits,
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        let (head, body) = request.into_parts();
        if let Err((status, text)) = head::check(&head) {
            return plain(status, text);
        }
        if head.uri.path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the MCP server is at /mcp");
        }
        if !self.gate.admits(&head.headers) {
            let mut answer = plain(
                StatusCode::UNAUTHORIZED,
                "send the token of this server as `Authorization: Bearer TOKEN`",
            );
            let scheme = http::HeaderValue::from_static("Bearer realm=\"foreword\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return answer;
        }
        let too_large = || plain(StatusCode::PAYLOAD_TOO_LARGE, "a request may be at most 4 MiB");
        if usize::try_from(body.size_hint().lower()).map_or(true, |size| size > LARGEST_BODY) {
            return too_large();
        }
        let body = Limited::new(body, LARGEST_BODY).collect();
        let body = match tokio::time::timeout(self.limits.patience, body).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return too_large();
            }
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the request ended early"),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
        };
        self.service.handle(Request::from_parts(head, Full::new(body))).await
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    let content_type = http::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}

/// Waits for the first signal that ends a process.
async fn signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests;
