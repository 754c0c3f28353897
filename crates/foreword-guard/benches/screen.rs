//! How long screening takes: `cargo bench -p foreword-guard --bench screen`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use foreword_guard::{
    InjectionScreener, PatternScreener, Policy, Scanner, Screener, SkillFile, normalise,
    screen_folder,
};

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

/// A skill with 200 KB of code: Python, shell, JavaScript and TypeScript, 50 KB each, in 16 files.
fn folder() -> Vec<(String, String)> {
    let python = "\
def load_NNN(path, limit=10):\n    \"\"\"Reads a report.\"\"\"\n    with open(path) as f:\n        rows = json.load(f)\n\
    total = sum(row['amount'] * 3 for row in rows if row.get('ok'))\n    url = BASE + '/v1/items/' + str(total)\n\
    reply = requests.post(url, json={'total': total, 'rows': rows[:limit]}, headers={'X-Key': os.environ['ACME_API_KEY']})\n\
    return [render_NNN(r) for r in reply.json()['items']]\n\n\
def render_NNN(row):\n    text = f\"{row['name']}: {row['value']}\"\n    Path('out') .joinpath(text).write_text(text)\n    return text\n\n";
    let shell = "\
build_NNN() {\n  local out=\"$1/report-NNN.md\"\n  for f in data/*.csv; do\n    jq -r '.items[] | .name' \"$f\" | sort -u >> \"$out\"\n  done\n\
  curl -s \"$BASE/v1/items\" -H \"Authorization: Bearer $ACME_API_KEY\" -d @\"$out\"\n  git add \"$out\" && git commit -m \"Report NNN\"\n}\nbuild_NNN out\n\n";
    let script = "\
async function load_NNN(path, limit = 10) {\n  const rows = JSON.parse(fs.readFileSync(path, 'utf8'));\n\
  const total = rows.filter((r) => r.ok).reduce((sum, r) => sum + r.amount * 3, 0);\n\
  const reply = await fetch(`${BASE}/v1/items/${total}`, { method: 'POST', headers: { 'X-Key': process.env.ACME_API_KEY }, body: JSON.stringify({ rows: rows.slice(0, limit) }) });\n\
  return (await reply.json()).items.map((item) => render_NNN(item));\n}\n\
function render_NNN(row) {\n  const text = `${row.name}: ${row.value}`;\n  fs.writeFileSync('out/' + text, text);\n  return text;\n}\n\n";
    let languages = [
        (
            "py",
            "import json, os, requests\nfrom pathlib import Path\nBASE = 'https://api.acme.example'\n",
            python,
        ),
        ("sh", "BASE=https://api.acme.example\n", shell),
        ("js", "const fs = require('fs');\nconst BASE = 'https://api.acme.example';\n", script),
        ("ts", "import fs from 'fs';\nconst BASE = 'https://api.acme.example';\n", script),
    ];
    let mut files = vec![("SKILL.md".to_owned(), skill())];
    for (extension, head, section) in languages {
        for part in 0..4 {
            let mut text = head.to_owned();
            let mut number = 0;
            while text.len() < 50 * 1024 / 4 {
                text.push_str(&section.replace("NNN", &format!("{part}_{number}")));
                number += 1;
            }
            files.push((format!("scripts/part{part}.{extension}"), text));
        }
    }
    files
}

/// With what an import runs: the rules, the analysis of programs and the fitted tables.
#[divan::bench]
fn a_folder_with_200_kilobytes_of_code(bencher: Bencher<'_, '_>) {
    let tables = InjectionScreener::new(Scanner::embedded());
    screen(bencher, &[&PatternScreener::new(Policy::Import), &tables]);
}

#[divan::bench]
fn a_folder_with_200_kilobytes_of_code_without_tables(bencher: Bencher<'_, '_>) {
    screen(bencher, &[&PatternScreener::new(Policy::Import)]);
}

fn screen(bencher: Bencher<'_, '_>, screeners: &[&dyn Screener]) {
    let files = folder();
    let list: Vec<SkillFile<'_>> =
        files.iter().map(|(path, text)| SkillFile { path, content: text.as_bytes() }).collect();
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    bencher
        .counter(BytesCount::new(bytes))
        .bench_local(|| screen_folder(Policy::Import, screeners, black_box(&list), &[]));
}
