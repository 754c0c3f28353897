//! placeholder until diff lands
use crate::{args::BuildArgs, error::CliError, terminal::Terminal};
use foreword::TokenCounter;
use std::path::Path;
pub(crate) fn run(
    _: &Path,
    _: &BuildArgs,
    _: Option<&dyn TokenCounter>,
    _: &Terminal,
) -> Result<(), CliError> {
    Ok(())
}
