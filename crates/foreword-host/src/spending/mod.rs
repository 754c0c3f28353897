//! Limits on what agents may spend: tokens, money and time per turn, session and day.
//!
//! `limits` says what they are, from the person's settings and the workspace; `prices` what models
//! cost; `budget` holds the agents of one message to them. The model proxy asks the budget before each
//! call, with an estimate of the prompt and the most the model may write, and reports afterwards what
//! the call really used.

pub(crate) mod budget;
mod limits;
mod prices;

pub use limits::{DEFAULT_LIMITS, LimitReached, Limits, Measure, Period, dollars, usd};
pub use prices::load_prices;
