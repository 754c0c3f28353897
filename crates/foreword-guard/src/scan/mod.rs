//! The injection scanner: does a text try to steer the agent that reads it?
//!
//! How a text is judged, in order:
//!
//! 1. `reading` makes it comparable and takes disguises off (`cipher`, `spelling`, and what
//!    foreword-guard decodes); every reading is looked at;
//! 2. `windows` cuts each reading, so that an attack in a long text is not diluted by it;
//! 3. `features` hashes the n-grams of a window and notes a few facts;
//! 4. `head` weighs them with the vector of the window: a table fitted by `tools/model`;
//! 5. `scanner` takes the worst window and says why.
//!
//! `patterns` compares with the committed examples instead, for embedders without a fitted head.
//! A verdict is a signal: what keeps untrusted text from being obeyed is the fence around it.

pub(crate) mod gate;

mod cipher;
mod examples;
mod features;
mod figures;
mod head;
mod patterns;
mod reading;
mod scanner;
mod screener;
mod spelling;
mod training;
mod verdict;
mod windows;

pub use examples::{Example, injection_examples};
pub use figures::{GroupFigures, InjectionFigures, Judged};
pub use patterns::Patterns;
pub use scanner::Scanner;
pub use screener::InjectionScreener;
pub use training::{TrainingWindow, training_windows};
pub use verdict::{Scan, ScanVerdict};
