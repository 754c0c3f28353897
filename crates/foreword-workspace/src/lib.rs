//! Reads a Foreword workspace.
mod error;
mod nearest;
mod read;
mod rel_path;
pub use error::{AskedBy, PathFault, WorkspaceError};
pub use read::{SourceFile, read_file};
