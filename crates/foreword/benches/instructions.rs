//! How many instructions a build takes, which does not depend on the machine or its load:
//! `cargo bench -p foreword --bench instructions`.
//!
//! It needs valgrind and the runner of the same version as the library.

#![expect(clippy::print_stderr, reason = "it says what is missing")]

use std::process::{Command, ExitCode, Stdio};

#[allow(dead_code, reason = "the time benchmark uses the rest")]
mod inputs;

/// Everything the macros of gungraun write.
mod counted {
    #![allow(
        missing_docs,
        unused_qualifications,
        unreachable_pub,
        clippy::all,
        clippy::expect_used,
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stderr,
        clippy::map_unwrap_or,
        clippy::needless_pass_by_value,
        clippy::semicolon_if_nothing_returned,
        reason = "generated code"
    )]

    use std::hint::black_box;

    use foreword::{Blueprint, Context};
    use gungraun::{library_benchmark, library_benchmark_group, main};

    use super::inputs;

    fn integration(name: &str) -> (Blueprint, Context) {
        warm(name, Context::from_json(inputs::INTEGRATION))
    }

    fn working_day(name: &str) -> (Blueprint, Context) {
        warm(name, Context::from_value(inputs::working_day()))
    }

    fn many_skills(name: &str) -> (Blueprint, Context) {
        warm(name, Context::from_value(inputs::many_skills()))
    }

    /// Built once, so that what is computed once per process is not counted.
    fn warm<E: std::fmt::Debug>(name: &str, context: Result<Context, E>) -> (Blueprint, Context) {
        let blueprint = Blueprint::builtin(name).expect("it is built in");
        let context = context.expect("the input is right");
        drop(blueprint.build(&context));
        (blueprint, context)
    }

    // The inputs are handed back, so that freeing them is not counted; freeing the prompt is.
    #[library_benchmark]
    #[bench::guarded_integration(integration("guarded"))]
    #[bench::standard_12000_characters(working_day("standard"))]
    #[bench::standard_500_skills_tight(many_skills("standard"))]
    fn with_metadata((blueprint, context): (Blueprint, Context)) -> (Blueprint, Context) {
        let prompt = blueprint.build(black_box(&context));
        black_box(prompt.metadata().module_count);
        drop(prompt);
        (blueprint, context)
    }

    #[library_benchmark]
    #[bench::guarded_integration(integration("guarded"))]
    fn with_manifest((blueprint, context): (Blueprint, Context)) -> (Blueprint, Context) {
        let prompt = blueprint.build(black_box(&context));
        black_box(prompt.manifest().sections.len());
        drop(prompt);
        (blueprint, context)
    }

    library_benchmark_group!(name = builds; benchmarks = with_metadata, with_manifest);
    main!(library_benchmark_groups = builds);

    pub(super) fn run() {
        main();
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let called_by_runner = arguments.next().is_some_and(|first| first == "--gungraun-run");
    // `cargo test --benches` runs this too, without `--bench`: there is nothing to test.
    if !called_by_runner && !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    if !called_by_runner && let Some(missing) = missing() {
        eprintln!("instruction counts need {missing}");
        return ExitCode::FAILURE;
    }
    counted::run();
    ExitCode::SUCCESS
}

fn missing() -> Option<&'static str> {
    let runner = option_env!("GUNGRAUN_RUNNER").unwrap_or("gungraun-runner");
    let starts = |program: &str| {
        Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok()
    };
    if !starts("valgrind") {
        return Some("valgrind: install it with the package manager of your system (Linux only)");
    }
    (!starts(runner)).then_some(
        "gungraun-runner of the version in Cargo.lock: `cargo install --locked gungraun-runner --version 0.20.0`",
    )
}
