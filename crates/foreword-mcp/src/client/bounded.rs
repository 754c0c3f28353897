//! What a server sends, counted as it arrives, so that no server can fill the memory.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use super::McpClientError;

/// How many of the longest messages a server may send until it answers a call.
const MAX_MESSAGES_PER_CALL: u64 = 16;

/// How deep a message may nest. The JSON reader gives up at 128, and a message that it gives up on is skipped
/// without a word.
const MAX_DEPTH: usize = 100;

/// What is known of a connection's traffic, shared by its thread and its callers.
#[derive(Debug)]
pub(super) struct Traffic {
    max_message: usize,
    since_call: AtomicU64,
    too_large: AtomicBool,
    too_deep: AtomicBool,
    flooded: AtomicBool,
    list_changed: AtomicBool,
    /// Why the last message got no answer over HTTP.
    http_fault: Mutex<Option<McpClientError>>,
    stopped: CancellationToken,
}

impl Traffic {
    pub(super) fn new(max_message: usize) -> Self {
        Self {
            max_message,
            since_call: AtomicU64::new(0),
            too_large: AtomicBool::new(false),
            too_deep: AtomicBool::new(false),
            flooded: AtomicBool::new(false),
            list_changed: AtomicBool::new(false),
            http_fault: Mutex::new(None),
            stopped: CancellationToken::new(),
        }
    }

    pub(super) fn begin_call(&self) {
        self.since_call.store(0, Ordering::SeqCst);
    }

    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }

    pub(super) fn stopped(&self) -> &CancellationToken {
        &self.stopped
    }

    pub(super) fn set_list_changed(&self) {
        self.list_changed.store(true, Ordering::SeqCst);
    }

    pub(super) fn take_list_changed(&self) -> bool {
        self.list_changed.swap(false, Ordering::SeqCst)
    }

    fn max_per_call(&self) -> u64 {
        (self.max_message as u64).saturating_mul(MAX_MESSAGES_PER_CALL)
    }

    pub(super) fn set_http_fault(&self, fault: McpClientError) {
        *self.http_fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    /// The cause behind an error: a connection that was closed for what came over it, or a message that
    /// reached no server.
    pub(super) fn explains(&self, error: McpClientError) -> McpClientError {
        if self.too_large.load(Ordering::SeqCst) {
            return McpClientError::TooLarge { limit: self.max_message };
        }
        if self.too_deep.load(Ordering::SeqCst) {
            return McpClientError::TooDeep { limit: MAX_DEPTH };
        }
        if self.flooded.load(Ordering::SeqCst) {
            return McpClientError::Flood { limit: self.max_per_call() };
        }
        let http = self.http_fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        http.unwrap_or(error)
    }
}

/// How deep the line being read is nested, as far as it was read.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Nesting {
    fn add(&mut self, byte: u8) {
        match byte {
            b'\n' => *self = Self::default(),
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = self.in_text,
            b'"' => self.in_text = !self.in_text,
            _ if self.in_text => {}
            b'[' | b'{' => self.depth = self.depth.saturating_add(1),
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// A reader that ends when a line is too long or nests too deep, or there is too much of everything.
pub(super) struct Bounded<R> {
    inner: R,
    traffic: Arc<Traffic>,
    line: usize,
    nesting: Nesting,
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, traffic: Arc<Traffic>) -> Self {
        Self { inner, traffic, line: 0, nesting: Nesting::default() }
    }

    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        let traffic = Arc::clone(&self.traffic);
        let total = bytes.len() as u64;
        let total = traffic.since_call.fetch_add(total, Ordering::SeqCst).saturating_add(total);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line = self.line.saturating_add(piece.len());
            if self.line > traffic.max_message {
                traffic.too_large.store(true, Ordering::SeqCst);
                return Err(io::Error::other("a message is too long"));
            }
            if piece.ends_with(b"\n") {
                self.line = 0;
            }
        }
        for byte in bytes {
            self.nesting.add(*byte);
            if self.nesting.depth > MAX_DEPTH {
                traffic.too_deep.store(true, Ordering::SeqCst);
                return Err(io::Error::other("a message nests too deep"));
            }
        }
        if total > traffic.max_per_call() {
            traffic.flooded.store(true, Ordering::SeqCst);
            return Err(io::Error::other("too many messages"));
        }
        Ok(())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.inner).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                let read = buffer.filled().get(before..).unwrap_or_default().to_vec();
                Poll::Ready(self.count(&read))
            }
            other => other,
        }
    }
}
