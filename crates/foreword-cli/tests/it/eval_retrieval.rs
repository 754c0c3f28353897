//! `foreword eval retrieval` on a small set of our own.

use std::path::{Path, PathBuf};

use crate::support::{Foreword, Run, Scratch, keys};

const TOOL: &str = r#"{"name": "play_music", "description": "Plays a song"}"#;
const QUERY: &str = r#"{"text": "play a song", "relevant": ["play_music"]}"#;

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/retrieval");
    folder.join(name).to_str().unwrap().to_owned()
}

fn eval(args: &[&str]) -> Run {
    let (tools, queries) = (fixture("tools.jsonl"), fixture("queries.jsonl"));
    let own = ["eval", "retrieval", "--tools", &tools, "--queries", &queries];
    Foreword::new(&[&own, args].concat()).run()
}

/// A run on these lines, in a directory of its own.
fn eval_lines(tools: &str, queries: &str, args: &[&str]) -> Run {
    let scratch = Scratch::new(&[("tools.jsonl", tools), ("queries.jsonl", queries)]);
    let own = ["eval", "retrieval", "--tools", "tools.jsonl", "--queries", "queries.jsonl"];
    scratch.run(&[&own, args].concat())
}

#[test]
fn the_right_tools_are_found_in_three_languages() {
    let report = eval(&["--json"]).ok().json();
    let expected = [
        "allFound10",
        "embedder",
        "hit1",
        "indexMs",
        "intervals",
        "mrr",
        "ndcg10",
        "p95Ms",
        "perLang",
        "queries",
        "r10",
        "r20",
        "r3",
        "r5",
        "tools",
        "unknownRelevant",
    ];
    assert_eq!(keys(&report), expected);
    assert_eq!((report["queries"].as_u64(), report["tools"].as_u64()), (Some(10), Some(12)));
    assert_eq!(keys(&report["perLang"]), ["en", "fr", "pt"]);
    let at = |name: &str| report[name].as_f64().unwrap();
    assert!(at("hit1") >= 0.8 && at("r3") >= 0.9 && at("mrr") >= 0.85, "{report:#}");
    assert_eq!(at("r10"), 1.0);
    let [low, high] = [0, 1].map(|side| report["intervals"]["mrr"][side].as_f64().unwrap());
    assert!(low < at("mrr") && at("mrr") <= high && low > 0.3, "{report:#}");

    let words = eval(&["--json", "--embedder", "none"]).ok().json();
    assert!(words.get("embedder").is_none());
    assert!(words["r3"].as_f64().unwrap() < at("r3"), "vectors help: {words:#}");
}

#[test]
fn queries_that_nothing_fits_are_told_apart() {
    let out = fixture("out_of_scope.jsonl");
    let report = eval(&["--json", "--out-of-scope", &out]).ok().json();
    assert_eq!(report["outOfScope"]["queries"], 4);
    assert_eq!(report["outOfScope"]["auroc"], 1.0, "{report:#}");
    let text = eval(&["--out-of-scope", &out]).ok().stdout;
    assert!(text.contains("out of scope: 4 queries, AUROC 1.000 ("), "{text}");
    assert!(text.starts_with("         queries   hit1"), "{text}");
}

#[test]
fn a_query_may_bring_its_own_tools() {
    let queries = format!(
        "{QUERY}\n{}\n",
        r#"{"text": "ring at six", "relevant": ["b"], "candidates": [{"id": "a", "name": "play", "description": "Plays"}, {"id": "b", "name": "alarm", "description": "Rings at a time"}]}"#
    );
    let report = eval_lines(TOOL, &queries, &["--json"]).ok().json();
    assert_eq!((report["hit1"].as_f64(), report["unknownRelevant"].as_u64()), (Some(1.0), Some(0)));
}

#[test]
fn the_same_input_gives_the_same_ranks() {
    let strip = |run: Run| {
        let mut report = run.ok().json();
        {
            report["p95Ms"] = 0.into();
            report["indexMs"] = 0.into();
            report["perLang"]
                .as_object_mut()
                .unwrap()
                .values_mut()
                .for_each(|x| x["p95Ms"] = 0.into());
        }
        report
    };
    assert_eq!(strip(eval(&["--json"])), strip(eval(&["--json"])));
}

#[test]
fn bad_input_is_named() {
    let cases: &[(&str, &str, &str)] = &[
        ("", QUERY, "tools.jsonl contains no tools"),
        (TOOL, "\n\n", "queries.jsonl contains no queries"),
        ("{\"name\": 1}", QUERY, "tools.jsonl:1: invalid type: integer `1`, expected a string"),
        (TOOL, "{}", "queries.jsonl:1: missing field `text`"),
        (TOOL, "{\"text\": \"x\"}\nnonsense", "queries.jsonl:2: expected"),
        (TOOL, "{\"text\": \"x\"}", "queries.jsonl: no query has `relevant` tools"),
        (
            TOOL,
            r#"{"text": "x", "relevant": ["y"]}"#,
            "no relevant id matches a tool, for example `y`",
        ),
        (
            r#"{"name": "a"}
{"name": "a"}"#,
            QUERY,
            "two tools have the id `a`",
        ),
    ];
    for (tools, queries, expected) in cases {
        let run = eval_lines(tools, queries, &[]);
        let said = run.fails(2);
        assert!(said.contains(expected), "{said}");
    }
    let queries = format!("{QUERY}\n{}", r#"{"text": "x", "relevant": ["y"]}"#);
    let run = eval_lines(TOOL, &queries, &["--json"]);
    assert!(
        run.stderr.contains("1 of 2 relevant ids match no tool, for example `y`"),
        "{}",
        run.stderr
    );
    assert_eq!(run.json()["unknownRelevant"], 1);
    let scratch = Scratch::new(&[("q", QUERY), ("t", "")]);
    scratch.write("t", b"\xff\xfe");
    scratch.run(&["eval", "retrieval", "--tools", "t", "--queries", "q"]).fails(2);
    scratch.run(&["eval", "retrieval", "--tools", "none", "--queries", "q"]).fails(2);
}

#[test]
fn long_and_empty_queries_are_no_trouble() {
    let long = "play a song ".repeat(9_000);
    let queries = format!(
        "{}\n{}\n",
        serde_json::json!({ "text": long, "relevant": ["play_music"] }),
        serde_json::json!({ "text": "", "relevant": ["play_music"] }),
    );
    assert_eq!(eval_lines(TOOL, &queries, &["--json"]).ok().json()["hit1"], 1.0);
}

#[test]
fn an_embedder_that_is_not_there_says_so() {
    let models: PathBuf = tempfile::tempdir().unwrap().path().join("none");
    let (tools, queries) = (fixture("tools.jsonl"), fixture("queries.jsonl"));
    let own = ["eval", "retrieval", "--tools", &tools, "--queries", &queries, "--embedder"];
    let run =
        Foreword::new(&[&own[..], &["use"]].concat()).env("FOREWORD_MODEL_DIR", &models).run();
    assert!(run.fails(2).contains("run `foreword model install`"), "{}", run.stderr);
    let run = eval(&["--embedder", "http"]);
    assert!(run.fails(2).contains("needs a server"), "{}", run.stderr);
    let run = eval(&["--embedder", "http", "--url", "http://127.0.0.1:9", "--model", "m"]);
    assert!(run.fails(2).contains("cannot be reached"), "{}", run.stderr);
    let key = ["--url", "http://127.0.0.1:9", "--model", "m", "--api-key-env", "NO_SUCH_KEY"];
    let run = eval(&[&["--embedder", "http"][..], &key].concat());
    assert!(run.fails(2).contains("environment variable NO_SUCH_KEY is not set"), "{}", run.stderr);
}

/// Thirty tools in the same words and one query for each, twice: ten are sent, a search shows ten others and names the last ten.
#[test]
fn one_search_finds_tools_that_were_not_sent() {
    let things = [
        "invoice",
        "calendar",
        "contact",
        "photo",
        "playlist",
        "recipe",
        "flight",
        "ticket",
        "folder",
        "mailbox",
        "payment",
        "survey",
        "campaign",
        "backup",
        "server",
        "meeting",
        "report",
        "garden",
        "bicycle",
        "harbour",
        "kitchen",
        "library",
        "mountain",
        "newspaper",
        "orchestra",
        "passport",
        "quarry",
        "railway",
        "stadium",
        "theatre",
    ];
    let tools: String = things
        .iter()
        .map(|thing| format!("{{\"name\": \"{thing}\", \"description\": \"Show one {thing}\"}}\n"))
        .collect();
    // The first query of each says nothing of what it needs, the second one says it.
    let queries: String = things
        .iter()
        .flat_map(|thing| {
            [format!("do number {} for me", thing.len()), format!("show one {thing}")].map(|text| {
                format!("{{\"text\": \"{text}\", \"lang\": \"en\", \"relevant\": [\"{thing}\"]}}\n")
            })
        })
        .collect();
    let scratch = Scratch::new(&[("set/tools.jsonl", &tools), ("set/queries.jsonl", &queries)]);
    let args = ["eval", "tools", "set", "--embedder", "none", "--json"];
    let report = scratch.run(&args).ok().json();
    assert_eq!((&report["tools"], &report["all"]["queries"]), (&30.into(), &60.into()));
    let at = |path: &str| report.pointer(path).unwrap().as_f64().unwrap();
    let (sent, same) = (at("/all/sent/share"), at("/all/sameWords/share"));
    assert!(sent < 0.8 && same > sent, "{report:#}");
    assert!((at("/all/sameWordsGain/share") - (same - sent)).abs() < 1e-9);
    assert_eq!(at("/all/sameWordsNamed/share"), 1.0, "{report:#}");
    assert!((at("/all/sameWordsNamedGain/share") - (1.0 - sent)).abs() < 1e-9);
    let table = scratch.run(&["eval", "tools", "set", "--embedder", "none"]).ok().stdout;
    assert!(table.contains("same words") && table.contains("other words"), "{table}");
    // Other words name what is needed, so each tool that was not sent is found.
    assert_eq!(at("/all/otherWords/after/share"), 1.0, "{report:#}");
    // A pool has the tools of its queries, and no more of them than half of it.
    let pool = scratch.run(&[&args[..], &["--pool", "20"]].concat()).ok().json();
    assert_eq!(
        (&pool["tools"], &pool["perSet"]["set"]["queries"]),
        (&20.into(), &pool["all"]["queries"])
    );
    let none = scratch.run(&["eval", "tools", "set", "--lang", "fr"]);
    assert!(none.fails(2).contains("no query fits the pool"), "{}", none.stderr);
}
