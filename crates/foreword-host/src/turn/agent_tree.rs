//! All agents that one message starts: their limits, and cancelling them together.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use foreword_workspace::HostSettings;

use crate::error::HostError;
use crate::governance::permissions::QuestionBoard;
use crate::spending::budget::TurnBudget;

/// What the agents of one message share. Cancelling it ends them all.
#[derive(Clone, Debug)]
pub struct AgentTree {
    shared: Arc<Shared>,
    /// Set when this branch, or one it grows from, is cancelled.
    cancelled: Vec<Arc<AtomicBool>>,
}

#[derive(Debug)]
struct Shared {
    max_depth: u32,
    max_agents: u32,
    started: AtomicU32,
    /// What they may spend together, from the first turn on.
    budget: OnceLock<TurnBudget>,
    /// What they ask the person.
    questions: QuestionBoard,
}

impl AgentTree {
    /// A tree with the limits of these settings.
    pub(crate) fn of(settings: &HostSettings) -> Self {
        Self::new(settings.max_depth, settings.max_agents)
    }

    /// `max_agents` does not count the first agent.
    fn new(max_depth: u32, max_agents: u32) -> Self {
        let (started, budget) = (AtomicU32::new(0), OnceLock::new());
        let questions = QuestionBoard::default();
        let shared = Shared { max_depth, max_agents, started, budget, questions };
        Self { shared: Arc::new(shared), cancelled: vec![Arc::default()] }
    }

    /// The tree of the next message: it counts from zero and is cancelled with this one.
    pub(crate) fn next_message(&self) -> Self {
        let next = Self::new(self.shared.max_depth, self.shared.max_agents);
        Self { cancelled: self.cancelled.clone(), ..next }
    }

    /// The branch of one agent and everything it starts. It can be cancelled alone.
    pub(crate) fn branch(&self) -> Self {
        let mut branch = self.clone();
        branch.cancelled.push(Arc::default());
        branch
    }

    /// Admits one more agent below one of this depth; returns its depth.
    pub(crate) fn start(&self, parent_depth: u32) -> Result<u32, HostError> {
        self.check()?;
        let depth = parent_depth.saturating_add(1);
        if depth > self.shared.max_depth {
            return Err(HostError::TooDeep { max: self.shared.max_depth });
        }
        let max = self.shared.max_agents;
        let taken = self.shared.started.try_update(Ordering::SeqCst, Ordering::SeqCst, |started| {
            (started < max).then_some(started + 1)
        });
        if taken.is_err() {
            return Err(HostError::TooManyAgents { max });
        }
        Ok(depth)
    }

    /// What the agents of this message ask the person.
    pub(crate) fn questions(&self) -> &QuestionBoard {
        &self.shared.questions
    }

    /// What the agents of this message may spend. A sub-agent shares the budget of the first agent.
    pub(crate) fn budget(&self) -> Option<&TurnBudget> {
        self.shared.budget.get()
    }

    pub(crate) fn set_budget(&self, budget: TurnBudget) {
        let _ = self.shared.budget.set(budget);
    }

    /// Ends all agents of this branch.
    pub fn cancel(&self) {
        if let Some(own) = self.cancelled.last() {
            own.store(true, Ordering::SeqCst);
        }
    }

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
        assert!(tree.start(2).unwrap_err().to_string().contains("2 levels deep"));
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
