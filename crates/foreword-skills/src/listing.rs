//! stub
use foreword_workspace::{SkillProblem, Workspace, WorkspaceError};
use serde::Serialize;
/// x
#[derive(Debug, Clone, Serialize)]
pub struct SkillMeta {
    /// x
    pub name: String,
    /// x
    pub description: Option<String>,
    /// x
    pub path: String,
}
/// x
#[derive(Debug)]
pub struct Listed {
    /// x
    pub meta: SkillMeta,
    /// x
    pub digest: [u8; 32],
}
/// x
#[derive(Debug)]
pub struct Listing {
    /// x
    pub skills: Vec<Listed>,
    /// x
    pub problems: Vec<SkillProblem>,
}
/// x
pub fn list(w: &Workspace, _c: Option<&std::path::Path>) -> Result<Listing, WorkspaceError> {
    let scan = w.skills()?;
    Ok(Listing {
        skills: scan.skills.into_iter().map(|s| Listed { meta: SkillMeta { name: s.name, description: s.description, path: s.body.path }, digest: [0; 32] }).collect(),
        problems: scan.problems,
    })
}
