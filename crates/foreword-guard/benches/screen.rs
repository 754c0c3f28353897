//! How long screening takes: `cargo bench -p foreword-guard --bench screen`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foreword_guard::{PatternScreener, Policy, Screener, normalise};

fn main() {
    divan::main();
}

/// A skill of about 10 KB as many are: prose, lists, a table, shell and Python in fences.
fn skill() -> String {
    let section = "\
## Working with reports\n\n\
Read the data first, then write a short summary for the user. Always check the totals against the\n\
source, and never change the original file without asking. If something is missing, say so.\n\n\
- Use the `reports` folder for output, one file per month.\n\
- Send the summary to the user when it is done; do not post it anywhere else.\n\
- Keep API keys in the environment: `export ACME_API_KEY=...`.\n\n\
| Field | Meaning |\n|---|---|\n| total | the sum of all rows |\n| date | when it was made |\n\n\
```bash\npip install pandas requests\ncurl -s https://api.acme.example/v1/items -H \"Authorization: Bearer $ACME_API_KEY\" | jq .\n\
python scripts/report.py --input data.csv > report.md\n```\n\n\
```python\nimport os\nimport requests\n\nitems = requests.get(URL, headers={\"X-Key\": os.environ[\"ACME_API_KEY\"]}).json()\nprint(len(items))\n```\n\n";
    let mut text =
        "---\nname: reports\ndescription: Makes monthly reports.\n---\n\n# Reports\n\n".to_owned();
    while text.len() < 10 * 1024 {
        text.push_str(section);
    }
    text
}

#[divan::bench(args = [Policy::Agent, Policy::Import])]
fn ten_kilobytes(bencher: Bencher<'_, '_>, policy: Policy) {
    let text = skill();
    let screener = PatternScreener::new(policy);
    bencher.counter(BytesCount::new(text.len())).bench(|| screener.screen(black_box(&text), &[]));
}

#[divan::bench(args = [Policy::Agent, Policy::Import])]
fn a_megabyte(bencher: Bencher<'_, '_>, policy: Policy) {
    let text = skill().repeat(100);
    let screener = PatternScreener::new(policy);
    bencher.counter(BytesCount::new(text.len())).bench(|| screener.screen(black_box(&text), &[]));
}

#[divan::bench]
fn normalisation(bencher: Bencher<'_, '_>) {
    let text = skill();
    bencher.counter(BytesCount::new(text.len())).bench(|| normalise(black_box(&text)));
}
