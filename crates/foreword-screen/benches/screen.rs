//! How long screening takes: `cargo bench -p foreword-screen --bench screen`.
fn main() {
    divan::main();
}
