//! Skills an agent may write, and nobody has to fear: formats, names, stores, proposals.
//!
//! Every mutation goes through the audit log; there is no way around it.
#![allow(dead_code)]
mod error;
mod lock;
mod repository;
mod work_tree;
mod name {
    #[derive(Debug, thiserror::Error)]
    #[error("x")]
    pub struct NameError;
}
pub use error::SkillError;
