//! Who stands for a skill: a person, screening, or the trust in the workspace.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use foreword::SCREENING;
use foreword_skills::{Approvals, GitStore, ListedSkill, Standing};
use foreword_workspace::GovernedFile;

use crate::host::Host;

/// Who stands for a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkillApproval {
    Person,
    Screening,
    /// The person trusted it with the workspace.
    Trusted,
    None,
}

impl SkillApproval {
    pub(crate) fn is_approved(self) -> bool {
        matches!(self, Self::Person | Self::Screening)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Person => "approved by a person",
            Self::Screening => "approved by screening",
            Self::Trusted => "trusted with the workspace",
            Self::None => "not approved",
        }
    }
}

/// What the person and screening have accepted. What cannot be read counts as not accepted.
pub(crate) struct KnownSkills<'s> {
    store: &'s GitStore,
    approvals: Approvals,
    trusted: BTreeMap<String, GovernedFile>,
}

impl KnownSkills<'_> {
    pub(crate) fn of<'s>(host: &Host, store: &'s GitStore) -> KnownSkills<'s> {
        let approvals = store.approvals().unwrap_or_default();
        KnownSkills { store, approvals, trusted: host.trusted_skills() }
    }

    /// Who stands for a skill whose own file has this digest, with all files of its folder.
    pub(crate) fn approval(&self, skill: &ListedSkill, digest: &[u8; 32]) -> SkillApproval {
        let beside = LazyCell::new(|| match &skill.dir {
            Some(dir) => self.store.workspace().skill_digests(&skill.root, dir).ok(),
            None => Some(BTreeMap::new()),
        });
        let path = &skill.meta.path;
        let accepted = |path: &String, digest: &[u8; 32]| {
            self.trusted.get(path).is_some_and(|file| file.digest == *digest)
        };
        let is_trusted = || {
            let folder =
                || beside.as_ref().is_some_and(|all| all.iter().all(|(p, d)| accepted(p, d)));
            accepted(path, digest) && folder()
        };
        match self.approvals.standing(path, digest, || beside.clone()) {
            Standing::Approved { by, .. } if by == SCREENING => SkillApproval::Screening,
            Standing::Approved { .. } => SkillApproval::Person,
            _ if is_trusted() => SkillApproval::Trusted,
            _ => SkillApproval::None,
        }
    }
}
