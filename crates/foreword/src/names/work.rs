//! How far work has come: shared tasks, and an agent's own list of steps.

use crate::names::names;

names! {
    /// The state of a task.
    ///
    /// ```
    /// use foreword::TaskState;
    ///
    /// assert!(TaskState::Dropped.is_finished() && !TaskState::default().is_finished());
    /// ```
    pub enum TaskState: "task state", default Todo {
        /// Not begun.
        Todo = "todo",
        /// Under way.
        Doing = "doing",
        /// Waiting for something.
        Blocked = "blocked",
        /// Finished.
        Done = "done",
        /// Given up.
        Dropped = "dropped",
    }
}

impl TaskState {
    /// Is there no more work to do?
    #[must_use]
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Done | Self::Dropped)
    }
}

names! {
    /// The state of a step in an agent's own list.
    ///
    /// ```
    /// use foreword::TodoState;
    ///
    /// assert_eq!("in_progress".parse(), Ok(TodoState::InProgress));
    /// ```
    pub enum TodoState: "step state", default Pending {
        /// Not begun.
        Pending = "pending",
        /// Under way.
        InProgress = "in_progress",
        /// Finished.
        Completed = "completed",
    }
}
