//! Tasks shared by all agents of a workspace, and the to-do list of a session.

use foreword_protocol::{Failure, TaskCreate, TaskList, TaskUpdate, TodoWrite};
use foreword_store::{
    NewTask, StoreError, Task, TaskChange, TaskFilter, TaskId, TodoItem, Transaction,
};
use serde_json::{Value, json};

use super::content::ImportedTexts;
use super::{change, to_json};
use crate::error::HostError;
use crate::turn::active_session::ActiveSession;

const MAX_TASKS_LISTED: usize = 200;

pub(super) fn create(active: &ActiveSession, args: TaskCreate) -> Result<Value, Failure> {
    let parts = DetailParts {
        criteria: args.acceptance_criteria,
        dependencies: args.dependencies,
        note: args.note.map(|note| note_by(active, &note)),
    };
    let detail = parts.added_to(args.description);
    let new = NewTask {
        title: args.title,
        detail,
        assignee: args.assignee,
        by: active.actor(),
        session: Some(active.identity.session.clone()),
        tainted: active.is_tainted()?,
    };
    let id = change(active, "task_create", move |write, now| {
        parts.check(write)?;
        let id = write.task_create(&new, now)?;
        let detail = json!({ "task": id.as_str() });
        Ok((id, detail))
    })?;
    Ok(json!({ "id": id.as_str() }))
}

fn note_by(active: &ActiveSession, note: &str) -> String {
    format!("Note by {}: {note}", active.actor())
}

pub(super) fn list(active: &ActiveSession, args: &TaskList) -> Result<Value, Failure> {
    let filter =
        TaskFilter { state: args.state, assignee: args.assignee.clone(), ..TaskFilter::default() };
    let (tasks, unsealed) = active
        .host
        .reader
        .task_list_sealed(&active.host.key, &filter, MAX_TASKS_LISTED)
        .map_err(HostError::from)?;
    active.host.report_unsealed("task", unsealed.iter().map(TaskId::as_str));
    let mut texts = ImportedTexts::default();
    let tasks: Vec<Task> = tasks.into_iter().map(|task| fenced_task(task, &mut texts)).collect();
    texts.record(active, "task_list")?;
    Ok(json!({ "tasks": to_json(tasks)? }))
}

pub(super) fn update(active: &ActiveSession, args: TaskUpdate) -> Result<Value, Failure> {
    let TaskUpdate {
        id,
        state,
        title,
        description,
        acceptance_criteria,
        dependencies,
        note,
        assignee,
    } = args;
    let note = note.map(|note| note_by(active, &note));
    let parts = DetailParts { criteria: acceptance_criteria, dependencies, note };
    let has_text =
        title.is_some() || description.is_some() || assignee.is_some() || !parts.is_empty();
    let tainted = has_text && active.is_tainted()?;
    let mut wanted = TaskChange { state, title, detail: description, assignee, tainted };
    let task = change(active, "task_update", move |write, now| {
        if !parts.is_empty() {
            parts.check(write)?;
            let before = write.task(&id)?.detail;
            wanted.detail = parts.added_to(wanted.detail.take().or(before));
        }
        let task = write.task_update(&id, &wanted, now)?;
        let detail = json!({ "task": task.id.as_str() });
        Ok((task, detail))
    })?;
    let mut texts = ImportedTexts::default();
    let task = fenced_task(task, &mut texts);
    texts.record(active, "task_update")?;
    to_json(task)
}

/// What the detail of a task says besides its description, each in a paragraph of its own.
struct DetailParts {
    criteria: Vec<String>,
    dependencies: Vec<String>,
    note: Option<String>,
}

impl DetailParts {
    fn is_empty(&self) -> bool {
        self.criteria.is_empty() && self.dependencies.is_empty() && self.note.is_none()
    }

    /// Fails unless the tasks that are to be done first exist.
    fn check(&self, write: &Transaction<'_>) -> Result<(), StoreError> {
        self.dependencies.iter().try_for_each(|id| write.task(id).map(drop))
    }

    fn added_to(&self, detail: Option<String>) -> Option<String> {
        let mut parts: Vec<String> = detail.into_iter().collect();
        if !self.criteria.is_empty() {
            parts.push(format!("Acceptance criteria:\n- {}", self.criteria.join("\n- ")));
        }
        if !self.dependencies.is_empty() {
            parts.push(format!("Depends on: {}", self.dependencies.join(", ")));
        }
        parts.extend(self.note.clone());
        Some(parts.join("\n\n")).filter(|detail| !detail.is_empty())
    }
}

/// A task as an agent reads it.
fn fenced_task(mut task: Task, texts: &mut ImportedTexts) -> Task {
    let tainted = task.tainted;
    for text in
        [Some(&mut task.title), task.detail.as_mut(), task.assignee.as_mut()].into_iter().flatten()
    {
        *text = texts.fence("task", text, tainted);
    }
    task
}

pub(super) fn read_todos(active: &ActiveSession) -> Result<Value, Failure> {
    let items = active.host.reader.todo_read(&active.identity.session).map_err(HostError::from)?;
    Ok(json!({ "items": to_json(items)? }))
}

pub(super) fn write_todos(active: &ActiveSession, args: TodoWrite) -> Result<Value, Failure> {
    let items: Vec<TodoItem> = args
        .items
        .into_iter()
        .map(|item| TodoItem { text: item.text, state: item.state })
        .collect();
    let (session, count) = (active.identity.session.clone(), items.len());
    change(active, "todo_write", move |write, _| {
        write.todo_write(&session, &items)?;
        Ok(((), json!({ "items": count })))
    })?;
    Ok(json!({ "items": count }))
}
