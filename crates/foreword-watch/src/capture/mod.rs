//! Captures: private files that hold what was sent and answered, redacted.
//!
//! A capture is a file of JSON lines: what was started, one line per call, and the end. Lines are only
//! appended, so a capture that ends in the middle can still be read up to there. Whatever could be a
//! credential is removed before a line is written: headers are stored by a list of harmless ones, the values
//! of queries are left out, and bodies pass the table of secrets of foreword-guard together with the
//! credentials of the call itself.

mod body;
mod escapes;
mod record;
mod recorder;
mod redaction;
mod store;

pub use self::record::Capture;
pub(crate) use self::record::RecordedCall;
pub(crate) use self::recorder::secrets_of as secrets_in;
pub use self::recorder::{CallSummary, Recorder};
pub(crate) use self::redaction::Credentials;
pub use self::store::{CaptureEntry, CaptureStore};
