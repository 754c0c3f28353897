//! Security profiles.

use crate::names::names;

names! {
    /// How much external content a session may contain before sensitive actions are refused.
    ///
    /// ```
    /// use foreword::Profile;
    ///
    /// assert_eq!(Profile::default(), Profile::Balanced);
    /// assert!(Profile::Paranoid.threshold() < Profile::Yolo.threshold());
    /// ```
    pub enum Profile: "profile", default Balanced {
        /// At most 10% external content.
        Paranoid = "paranoid",
        /// At most 30% external content.
        Balanced = "balanced",
        /// At most 60% external content.
        Yolo = "yolo",
    }
}

impl Profile {
    /// The ratio of external tokens above which sensitive actions are refused.
    pub fn threshold(self) -> f64 {
        match self {
            Self::Paranoid => 0.10,
            Self::Balanced => 0.30,
            Self::Yolo => 0.60,
        }
    }
}
