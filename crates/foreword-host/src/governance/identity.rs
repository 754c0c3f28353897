//! Identity files: which ones an agent may propose to change, and applying a decision.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use foreword_store::{Event, IdentityProposal, IdentityVerdict, Outcome};
use foreword_workspace::{PRIVATE_DIR, Tree, TreeEntryKind, WorkspaceError};
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;

/// The files an agent may propose to change. AGENTS.md belongs to the operator and is never among them.
const PROPOSABLE: [&str; 6] =
    ["SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "CONTEXT.md"];
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The path of the file that a proposal is about: the agent's own file where it has one.
pub(crate) fn target(root: &Path, agent: Option<&str>, file: &str) -> Result<String, String> {
    if !PROPOSABLE.contains(&file) {
        let file: String = file.chars().take(100).collect();
        return Err(format!(
            "agents cannot propose changes to `{file}`; they can to {}",
            PROPOSABLE.join(", ")
        ));
    }
    let own = agent.map(|agent| format!("agents/{agent}/{file}"));
    let is_file = |own: &String| {
        let found = Tree::open_as(root, "").and_then(|tree| tree.stat(own));
        matches!(found, Ok(Some((TreeEntryKind::File, _))))
    };
    Ok(own.filter(is_file).unwrap_or_else(|| file.to_owned()))
}

/// The digest of a file; `None` if it does not exist.
pub(crate) fn digest(root: &Path, file: &str) -> Result<Option<[u8; 32]>, WorkspaceError> {
    let content = Tree::open_as(root, "")?.read(file, MAX_FILE_BYTES)?;
    Ok(content.map(|content| blake3::hash(&content).into()))
}

impl Host {
    /// A proposal with its text, by its id or an unambiguous prefix of it.
    pub fn identity_proposal(
        &self,
        id: &str,
    ) -> Result<(IdentityProposal, Option<String>), HostError> {
        let proposal = self.reader.identity_proposal(id)?;
        let content = self.reader.identity_content(&proposal.id)?;
        Ok((proposal, content))
    }

    /// Approves or rejects a proposal. An approved text replaces the file, which becomes trusted.
    pub fn decide_identity(
        &self,
        id: &str,
        verdict: IdentityVerdict,
        reason: Option<&str>,
    ) -> Result<IdentityProposal, HostError> {
        let (proposal, content) = self.identity_proposal(id)?;
        let path = self.root.join(&proposal.file);
        if verdict == IdentityVerdict::Approve {
            let found = digest(&self.root, &proposal.file)?;
            if found != proposal.base {
                return Err(HostError::ProposalOutdated { file: proposal.file });
            }
        }
        let by = self.options.person.clone();
        let action = match verdict {
            IdentityVerdict::Approve => "identity.approve",
            IdentityVerdict::Reject => "identity.reject",
        };
        let event = Event::new(&by, action, &proposal.file, Outcome::Done)
            .with_detail(json!({ "proposal": proposal.id.as_str(), "by": proposal.by }));
        let (id, reason) = (proposal.id.as_str().to_owned(), reason.map(str::to_owned));
        let (now, root) = (self.now(), self.root.clone());
        let decided = self.writer.write(now, move |write| -> Result<_, HostError> {
            let decided = write.identity_decide(&id, verdict, &by, reason.as_deref(), now)?;
            write.audit(&event)?;
            // In the transaction, so that the proposal stays open if the file cannot be written.
            if let (IdentityVerdict::Approve, Some(content)) = (verdict, &content) {
                replace(&root, &path, content)?;
            }
            Ok(decided)
        })?;
        if verdict == IdentityVerdict::Approve {
            // The person approved exactly this text.
            self.trust_file(&decided.file)?;
        }
        Ok(decided)
    }
}

/// Replaces a file in one step, from a temporary file in the private directory, which agents cannot
/// reach.
fn replace(root: &Path, path: &Path, content: &str) -> Result<(), HostError> {
    let failed = |error| HostError::io(format!("write {}", path.display()), error);
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(HostError::TargetIsLink { path: path.to_owned() });
    }
    let name = format!("identity-{}", crate::random::random_hex::<16>()?);
    let temporary = root.join(PRIVATE_DIR).join(name);
    let made = OpenOptions::new().write(true).create_new(true).open(&temporary);
    let written = made.map_err(failed).and_then(|mut file| {
        file.write_all(content.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        // A rename replaces the name itself, even if a link has appeared there.
        fs::rename(&temporary, path).map_err(failed)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_never_written_through() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("w");
        fs::create_dir_all(root.join(PRIVATE_DIR)).unwrap();
        let outside = place.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        // An earlier version put its temporary file here.
        let planted = root.join(format!(".SOUL.md.foreword-{}", std::process::id()));
        symlink(&outside, &planted).unwrap();
        let soul = root.join("SOUL.md");
        replace(&root, &soul, "new").unwrap();
        assert_eq!(fs::read_to_string(&soul).unwrap(), "new");
        assert!(!fs::symlink_metadata(&soul).unwrap().is_symlink());
        symlink(&outside, root.join("USER.md")).unwrap();
        let error = replace(&root, &root.join("USER.md"), "new").unwrap_err();
        assert!(error.to_string().contains("is a symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert_eq!(fs::read_dir(root.join(PRIVATE_DIR)).unwrap().count(), 0);
    }
}
