//! What the guard of answers costs: `cargo bench -p foreword-guard --bench guard`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foreword_guard::{Canary, Detector, OutputGuard, Trust, external_content, redact};

fn main() {
    divan::main();
}

/// About 64 KB of an answer: prose, a list, code, a hash, and a secret now and then.
fn answer() -> String {
    let part = "\
The deploy failed because the migration was not run first. Three things to do:\n\n\
- run `cargo sqlx migrate run` on the staging host (3b18e512dba79e4c8300dd08aeb37f8e728b8dad);\n\
- tag the release, and tell the others in https://chat.example/deploys;\n\
- check `Authorization: Bearer $TOKEN` in the pipeline.\n\n\
```rust\nfn main() {\n    let key = std::env::var(\"ACME_KEY\").unwrap_or_default();\n    println!(\"{}\", key.len());\n}\n```\n\n";
    let mut text = String::new();
    while text.len() < 64 * 1024 {
        text.push_str(part);
    }
    text
}

fn canary() -> Canary {
    Canary::from_random(*b"0123456789abcdef")
}

#[divan::bench]
fn detector_made(bencher: Bencher<'_, '_>) {
    bencher.bench(|| Detector::new(black_box(&[canary()])));
}

#[divan::bench]
fn canary_looked_for(bencher: Bencher<'_, '_>) {
    let (text, detector) = (answer(), Detector::new(&[canary()]));
    bencher.counter(BytesCount::new(text.len())).bench(|| detector.find(black_box(&text)));
}

#[divan::bench]
fn secrets_redacted(bencher: Bencher<'_, '_>) {
    let text = answer();
    bencher.counter(BytesCount::new(text.len())).bench(|| redact(black_box(&text)));
}

/// In pieces of about four characters, as models send them.
#[divan::bench]
fn answer_streamed(bencher: Bencher<'_, '_>) {
    let (text, detector) = (answer(), Detector::new(&[canary()]));
    let chars: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = chars.chunks(4).map(|piece| piece.iter().collect()).collect();
    bencher.counter(BytesCount::new(text.len())).bench(|| {
        let mut guard = OutputGuard::with_detector(&detector, &["a-credential-of-the-host"]);
        let shown: usize =
            pieces.iter().map(|piece| guard.push(piece).map_or(0, |shown| shown.len())).sum();
        (shown, guard.finish().is_ok())
    });
}

#[divan::bench]
fn content_framed(bencher: Bencher<'_, '_>) {
    let text = answer();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| external_content("https://a.test/", Trust::External, black_box(&text)));
}
