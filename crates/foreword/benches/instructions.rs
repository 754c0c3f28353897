//! How many instructions a build takes, which does not depend on the machine or its load:
//! `cargo bench -p foreword --bench instructions`.
//!
//! The program runs itself under valgrind once per case, and callgrind counts what happens inside
//! [`counted_metadata`] and [`counted_manifest`] alone.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it prints its figures")]

use std::hint::black_box;
use std::process::{Command, ExitCode};

use foreword::{Blueprint, Context};

#[allow(dead_code, reason = "the time benchmark uses the rest")]
mod inputs;

/// A prompt to build, and how much of its description is asked for.
struct Case {
    name: &'static str,
    blueprint: &'static str,
    context: fn() -> Option<Context>,
    build: fn(&Blueprint, &Context) -> usize,
}

const CASES: [Case; 4] = [
    Case {
        name: "guarded-integration-metadata",
        blueprint: "guarded",
        context: || Context::from_json(inputs::INTEGRATION).ok(),
        build: counted_metadata,
    },
    Case {
        name: "guarded-integration-manifest",
        blueprint: "guarded",
        context: || Context::from_json(inputs::INTEGRATION).ok(),
        build: counted_manifest,
    },
    Case {
        name: "standard-12000-characters",
        blueprint: "standard",
        context: || Context::from_value(inputs::working_day()).ok(),
        build: counted_metadata,
    },
    Case {
        name: "standard-500-skills-tight",
        blueprint: "standard",
        context: || Context::from_value(inputs::many_skills()).ok(),
        build: counted_metadata,
    },
];

/// Builds and frees a prompt with its metadata.
#[inline(never)]
fn counted_metadata(blueprint: &Blueprint, context: &Context) -> usize {
    usize::from(blueprint.build(black_box(context)).metadata().module_count > 0)
}

/// Builds and frees a prompt with its manifest.
#[inline(never)]
fn counted_manifest(blueprint: &Blueprint, context: &Context) -> usize {
    blueprint.build(black_box(context)).manifest().sections.len()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, name] = arguments.as_slice()
        && flag == "--case"
    {
        return run_case(name);
    }
    // `cargo test --benches` runs this too, without `--bench`: there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    for case in &CASES {
        match count(case) {
            Ok(instructions) => println!("{:<32} {instructions:>12} instructions", case.name),
            Err(message) => {
                eprintln!("{}: {message}", case.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Builds once before the counted build, so that what is computed once per process is not counted.
fn run_case(name: &str) -> ExitCode {
    let Some(case) = CASES.iter().find(|case| case.name == name) else {
        return ExitCode::FAILURE;
    };
    let (Some(blueprint), Some(context)) = (Blueprint::builtin(case.blueprint), (case.context)())
    else {
        return ExitCode::FAILURE;
    };
    drop(blueprint.build(&context));
    black_box((case.build)(&blueprint, &context));
    ExitCode::SUCCESS
}

fn count(case: &Case) -> Result<u64, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .args(["--toggle-collect=*counted_metadata*", "--toggle-collect=*counted_manifest*"])
        .arg(program)
        .args(["--case", case.name])
        .output()
        .map_err(|error| {
            format!("cannot start valgrind: {error}; install the package `valgrind`")
        })?;
    let report = String::from_utf8_lossy(&output.stderr);
    report
        .lines()
        .find_map(|line| line.split_once("Collected :"))
        .and_then(|(_, count)| count.trim().parse().ok())
        .filter(|count| output.status.success() && *count > 0)
        .ok_or_else(|| format!("valgrind counted nothing:\n{report}"))
}
