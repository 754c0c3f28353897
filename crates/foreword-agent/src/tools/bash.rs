//! `bash`: a command in the sandbox.

use std::process::Command;

use serde::Deserialize;

use super::program::{self, Bounds};
use super::{Place, ToolError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    command: String,
    #[serde(default)]
    timeout: Option<u64>,
}

pub(super) fn run(args: &Args, place: Place<'_>) -> Result<String, ToolError> {
    let most = place.limits.command_seconds;
    let bounds = Bounds {
        seconds: args.timeout.unwrap_or(most).clamp(1, most.max(1)),
        max_output_bytes: place.limits.max_tool_output_bytes,
    };
    let mut command = Command::new("bash");
    command.arg("-c").arg(&args.command).current_dir(place.cwd);
    program::run("bash", &mut command, None, bounds)
}
