//! The limit on calls per second: a token bucket.

use std::time::{Duration, Instant};

/// The largest burst, in seconds' worth of calls.
const BURST: f64 = 2.0;

/// A bucket that fills with time and loses one token per call.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_second: f64,
    left: f64,
    filled: Instant,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32, now: Instant) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, left: per_second * BURST, filled: now }
    }

    /// Takes a token, or says how long to wait for one.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let passed = now.saturating_duration_since(self.filled).as_secs_f64();
        self.left = (self.left + passed * self.per_second).min(self.per_second * BURST);
        self.filled = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.left) / self.per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_empties_and_fills() {
        let start = Instant::now();
        let mut rate_limit = RateLimit::new(10, start);
        let taken = (0..100).filter(|_| rate_limit.take(start).is_ok()).count();
        assert_eq!(taken, 20);
        let wait = rate_limit.take(start).unwrap_err();
        assert!(wait <= Duration::from_millis(101), "{wait:?}");
        let later = start + Duration::from_millis(500);
        assert_eq!((0..100).filter(|_| rate_limit.take(later).is_ok()).count(), 5);
        let much_later = start + Duration::from_secs(3600);
        assert_eq!((0..100).filter(|_| rate_limit.take(much_later).is_ok()).count(), 20);
    }
}
