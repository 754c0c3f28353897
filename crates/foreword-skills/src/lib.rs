//! Skills an agent may write, and nobody has to fear: formats, names, stores, proposals.
//!
//! Every mutation goes through the audit log; there is no way around it.

mod complete;
mod fields;
mod folder;
mod format;
mod listing;
mod listing_cache;
mod name;

pub use complete::completed;
pub use folder::{skill_file, validate_folder};
pub use format::{FormatFault, LONGEST_COMPATIBILITY, SkillDocument, validate};
pub use listing::{LIST_CACHE, Listed, Listing, SkillMeta, list};
pub use name::{LONGEST_NAME, NameError, SkillName, name_faults};
