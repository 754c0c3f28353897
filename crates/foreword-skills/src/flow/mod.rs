//! How a skill changes: proposed, screened, decided, applied.

pub(crate) mod apply;
pub(crate) mod approvals;
pub(crate) mod capabilities;
pub(crate) mod decide;
pub(crate) mod import;
pub(crate) mod import_files;
pub(crate) mod propose;
pub(crate) mod revert;
pub(crate) mod screening;
pub(crate) mod taint;
