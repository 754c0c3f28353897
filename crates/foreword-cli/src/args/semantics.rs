//! `foreword index`, `foreword eval assemble` and `foreword eval run`, as data.

use std::path::PathBuf;

use clap::Args;

use super::SourceArgs;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword index                            embed what is new or changed
  foreword index --check                    fail (exit 1) if something is; for CI
  foreword index --import-tools tools.json  take over the tools of an MCP server's tools/list")]
pub(crate) struct IndexArgs {
    /// Only look; exit 1 if the index is not up to date
    #[arg(long)]
    pub(crate) check: bool,
    /// First add the tools of an MCP server's `tools/list` answer to tools.toml
    #[arg(long, value_name = "FILE|-", conflicts_with = "check")]
    pub(crate) import_tools: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword eval assemble \"fix the login bug\"
  foreword eval assemble \"fix the login bug\" --json | jq .tools")]
pub(crate) struct EvalAssembleArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "use a share from 0 to 1".to_owned())
}

#[derive(Args, Debug)]
#[command(after_help = "\
Each line of the set is a task with what should be selected for it:
  {\"task\": \"corrige o erro de login\", \"lang\": \"pt\", \"tools\": [\"edit\"], \"skills\": [\"debugging\"]}
`mode` may be plan, act or review. An empty list checks that nothing is found; one
that is not there is not judged.

Examples:
  foreword eval run -w examples/semantic
  foreword eval run --set eval.jsonl --min-precision 0.8")]
pub(crate) struct EvalRunArgs {
    /// The set
    #[arg(long, value_name = "FILE", default_value = "eval.jsonl")]
    pub(crate) set: PathBuf,
    /// The agent, a folder below agents/
    #[arg(short, long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Fail (exit 1) if less of what was expected is selected, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) min_recall: Option<f64>,
    /// Fail (exit 1) if precision at K, of tools and skills alike, is lower, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    pub(crate) min_precision: Option<f64>,
}
