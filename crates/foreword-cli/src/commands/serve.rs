//! `foreword serve --stdio`: one JSON request per line, one answer per line, without start-up cost.

use std::io;

use clap::Args;
use foreword_serve::{Service, serve_lines};

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Answer JSON requests, one per line
#[derive(Args, Debug)]
#[command(after_help = "\
Methods: build, explain, diff, lint, scan, screen, select, count, memory_add, memory_search,
memory_list, memory_forget, skill_list, skill_read, skill_propose, skill_proposals, skill_decide,
check_request, watch_report, ping. `foreword schema METHOD.request` prints the parameters of a
method, `foreword schema METHOD.answer` its result.

Request: {\"id\": 1, \"method\": \"build\", \"params\": {\"context\": {…}, \"blueprint\": \"standard\"}}
Answer:  {\"schemaVersion\": 1, \"id\": 1, \"result\": {…}}
Error:   {\"schemaVersion\": 1, \"id\": 1, \"error\": {\"kind\": …, \"message\": …, \"hints\": […]}}

Examples:
  echo '{\"id\": 1, \"method\": \"ping\"}' | foreword serve --stdio
  echo '{\"id\": 1, \"method\": \"build\", \"params\": {\"task\": \"hi\"}}' | foreword serve --stdio -w my-agent")]
pub(crate) struct ServeArgs {
    /// Read requests from standard input and answer on standard output
    #[arg(long, required = true)]
    stdio: bool,
}

pub(crate) fn run(workspace: &WorkspaceArg, _: &ServeArgs, _: &Terminal) -> Result<(), CliError> {
    let service = Service::new(workspace.given().map(ToOwned::to_owned));
    serve_lines(&service, io::stdin().lock(), io::stdout().lock())
        .map_err(|error| CliError::internal(format!("cannot read standard input: {error}")))
}
