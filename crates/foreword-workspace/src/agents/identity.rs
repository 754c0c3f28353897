//! Who an agent is: the identity files, with what its own folder overrides.

use crate::agents::agent::Agent;
use crate::error::{AskedBy, WorkspaceError};
use crate::read::SourceFile;
use crate::rel_path::{RelPath, check_component};
use crate::workspace::Workspace;

/// The files that say who an agent is and whom it serves.
///
/// Each is the agent's own if its folder has one, even an empty one, and else the workspace's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The body of the agent's own file.
    pub agent: Option<SourceFile>,
    /// `SOUL.md`: its personality.
    pub soul: Option<SourceFile>,
    /// `IDENTITY.md`: its name and nature.
    pub identity: Option<SourceFile>,
    /// `USER.md`: whom it serves; the user's own file wins.
    pub user: Option<SourceFile>,
    /// `USER_BOOTSTRAP.md`: how to get to know a user.
    pub user_bootstrap: Option<SourceFile>,
    /// `TOOLS.md`: how to use its tools.
    pub tools: Option<SourceFile>,
    /// `HEARTBEAT.md`: what to do when nobody speaks.
    pub heartbeat: Option<SourceFile>,
    /// `BOOTSTRAP.md`: how to find out who it is.
    pub bootstrap: Option<SourceFile>,
    /// `CONTEXT.md`: what it has to know.
    pub context: Option<SourceFile>,
}

impl Workspace {
    /// The identity files of an agent, or of the workspace itself, for a user.
    ///
    /// `agents/<id>/users/<user_id>/USER.md` wins over `agents/<id>/USER.md`, and that over
    /// `USER.md`.
    ///
    /// # Errors
    ///
    /// If the user id is not one plain name, or a file that exists cannot be read.
    pub fn identity_files(
        &self,
        agent: Option<&Agent>,
        user_id: Option<&str>,
    ) -> Result<IdentityFiles, WorkspaceError> {
        if let Some(id) = user_id {
            check_component(id).map_err(|reason| WorkspaceError::BadPath {
                given: id.to_owned(),
                reason,
                asked_by: Some(AskedBy::whole("user id")),
            })?;
        }
        let dir = agent.map(|agent| agent.dir.as_str());
        let users_own = match (dir, user_id) {
            (Some(dir), Some(id)) => {
                self.read(&RelPath::listed(dir, &format!("users/{id}/USER.md")))?
            }
            _ => None,
        };
        let own_or_shared = |name| self.own_or_shared(dir, name);
        Ok(IdentityFiles {
            agent: agent.map(|agent| agent.body.clone()),
            soul: own_or_shared("SOUL.md")?,
            identity: own_or_shared("IDENTITY.md")?,
            user: match users_own {
                Some(file) => Some(file),
                None => own_or_shared("USER.md")?,
            },
            user_bootstrap: own_or_shared("USER_BOOTSTRAP.md")?,
            tools: own_or_shared("TOOLS.md")?,
            heartbeat: own_or_shared("HEARTBEAT.md")?,
            bootstrap: own_or_shared("BOOTSTRAP.md")?,
            context: own_or_shared("CONTEXT.md")?,
        })
    }

    fn own_or_shared(
        &self,
        dir: Option<&str>,
        name: &str,
    ) -> Result<Option<SourceFile>, WorkspaceError> {
        if let Some(dir) = dir
            && let Some(own) = self.read(&RelPath::listed(dir, name))?
        {
            return Ok(Some(own));
        }
        self.read(&RelPath::listed("", name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    fn paths(files: &IdentityFiles) -> Vec<Option<&str>> {
        [
            &files.agent,
            &files.soul,
            &files.identity,
            &files.user,
            &files.user_bootstrap,
            &files.tools,
            &files.heartbeat,
            &files.bootstrap,
            &files.context,
        ]
        .into_iter()
        .map(|file| file.as_ref().map(|file| file.path.as_str()))
        .collect()
    }

    #[test]
    fn every_file_has_its_place() {
        let names = [
            "SOUL.md",
            "IDENTITY.md",
            "USER.md",
            "USER_BOOTSTRAP.md",
            "TOOLS.md",
            "HEARTBEAT.md",
            "BOOTSTRAP.md",
            "CONTEXT.md",
        ];
        let scratch = Scratch::new(&names.map(|name| (name, name)));
        scratch.write("agents/a/AGENT.md", "You are A.");
        let workspace = scratch.open();
        let files = workspace.identity_files(None, None).unwrap();
        let expected: Vec<_> = [None].into_iter().chain(names.map(Some)).collect();
        assert_eq!(paths(&files), expected);
        for name in names {
            scratch.write(&format!("agents/a/{name}"), "own");
        }
        let agent = workspace.agent("a").unwrap();
        let files = workspace.identity_files(Some(&agent), None).unwrap();
        assert_eq!(paths(&files)[0], Some("agents/a/AGENT.md"));
        for (path, name) in paths(&files).into_iter().skip(1).zip(names) {
            assert_eq!(path, Some(format!("agents/a/{name}").as_str()));
        }
    }

    #[test]
    fn the_users_own_file_wins_then_the_agents_then_the_shared() {
        let scratch = Scratch::new(&[
            ("USER.md", "shared"),
            ("agents/a/AGENT.md", ""),
            ("agents/a/USER.md", "agent's"),
            ("agents/a/users/alice/USER.md", "alice's"),
            ("agents/b.md", ""),
        ]);
        let workspace = scratch.open();
        let user = |agent: &str, user| {
            let agent = workspace.agent(agent).unwrap();
            workspace.identity_files(Some(&agent), user).unwrap().user.unwrap().text
        };
        assert_eq!(user("a", Some("alice")), "alice's");
        assert_eq!(user("a", Some("bob")), "agent's");
        assert_eq!(user("a", None), "agent's");
        assert_eq!(user("b", Some("alice")), "shared");
    }

    #[test]
    fn a_user_id_is_one_name() {
        let workspace = Scratch::new(&[]).open();
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "CON", "lpt1.txt", "c:"] {
            let error = workspace.identity_files(None, Some(id)).unwrap_err();
            assert!(error.to_string().starts_with("user id: `"), "{id}: {error}");
        }
    }
}
