//! Times that come again, written in five fields.

/// A time that comes again, in UTC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {}

/// Why a text is no such time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    /// Not five fields.
    #[error(
        "a schedule has five fields (minute hour day month weekday), not {0}: such as `30 9 * * MON-FRI`"
    )]
    Fields(usize),
}

impl Cron {
    /// Reads five fields, or `@daily` and the like.
    ///
    /// # Errors
    ///
    /// [`CronError`], which names the field.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        Err(CronError::Fields(text.split_whitespace().count()))
    }

    /// The first minute after `unix_seconds` that it names; nothing where there is none.
    #[must_use]
    pub fn next_after(&self, unix_seconds: i64) -> Option<i64> {
        let _ = unix_seconds;
        None
    }
}
