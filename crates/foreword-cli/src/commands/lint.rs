//! placeholder
use crate::{args::LintArgs, error::CliError, terminal::Terminal};
use std::path::Path;
pub(crate) fn run(
    _workspace: &Path,
    _args: &LintArgs,
    _terminal: &Terminal,
) -> Result<(), CliError> {
    Ok(())
}
pub(crate) fn findings(
    _: &Path,
    _: Option<&str>,
    _: Option<&str>,
) -> Result<Vec<String>, CliError> {
    Ok(Vec::new())
}
