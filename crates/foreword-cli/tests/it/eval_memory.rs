//! `foreword eval memory` on a small set of our own.

use crate::support::{Run, Scratch, keys};

/// Two people talk on two days; some of what they say answers a question only beside its neighbour.
const CHAT: &str = r#"{"conversation": 1, "memories": [
{"id": "a1", "text": "Nadia: Hi Tom! How was the weekend?", "date": "2:31 pm on 17 July, 2023"},
{"id": "a2", "text": "Tom: We took the kids camping at the lake. They loved the boats.", "date": "2:31 pm on 17 July, 2023"},
{"id": "a3", "text": "Nadia: Lovely! I started a pottery class yesterday.", "date": "2:31 pm on 17 July, 2023"},
{"id": "a4", "text": "Tom: What did you make?", "date": "2:31 pm on 17 July, 2023"},
{"id": "a5", "text": "Nadia: A bowl with a fish on it.", "date": "2:31 pm on 17 July, 2023"},
{"id": "b1", "text": "Tom: I got the job at the museum! I begin on Monday.", "date": "9:02 am on 3 August, 2023"},
{"id": "b2", "text": "Nadia: Congratulations, Tom! What will you do there?", "date": "9:02 am on 3 August, 2023"},
{"id": "b3", "text": "Tom: I will repair old clocks.", "date": "9:02 am on 3 August, 2023"}],
"questions": [
{"text": "When did Nadia start a pottery class?", "relevant": ["a3"], "category": 2},
{"text": "Where did Tom go camping?", "relevant": ["a2"], "category": 4},
{"text": "What does Tom repair at the museum?", "relevant": ["b3"], "category": 4},
{"text": "What did Nadia make in the pottery class?", "relevant": ["a5"], "category": 4},
{"text": "What is the capital of Mongolia?", "relevant": [], "category": 5}]}"#;

fn eval(lines: &str, args: &[&str]) -> Run {
    let scratch = Scratch::new(&[("set.jsonl", lines)]);
    scratch.run(&[&["eval", "memory", "set.jsonl"], args].concat())
}

fn chat() -> String {
    CHAT.replace('\n', " ")
}

#[test]
fn questions_find_the_memories_that_answer_them() {
    let report = eval(&chat(), &["--json"]).ok().json();
    assert_eq!(keys(&report), ["all", "conversations", "embedder", "memories", "perCategory"]);
    assert_eq!(keys(&report["perCategory"]), ["2", "4", "5"]);
    let all = &report["all"];
    let expected = [
        "abstained",
        "answered",
        "given",
        "intervals",
        "p95Ms",
        "precision",
        "questions",
        "r10",
        "r3",
    ];
    assert_eq!(keys(all), expected);
    assert_eq!((all["questions"].as_u64(), report["memories"].as_u64()), (Some(5), Some(8)));
    assert_eq!(all["r3"].as_f64(), Some(1.0), "{report:#}");
    assert_eq!(all["abstained"].as_f64(), Some(1.0), "{report:#}");
    assert!(all["precision"].as_f64().unwrap() >= 0.5, "{report:#}");
    let interval = all["intervals"]["precision"].as_array().unwrap();
    assert!(interval[0].as_f64() <= all["precision"].as_f64(), "{report:#}");
}

#[test]
fn the_table_shows_intervals_and_the_same_figures_each_time() {
    let text = |args: &[&str]| eval(&chat(), args).ok().stdout;
    let table = text(&["--list"]);
    assert!(table.starts_with("category       questions     r3           95%"), "{table}");
    assert!(table.contains("nothing was put in for 100% of unanswerable questions"), "{table}");
    assert!(
        table.contains("When did Nadia start a pottery class?\n  answer: a3; given: a3"),
        "{table}"
    );
    let strip = |table: String| -> Vec<String> {
        let figures = table.lines().map(|line| line.rsplit_once(' ').map_or("", |(line, _)| line));
        figures.map(str::trim_end).map(str::to_owned).collect()
    };
    assert_eq!(strip(text(&[])), strip(text(&[])));
    assert!(text(&["--embedder", "none"]).contains("keywords only"));
}

#[test]
fn bad_input_is_named() {
    for (lines, expected) in [
        ("", "set.jsonl contains no questions"),
        ("{}", "set.jsonl:1: missing field `memories`"),
        (r#"{"memories": [], "questions": []}"#, "set.jsonl:1: `memories` is empty"),
        (
            r#"{"memories": [{"id": "a", "text": "x", "date": "soon"}], "questions": []}"#,
            "set.jsonl:1: invalid date `soon`; expected a date such as 2026-02-26",
        ),
        (
            r#"{"memories": [{"id": "a", "text": "x"}], "questions": [{"text": "y", "relevant": ["b"]}]}"#,
            "set.jsonl:1: no memory has the id `b`",
        ),
        (
            r#"{"memories": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "questions": []}"#,
            "set.jsonl:1: two memories have the id `a`",
        ),
    ] {
        let run = eval(lines, &[]);
        let said = run.fails(2);
        assert!(said.contains(expected), "{lines}: {said}");
    }
}
