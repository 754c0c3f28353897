//! placeholder

mod estimate;
pub use estimate::{Measured, Meter, estimate};
