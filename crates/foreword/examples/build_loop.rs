//! Builds one Context many times: something for a profiler to look at.
//!
//! `cargo run --release -p foreword --example build_loop -- FILE BLUEPRINT BUILDS`
#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::hint::black_box;

use foreword::{Blueprint, Context};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(file), Some(blueprint), Some(builds)) = (args.next(), args.next(), args.next())
    else {
        return Err("FILE BLUEPRINT BUILDS".into());
    };
    let context = Context::from_json(&std::fs::read_to_string(file)?)?;
    let blueprint = Blueprint::builtin(&blueprint).ok_or("no such blueprint")?;
    let builds: u32 = builds.parse()?;
    let start = std::time::Instant::now();
    for _ in 0..builds {
        let prompt = blueprint.build(black_box(&context));
        black_box(prompt.metadata());
    }
    let each = start.elapsed() / builds;
    println!("{each:?} a build");
    Ok(())
}
