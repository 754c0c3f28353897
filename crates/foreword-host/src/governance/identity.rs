//! Identity files: which an agent may propose to change, and how a decision is carried out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use foreword_store::{Event, IdentityProposal, IdentityVerdict, Outcome};
use foreword_workspace::PRIVATE_DIR;
use serde_json::json;

use crate::error::HostError;
use crate::host::Host;

/// What an agent may propose to change. AGENTS.md is the operator's, and never among them.
const OPEN: [&str; 6] =
    ["SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "CONTEXT.md"];
/// No identity file is longer.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The file of the workspace that a proposal is about: the agent's own where it has one.
pub(crate) fn target(root: &Path, agent: Option<&str>, file: &str) -> Result<String, String> {
    if !OPEN.contains(&file) {
        let file: String = file.chars().take(100).collect();
        return Err(format!(
            "`{file}` is not a file an agent may propose to change; it may {}",
            OPEN.join(", ")
        ));
    }
    let own = agent.map(|agent| format!("agents/{agent}/{file}"));
    Ok(own.filter(|own| root.join(own).is_file()).unwrap_or_else(|| file.to_owned()))
}

/// The digest of a file; nothing if there is none.
pub(crate) fn digest(path: &Path) -> io::Result<Option<[u8; 32]>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut content)?;
    Ok(Some(*blake3::hash(&content).as_bytes()))
}

impl Host {
    /// The proposal of an identity file, with its text.
    ///
    /// # Errors
    ///
    /// If there is none, or more than one, whose id begins like this.
    pub fn identity_proposal(
        &self,
        id: &str,
    ) -> Result<(IdentityProposal, Option<String>), HostError> {
        let proposal = self.reader.identity_proposal(id)?;
        let content = self.reader.identity_content(&proposal.id)?;
        Ok((proposal, content))
    }

    /// Decides about the proposal of an identity file, and carries it out.
    ///
    /// # Errors
    ///
    /// If it was decided, or the file is not what it was when it was proposed.
    pub fn decide_identity(
        &self,
        id: &str,
        verdict: IdentityVerdict,
        reason: Option<&str>,
    ) -> Result<IdentityProposal, HostError> {
        let (proposal, content) = self.identity_proposal(id)?;
        let path = self.root.join(&proposal.file);
        if verdict == IdentityVerdict::Approve {
            let found = digest(&path).map_err(|error| HostError::io("read the file", error))?;
            if found != proposal.base {
                return Err(HostError::Limit(format!(
                    "{} was changed since the proposal was made; reject it and ask anew",
                    proposal.file
                )));
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
            // Inside the transaction: a file that cannot be written leaves the proposal open.
            if let (IdentityVerdict::Approve, Some(content)) = (verdict, &content) {
                replace(&root, &path, content)?;
            }
            Ok(decided)
        })?;
        if verdict == IdentityVerdict::Approve {
            // The person has just seen it.
            self.trust_file(&decided.file)?;
        }
        Ok(decided)
    }
}

/// Replaces a file in one step, by way of the private directory, which no agent can reach.
fn replace(root: &Path, path: &Path, content: &str) -> Result<(), HostError> {
    let failed = |error| HostError::io(format!("write {}", path.display()), error);
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(HostError::Limit(format!(
            "{} is a link; put the file itself there, or reject the proposal",
            path.display()
        )));
    }
    let name = format!("identity-{}", crate::random::random_hex::<16>()?);
    let temporary = root.join(PRIVATE_DIR).join(name);
    let made = OpenOptions::new().write(true).create_new(true).open(&temporary);
    let written = made.map_err(failed).and_then(|mut file| {
        file.write_all(content.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        // A rename replaces the name, whatever has come to stand there.
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
        // Where the temporary file was once.
        let planted = root.join(format!(".SOUL.md.foreword-{}", std::process::id()));
        symlink(&outside, &planted).unwrap();
        let soul = root.join("SOUL.md");
        replace(&root, &soul, "new").unwrap();
        assert_eq!(fs::read_to_string(&soul).unwrap(), "new");
        assert!(!fs::symlink_metadata(&soul).unwrap().is_symlink());
        symlink(&outside, root.join("USER.md")).unwrap();
        let error = replace(&root, &root.join("USER.md"), "new").unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert_eq!(fs::read_dir(root.join(PRIVATE_DIR)).unwrap().count(), 0);
    }
}
