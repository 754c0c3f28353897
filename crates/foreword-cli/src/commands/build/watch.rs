//! `foreword build --watch`: rebuild on every change, and print the difference.
//!
//! It checks four times a second whether a file that it read changed or a file that it looked for appeared.

use std::path::Path;
use std::time::Duration;

use foreword::{Side, TokenCounter, diff};
use foreword_gather::Assembler;

use super::{BuildArgs, compile, rendered};
use crate::commands::diff as diff_command;
use crate::error::CliError;
use crate::inputs;
use crate::terminal::Terminal;

const PAUSE: Duration = Duration::from_millis(250);

pub(super) fn run(
    workspace: &Path,
    args: &BuildArgs,
    counter: Option<&dyn TokenCounter>,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let mut source = args.source.clone();
    // A fixed time, so that the clock is not a change.
    let now =
        args.source.session.now.clone().unwrap_or_else(|| inputs::clock().as_str().to_owned());
    source.session.now = Some(now);

    let assembler = Assembler::new(workspace);
    let mut last: Option<Side> = None;
    let mut last_error = String::new();
    loop {
        match inputs::resolve_with(&assembler, &source) {
            Err(error) => {
                if last.is_none() {
                    return Err(error);
                }
                if last_error != error.message {
                    terminal.error(&error);
                    last_error = error.message;
                }
            }
            Ok(gathered) => {
                last_error.clear();
                let (prompt, build_time_ms) = compile(&gathered, counter);
                let side = Side::of(&prompt);
                let difference = last.as_ref().map(|last| diff(last, &side));
                if difference.as_ref().is_none_or(|difference| !difference.identical) {
                    if let Some(path) = &args.output {
                        let text = rendered(
                            &prompt,
                            gathered.context.task.inspect(),
                            build_time_ms,
                            args.format,
                            terminal.json,
                        )?;
                        std::fs::write(path, text).map_err(|error| {
                            CliError::usage(format!("cannot write {}: {error}", path.display()))
                        })?;
                    }
                    gathered.warnings.iter().for_each(|warning| terminal.warn(warning));
                    match &difference {
                        None => terminal.say(&format!(
                            "watching {}: {} tokens in {} sections; press Ctrl-C to stop",
                            workspace.display(),
                            prompt.tokens(),
                            prompt.metadata().module_count
                        )),
                        Some(difference) if terminal.json => {
                            terminal.print_json_line(difference)?;
                        }
                        Some(difference) => terminal.print(&diff_command::table(difference))?,
                    }
                    last = Some(side);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}
