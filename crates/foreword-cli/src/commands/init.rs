//! `foreword init`.
use crate::{args::InitArgs, error::CliError, terminal::Terminal};
use std::path::Path;
pub(crate) fn run(
    _workspace: &Path,
    _args: &InitArgs,
    _terminal: &Terminal,
) -> Result<(), CliError> {
    Ok(())
}
