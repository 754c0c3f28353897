//! The injection scanner: does a text try to steer the agent that reads it?
//!
//! How a text is judged, in order:
//!
//! 1. `document` reads HTML, JSON, mails and text from PDFs as what they are: what is shown, what is
//!    hidden, attributes and comments are parts of their own;
//! 2. `reading` makes a part comparable and takes disguises off where there are any (`cipher`,
//!    `spelling`, and what foreword-guard decodes); every reading is looked at;
//! 3. `windows` cuts each reading into blocks, so that an attack in a long text is not diluted by it;
//! 4. `features` hashes the n-grams of a block and notes whom it addresses and what it asks for
//!    (`lexicon`);
//! 5. `head` weighs two neighbouring blocks with their vector: a table fitted by `tools/model`;
//! 6. `document_score` weighs the worst window against the rest of its document;
//! 7. `exemplars` compares a short text as a whole with attacks and harmless texts that were seen;
//! 8. `scanner` says where and why;
//! 9. `screener` reads skills with a second table, fitted on instructions that work against the user.
//!
//! `patterns` compares with the committed examples instead, for embedders without a fitted head.
//! A verdict is a signal: what keeps untrusted text from being obeyed is the fence around it.

pub(crate) mod gate;

mod cipher;
mod document;
mod document_score;
mod examples;
mod exemplars;
mod features;
mod figures;
mod head;
mod hidden_units;
mod lexicon;
mod nearby;
mod patterns;
mod program_words;
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
pub(crate) use screener::{HARMFUL_INSTRUCTION, HARMFUL_PROGRAM};
pub use training::{
    TrainingBlock, TrainingReading, training_pairs, training_program, training_readings,
};
pub use verdict::{Scan, ScanFinding, ScanVerdict};
