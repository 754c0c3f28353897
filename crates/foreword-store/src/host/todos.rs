//! The list that an agent keeps of its own next steps, one for each session.

use foreword::TodoState;
use serde::Serialize;

use crate::error::StoreError;
use crate::host::session::SessionId;
use crate::host::sessions;
use crate::reader::Reader;
use crate::rows;
use crate::stored_enum::word;
use crate::transaction::Transaction;

/// The most items a list may have.
pub const MAX_TODOS: usize = 200;
/// The most characters an item may have.
pub const MAX_TODO_CHARS: usize = 500;

/// One item of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// What is to be done, in one line.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// Todos. No audit entry is written by these functions; the caller adds it in the same transaction.
impl Transaction<'_> {
    /// Replaces the list of a session.
    pub fn todo_write(
        &mut self,
        session: &SessionId,
        items: &[TodoItem],
    ) -> Result<(), StoreError> {
        check(items)?;
        let rows = self.rows();
        sessions::check_exists(rows, session)?;
        rows.change("DELETE FROM todos WHERE session = ?1", [session.as_str()])?;
        for (place, item) in items.iter().enumerate() {
            rows.change(
                "INSERT INTO todos (session, place, text, state) VALUES (?1, ?2, ?3, ?4)",
                (session.as_str(), rows::limit(place), &item.text, item.state.as_str()),
            )?;
        }
        Ok(())
    }
}

/// Todos.
impl Reader {
    /// The list of a session, in its order.
    pub fn todo_read(&self, session: &SessionId) -> Result<Vec<TodoItem>, StoreError> {
        self.read(|rows| {
            rows.all(
                "SELECT text, state FROM todos WHERE session = ?1 ORDER BY place",
                [session.as_str()],
                |row| {
                    Ok(TodoItem {
                        text: row.get(0)?,
                        state: word(row, 1, |word| word.parse().ok())?,
                    })
                },
            )
        })
    }
}

fn check(items: &[TodoItem]) -> Result<(), StoreError> {
    if items.len() > MAX_TODOS {
        return Err(StoreError::Unfit { what: "list of todos", wanted: "at most 200 items long" });
    }
    for item in items {
        let text = &item.text;
        // The limit is on characters, so that all scripts have the same room.
        let fits = !text.trim().is_empty()
            && text.chars().take(MAX_TODO_CHARS + 1).count() <= MAX_TODO_CHARS
            && !text.chars().any(char::is_control);
        if !fits {
            let wanted = "one line of 1 to 500 characters";
            return Err(StoreError::Unfit { what: "text of a todo", wanted });
        }
    }
    Ok(())
}
