//! placeholder until diff lands
use crate::{args::DiffArgs, error::CliError, terminal::Terminal};
pub(crate) fn run(_: &DiffArgs, _: &Terminal) -> Result<(), CliError> {
    Ok(())
}
