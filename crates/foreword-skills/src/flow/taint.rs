//! The gate before anything an agent may change: how much of its session came from outside.

use crate::error::SkillError;

/// What a session has taken in from outside, and how much is too much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaintState {
    /// The share of external content in the session, 0 to 1.
    pub ratio: f64,
    /// The ratio above which sensitive actions are refused.
    pub threshold: f64,
}

impl Default for TaintState {
    /// A session nothing came into, as on the command line.
    fn default() -> Self {
        Self { ratio: 0.0, threshold: 1.0 }
    }
}

impl TaintState {
    /// Whether the session holds external content, so that screening alone approves nothing.
    pub(crate) fn is_tainted(self) -> bool {
        self.ratio > 0.0
    }

    /// Lets a sensitive action pass, or not. What cannot be compared does not pass.
    pub fn check(self) -> Result<(), SkillError> {
        if self.ratio <= self.threshold {
            return Ok(());
        }
        Err(SkillError::Tainted { ratio: self.ratio, threshold: self.threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_itself_passes_and_nonsense_does_not() {
        let check = |ratio, threshold| TaintState { ratio, threshold }.check().is_ok();
        assert!(check(0.0, 0.1) && check(0.3, 0.3) && check(0.6, 0.6));
        assert!(!check(0.11, 0.1) && !check(0.300_001, 0.3) && !check(1.0, 0.6));
        assert!(!check(f64::NAN, 0.3) && !check(0.0, f64::NAN));
    }
}
