//! How long a build takes: `cargo bench -p foreword --bench build`.

#![expect(clippy::expect_used, reason = "a benchmark whose input is wrong must stop")]

mod inputs;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foreword::{Blueprint, Context, Prompt};
use serde_json::json;

fn main() {
    divan::main();
}

fn blueprint(name: &str) -> Blueprint {
    Blueprint::builtin(name).expect("it is built in")
}

/// Measures builds of one Context, with what the caller takes from the prompt.
fn measure<T>(
    bencher: Bencher<'_, '_>,
    name: &str,
    context: &Context,
    take: impl Fn(&Prompt) -> T + Sync,
) {
    let blueprint = blueprint(name);
    let bytes = blueprint.build(context).text().len();
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        let prompt = blueprint.build(black_box(context));
        drop(black_box(take(&prompt)));
        prompt
    });
}

fn integration() -> Context {
    Context::from_json(inputs::INTEGRATION).expect("the example is right")
}

fn context(json: serde_json::Value) -> Context {
    Context::from_value(json).expect("the input is right")
}

#[divan::bench]
fn guarded_with_metadata(bencher: Bencher<'_, '_>) {
    measure(bencher, "guarded", &integration(), |prompt| prompt.metadata().module_count);
}

#[divan::bench]
fn guarded_with_manifest(bencher: Bencher<'_, '_>) {
    measure(bencher, "guarded", &integration(), |prompt| prompt.manifest().sections.len());
}

#[divan::bench]
fn guarded_with_digests(bencher: Bencher<'_, '_>) {
    measure(bencher, "guarded", &integration(), |prompt| prompt.manifest_with_digests().digest);
}

#[divan::bench]
fn standard_12000_characters(bencher: Bencher<'_, '_>) {
    let context = context(inputs::working_day());
    measure(bencher, "standard", &context, |prompt| prompt.metadata().module_count);
}

#[divan::bench]
fn standard_500_skills_tight(bencher: Bencher<'_, '_>) {
    let context = context(inputs::many_skills());
    measure(bencher, "standard", &context, |prompt| prompt.metadata().module_count);
}

/// The same skill 5, 50 and 500 times with room for all: the time per byte must not grow.
#[divan::bench(args = [5, 50, 500], sample_count = 40)]
fn standard_grows_with_skills(bencher: Bencher<'_, '_>, skills: usize) {
    let context = context(inputs::scaled(skills));
    measure(bencher, "standard", &context, |prompt| prompt.metadata().module_count);
}

/// One document, hostile in every line, 10 and 100 times as long.
#[divan::bench(args = [40, 400, 4000], sample_count = 40)]
fn hostile_document(bencher: Bencher<'_, '_>, lines: usize) {
    let context = context(json!({
        "contextContent": inputs::hostile(lines), "contextWindow": 10_000_000
    }));
    measure(bencher, "standard", &context, |prompt| prompt.metadata().module_count);
}

/// The same as untrusted text.
#[divan::bench(args = [40, 400, 4000], sample_count = 40)]
fn hostile_skill(bencher: Bencher<'_, '_>, lines: usize) {
    let context = context(json!({
        "skills": [{"name": "x", "body": inputs::hostile(lines)}], "contextWindow": 10_000_000
    }));
    measure(bencher, "guarded", &context, |prompt| prompt.metadata().module_count);
}

#[divan::bench(args = ["english", "hostile"])]
fn estimate(bencher: Bencher<'_, '_>, kind: &str) {
    let text = match kind {
        "english" => blueprint("standard").build(&context(inputs::working_day())).text().to_owned(),
        _ => inputs::hostile(400),
    };
    bencher.counter(BytesCount::of_str(&text)).bench(|| foreword::estimate(black_box(&text)));
}

#[divan::bench]
fn read_context_json(bencher: Bencher<'_, '_>) {
    bencher
        .counter(BytesCount::of_str(inputs::INTEGRATION))
        .bench(|| Context::from_json(black_box(inputs::INTEGRATION)));
}
