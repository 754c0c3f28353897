//! Log messages for a client that asked for them: calls at `debug`, failed ones at `warning`.
//!
//! Newer revisions of the protocol drop logging; clients of the older ones still ask for it.
#![expect(deprecated, reason = "clients of older revisions ask for it")]

use std::sync::atomic::{AtomicU8, Ordering};

use foreword_protocol::Failure;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use serde_json::json;

/// No client has asked.
const SILENT: u8 = u8::MAX;

/// From which level on messages are sent; one for all clients of a server.
pub(crate) struct Log(AtomicU8);

impl Log {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(SILENT))
    }

    pub(crate) fn set(&self, level: LoggingLevel) {
        self.0.store(level as u8, Ordering::Relaxed);
    }

    /// Tells of a call that is done.
    pub(crate) async fn called(
        &self,
        tool: &str,
        failure: Option<&Failure>,
        context: &RequestContext<RoleServer>,
    ) {
        let level = if failure.is_some() { LoggingLevel::Warning } else { LoggingLevel::Debug };
        if (level as u8) < self.0.load(Ordering::Relaxed) {
            return;
        }
        let data = match failure {
            Some(failure) => {
                json!({"tool": tool, "code": failure.code.as_str(), "message": failure.message})
            }
            None => json!({"tool": tool}),
        };
        let message = LoggingMessageNotificationParam::new(level, data).with_logger("foreword");
        // A client that is gone needs no log.
        let _ = context.peer.notify_logging_message(message).await;
    }
}
