//! Placeholder, replaced by the script-aware estimate.
