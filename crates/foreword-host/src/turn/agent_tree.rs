//! A message and all agents it sets to work: how deep, how many, and the end of all of them at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::error::HostError;

/// What the agents of one message share. Cancelling it ends them all.
#[derive(Clone, Debug)]
pub struct AgentTree {
    shared: Arc<Shared>,
    /// This branch's own end, and that of each branch it grows from.
    cancelled: Vec<Arc<AtomicBool>>,
}

#[derive(Debug)]
struct Shared {
    max_depth: u32,
    max_agents: u32,
    started: AtomicU32,
}

impl AgentTree {
    /// A tree with its limits: how deep, and how many agents beside the first.
    pub fn new(max_depth: u32, max_agents: u32) -> Self {
        let shared = Shared { max_depth, max_agents, started: AtomicU32::new(0) };
        Self { shared: Arc::new(shared), cancelled: vec![Arc::default()] }
    }

    /// The tree of the next of several messages: it counts anew, and ends with the others.
    pub(crate) fn next_message(&self) -> Self {
        let next = Self::new(self.shared.max_depth, self.shared.max_agents);
        Self { cancelled: self.cancelled.clone(), ..next }
    }

    /// An agent with all that it starts. It ends with the tree, and can end before it.
    pub(crate) fn branch(&self) -> Self {
        let mut branch = self.clone();
        branch.cancelled.push(Arc::default());
        branch
    }

    /// Lets one more agent start below one of this depth; gives its own.
    pub(crate) fn start(&self, parent_depth: u32) -> Result<u32, HostError> {
        self.check()?;
        let depth = parent_depth.saturating_add(1);
        if depth > self.shared.max_depth {
            return Err(HostError::Limit(format!(
                "agents may start agents {} deep, and no deeper (host.max_depth)",
                self.shared.max_depth
            )));
        }
        let most = self.shared.max_agents;
        let taken = self.shared.started.try_update(Ordering::SeqCst, Ordering::SeqCst, |started| {
            (started < most).then_some(started + 1)
        });
        if taken.is_err() {
            return Err(HostError::Limit(format!(
                "one message may start {most} agents, and no more (host.max_agents)"
            )));
        }
        Ok(depth)
    }

    /// Ends all agents of the tree.
    pub fn cancel(&self) {
        if let Some(own) = self.cancelled.last() {
            own.store(true, Ordering::SeqCst);
        }
    }

    /// Was it cancelled?
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.iter().any(|cancelled| cancelled.load(Ordering::SeqCst))
    }

    pub(crate) fn check(&self) -> Result<(), HostError> {
        if self.is_cancelled() { Err(HostError::Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_and_number_are_limited() {
        let tree = AgentTree::new(2, 3);
        assert_eq!(tree.start(0).unwrap(), 1);
        assert_eq!(tree.start(1).unwrap(), 2);
        assert!(tree.start(2).unwrap_err().to_string().contains("2 deep"));
        assert!(tree.start(0).is_ok());
        assert!(tree.start(0).unwrap_err().to_string().contains("3 agents"));
        tree.cancel();
        assert!(matches!(tree.start(0), Err(HostError::Cancelled)));
    }

    #[test]
    fn the_next_message_counts_anew_and_ends_with_the_others() {
        let tree = AgentTree::new(1, 1);
        assert!(tree.start(0).is_ok() && tree.start(0).is_err());
        let next = tree.next_message();
        assert!(next.start(0).is_ok());
        next.cancel();
        assert!(tree.is_cancelled() && tree.next_message().is_cancelled());
    }

    #[test]
    fn a_branch_ends_alone_or_with_the_tree() {
        let tree = AgentTree::new(3, 3);
        let (left, right) = (tree.branch(), tree.branch());
        let leaf = left.branch();
        left.cancel();
        assert!(leaf.is_cancelled() && !right.is_cancelled() && !tree.is_cancelled());
        tree.cancel();
        assert!(right.is_cancelled());
    }
}
