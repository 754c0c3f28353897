//! The form of a report that pages and scripts rely on.

use foreword_watch::Report;
use serde_json::Value;

#[test]
fn the_sample_report_reads_and_writes_without_a_change() {
    let text = include_str!("../data/report.json");
    let report: Report = serde_json::from_str(text).unwrap();
    let sample: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap(), sample);
}
