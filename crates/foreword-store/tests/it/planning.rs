//! What agents plan: tasks, todos, and schedules that exactly one host runs.

use crate::fixture::{Fixture, NOW_MS, session};
use foreword_store::{
    MAX_DETAIL_BYTES, MAX_OPEN_TASKS, MAX_PROMPT_BYTES, MAX_SCHEDULES, MAX_TITLE_BYTES,
    MAX_TODO_CHARS, MAX_TODOS, NewSchedule, NewTask, ScheduleId, SessionId, Store, StoreError,
    TaskChange, TaskFilter, TaskId, TaskState, TodoItem, TodoState, When,
};

fn new_task(title: &str) -> NewTask {
    NewTask {
        title: title.to_owned(),
        detail: None,
        assignee: None,
        by: "agent:main".to_owned(),
        session: None,
        tainted: false,
    }
}

fn create(store: &Store, new: &NewTask) -> Result<TaskId, StoreError> {
    store.write(NOW_MS, |w| w.task_create(new, NOW_MS))
}

fn to(state: TaskState) -> TaskChange {
    TaskChange { state: Some(state), ..TaskChange::default() }
}

#[test]
fn a_task_changes_only_in_what_is_said() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    let new = NewTask {
        detail: Some("line one\nline two".to_owned()),
        assignee: Some("agent:helper".to_owned()),
        session: Some(id.clone()),
        ..new_task("Write the checklist")
    };
    let task = create(&store, &new).unwrap();
    assert_eq!(task.as_str().len(), 6);
    let found = store.task(&task.as_str().to_uppercase()).unwrap();
    assert_eq!((found.title.as_str(), found.state), ("Write the checklist", TaskState::Todo));
    assert_eq!(
        (found.detail.as_deref(), found.session.as_ref()),
        (new.detail.as_deref(), Some(&id))
    );

    let update = |change: &TaskChange| {
        store.write(NOW_MS, |w| w.task_update(task.as_str(), change, NOW_MS + 9)).unwrap()
    };
    let after = update(&to(TaskState::Doing));
    assert_eq!((after.state, after.changed_at), (TaskState::Doing, NOW_MS + 9));
    assert_eq!(
        (&after.title, &after.detail, &after.assignee),
        (&found.title, &found.detail, &found.assignee)
    );
    let after = update(&TaskChange {
        title: Some("Send it".to_owned()),
        detail: Some(String::new()),
        assignee: Some(String::new()),
        state: None,
        tainted: false,
    });
    assert_eq!((after.title.as_str(), after.detail, after.assignee), ("Send it", None, None));
    assert_eq!((after.state, after.created_at), (TaskState::Doing, NOW_MS));
    let error = store.write(NOW_MS, |w| w.task_update("zzzzzz9", &to(TaskState::Done), NOW_MS));
    assert_eq!(error.unwrap_err().to_string(), "there is no task `zzzzzz9`");
}

#[test]
fn tasks_are_listed_as_asked() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = session(&store, "main");
    for (title, assignee, state) in [
        ("a", "ada", TaskState::Todo),
        ("b", "bo", TaskState::Doing),
        ("c", "ada", TaskState::Done),
        ("d", "bo", TaskState::Blocked),
        ("e", "bo", TaskState::Dropped),
    ] {
        let new = NewTask {
            assignee: Some(assignee.to_owned()),
            session: Some(id.clone()).filter(|_| title != "a"),
            ..new_task(title)
        };
        let task = create(&store, &new).unwrap();
        store.write(NOW_MS, |w| w.task_update(task.as_str(), &to(state), NOW_MS)).unwrap();
    }
    let list = |filter: TaskFilter, limit| -> String {
        store.task_list(&filter, limit).unwrap().into_iter().map(|task| task.title).collect()
    };
    let all = TaskFilter::default;
    assert_eq!(list(all(), 100), "abcde");
    assert_eq!(list(all(), 2), "ab");
    assert_eq!(list(TaskFilter { unfinished: true, ..all() }, 100), "abd");
    assert_eq!(list(TaskFilter { state: Some(TaskState::Doing), ..all() }, 100), "b");
    let bo = TaskFilter { assignee: Some("bo".to_owned()), unfinished: true, ..all() };
    assert_eq!(list(bo, 100), "bd");
    assert_eq!(list(TaskFilter { session: Some(id), ..all() }, 100), "bcde");
}

#[test]
fn tasks_that_do_not_fit_are_refused() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let refused = |new: &NewTask| create(&store, new).unwrap_err().to_string();
    assert_eq!(refused(&new_task(" ")), "the title of a task must be one line of text");
    assert_eq!(refused(&new_task("a\nb")), "the title of a task must be one line of text");
    let title = "x".repeat(MAX_TITLE_BYTES + 1);
    assert_eq!(
        refused(&new_task(&title)),
        "the title of a task is 501 bytes long; the limit is 500"
    );
    let detail = Some("x".repeat(MAX_DETAIL_BYTES + 1));
    let long = NewTask { detail, ..new_task("x") };
    assert_eq!(refused(&long), "the detail of a task is 16385 bytes long; the limit is 16384");
    let session = Some(SessionId::parse("gone").unwrap());
    let elsewhere = NewTask { session, ..new_task("x") };
    assert_eq!(refused(&elsewhere), "there is no session `gone`");
}

#[test]
fn unfinished_tasks_are_bounded_and_old_finished_ones_forgotten() {
    const SEALED: i64 = 3100;
    let fixture = Fixture::new();
    let store = fixture.open();
    let first = create(&store, &new_task("first")).unwrap();
    // Those that change below are sealed; the others only count.
    store
        .write(NOW_MS, |w| {
            (1..SEALED).try_for_each(|_| w.task_create(&new_task("more"), NOW_MS).map(drop))
        })
        .unwrap();
    fixture
        .sql()
        .execute(
            "WITH RECURSIVE n (i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1) \
             INSERT INTO tasks (id, title, state, created_by, created_at, changed_at, tainted) \
             SELECT replace(replace(replace(replace(i, 0, 'w'), 1, 'x'), 8, 'y'), 9, 'z'), \
             'more', 'doing', 'agent:main', ?3, ?3, 0 FROM n",
            (SEALED, i64::try_from(MAX_OPEN_TASKS).unwrap(), NOW_MS),
        )
        .unwrap();
    let error = create(&store, &new_task("too many")).unwrap_err();
    assert_eq!(error.to_string(), "the limit of 10000 unfinished tasks is reached");
    let update = |id: &TaskId, state| {
        store.write(NOW_MS, |w| w.task_update(id.as_str(), &to(state), NOW_MS))
    };
    update(&first, TaskState::Done).unwrap();
    create(&store, &new_task("now there is room")).unwrap();
    let error = update(&first, TaskState::Todo).unwrap_err();
    assert!(matches!(error, StoreError::TooMany { .. }), "{error}");
    update(&first, TaskState::Dropped).unwrap();

    let open = TaskFilter { unfinished: true, ..TaskFilter::default() };
    for round in 0..3 {
        let tasks = store.task_list(&open, 1000).unwrap();
        store
            .write(NOW_MS, |w| {
                for task in &tasks {
                    let at = NOW_MS + 1 + round;
                    w.task_update(task.id.as_str(), &to(TaskState::Done), at)?;
                }
                Ok::<_, StoreError>(())
            })
            .unwrap();
    }
    let count: i64 = fixture
        .sql()
        .query_row("SELECT count(*) FROM tasks WHERE state = 'done'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 2000);
    assert!(matches!(store.task(first.as_str()), Err(StoreError::NoSuch { .. })));
}

#[test]
fn a_list_of_todos_is_replaced_as_a_whole() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let (id, other) = (session(&store, "main"), session(&store, "other"));
    let item = |text: &str, state| TodoItem { text: text.to_owned(), state };
    let write = |session: &SessionId, items: &[TodoItem]| {
        store.write(NOW_MS, |w| w.todo_write(session, items))
    };
    let items: Vec<_> = (0..MAX_TODOS)
        .map(|number| item(&format!("{}{number:03}", "ä".repeat(497)), TodoState::Pending))
        .collect();
    write(&id, &items).unwrap();
    write(&other, &[item("b", TodoState::Completed), item("a", TodoState::InProgress)]).unwrap();
    assert_eq!(store.todo_read(&id).unwrap(), items);
    assert_eq!(store.todo_read(&other).unwrap()[0], item("b", TodoState::Completed));

    let too_many = [items.clone(), items.clone()].concat();
    let error = write(&id, &too_many).unwrap_err();
    assert_eq!(error.to_string(), "the list of todos must be at most 200 items long");
    for text in ["", " ", "a\nb", &"ä".repeat(MAX_TODO_CHARS + 1)] {
        let error = write(&id, &[item(text, TodoState::Pending)]).unwrap_err();
        assert_eq!(error.to_string(), "the text of a todo must be one line of 1 to 500 characters");
    }
    assert_eq!(store.todo_read(&id).unwrap(), items, "what was refused changed nothing");
    write(&id, &[]).unwrap();
    assert_eq!(store.todo_read(&id).unwrap(), []);
    assert_eq!(store.todo_read(&other).unwrap().len(), 2);
    let gone = SessionId::parse("gone").unwrap();
    assert!(matches!(write(&gone, &[]), Err(StoreError::NoSuchSession { .. })));
}

fn new_schedule(next: i64) -> NewSchedule {
    NewSchedule {
        when: When::Cron("0 9 * * 1".to_owned()),
        prompt: "Write the weekly report.\nKeep it short.".to_owned(),
        agent: Some("main".to_owned()),
        session: None,
        by: "agent:main".to_owned(),
        next_at: NOW_MS + next,
        tainted: false,
    }
}

fn schedule(store: &Store, new: &NewSchedule) -> Result<ScheduleId, StoreError> {
    store.write(NOW_MS, |w| w.schedule_add(new, NOW_MS))
}

#[test]
fn taint_stays_with_what_was_written() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let id = create(&store, &new_task("Sort the mail")).unwrap();
    let update = |change: &TaskChange| {
        store.write(NOW_MS, |w| w.task_update(id.as_str(), change, NOW_MS)).unwrap().tainted
    };
    assert!(!update(&to(TaskState::Doing)));
    assert!(update(&TaskChange { tainted: true, ..TaskChange::default() }));
    assert!(update(&to(TaskState::Done)), "a clean change does not wash it");
    let tainted = NewTask { tainted: true, ..new_task("Pay") };
    assert!(store.task(create(&store, &tainted).unwrap().as_str()).unwrap().tainted);
    schedule(&store, &NewSchedule { tainted: true, ..new_schedule(1) }).unwrap();
    schedule(&store, &new_schedule(2)).unwrap();
    let tainted: Vec<bool> =
        store.schedule_list().unwrap().iter().map(|schedule| schedule.tainted).collect();
    assert_eq!(tainted, [true, false]);
}

#[test]
fn schedules_come_due_in_their_order() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let session = Some(session(&store, "main"));
    let late = schedule(&store, &new_schedule(30)).unwrap();
    let once = NewSchedule { when: When::At(NOW_MS + 10), session, ..new_schedule(10) };
    let once_id = schedule(&store, &once).unwrap();
    let due = |now: i64| -> Vec<ScheduleId> {
        let due = store.schedules_due(NOW_MS + now).unwrap();
        due.into_iter().map(|schedule| schedule.id).collect()
    };
    assert_eq!(due(9), []);
    assert_eq!(due(10), std::slice::from_ref(&once_id));
    assert_eq!(due(30), [once_id.clone(), late.clone()]);

    let claim = |id: &ScheduleId, expected: i64, next: Option<i64>| {
        let next = next.map(|next| NOW_MS + next);
        let claim =
            store.write(NOW_MS, |w| w.schedule_claim(id, NOW_MS + expected, next, NOW_MS + 31));
        claim.unwrap().is_some()
    };
    assert!(claim(&once_id, 10, None));
    assert!(!claim(&once_id, 10, None));
    assert!(!claim(&late, 29, Some(60)), "it is not due at that time");
    assert!(claim(&late, 30, Some(60)));
    assert_eq!(due(59), []);
    assert_eq!(due(60), std::slice::from_ref(&late));

    let listed = store.schedule_list().unwrap();
    assert_eq!((&listed[0].id, listed[0].next_at, listed[0].runs), (&late, Some(NOW_MS + 60), 1));
    assert_eq!((&listed[1].when, listed[1].next_at), (&When::At(NOW_MS + 10), None));
    assert_eq!(listed[1].last_at, Some(NOW_MS + 31));
    assert_eq!((&listed[0].prompt, &listed[0].agent), (&once.prompt, &once.agent));
    assert_eq!((&listed[0].session, &listed[1].session), (&None, &once.session));

    let removed = store.write(NOW_MS, |w| w.schedule_remove(late.as_str(), "user:ada")).unwrap();
    assert_eq!(removed.id, late);
    let error = store.write(NOW_MS, |w| w.schedule_remove(late.as_str(), "user:ada")).unwrap_err();
    assert_eq!(error.to_string(), format!("there is no schedule `{late}`"));
    assert!(!claim(&late, 60, None));
}

#[test]
fn exactly_one_of_several_hosts_runs_a_schedule() {
    let fixture = Fixture::new();
    let store = fixture.open();
    for _ in 0..10 {
        schedule(&store, &new_schedule(0)).unwrap();
    }
    let all_saw_them = std::sync::Barrier::new(6);
    let runs: usize = std::thread::scope(|scope| {
        let hosts: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let store = fixture.open();
                    let due = store.schedules_due(NOW_MS).unwrap();
                    all_saw_them.wait();
                    let claims = due.iter().filter(|schedule| {
                        let next = Some(NOW_MS + 1000);
                        let claim = store.write(NOW_MS, |w| {
                            w.schedule_claim(&schedule.id, schedule.next_at.unwrap(), next, NOW_MS)
                        });
                        claim.unwrap().is_some()
                    });
                    claims.count()
                })
            })
            .collect();
        hosts.into_iter().map(|host| host.join().unwrap()).sum()
    });
    assert_eq!(runs, 10);
    assert!(store.schedule_list().unwrap().iter().all(|schedule| schedule.runs == 1));
}

#[test]
fn schedules_are_bounded() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let refused = |new: &NewSchedule| schedule(&store, new).unwrap_err().to_string();
    let empty = NewSchedule { prompt: "\n".to_owned(), ..new_schedule(0) };
    assert_eq!(refused(&empty), "the prompt of a schedule must be a text that is not empty");
    let long = NewSchedule { prompt: "x".repeat(MAX_PROMPT_BYTES + 1), ..new_schedule(0) };
    assert_eq!(refused(&long), "the prompt of a schedule is 16385 bytes long; the limit is 16384");
    let cron = NewSchedule { when: When::Cron("*\n*".to_owned()), ..new_schedule(0) };
    assert_eq!(refused(&cron), "the cron expression must be one line of text");

    let ids: Vec<ScheduleId> = store
        .write(NOW_MS, |w| {
            (0..MAX_SCHEDULES).map(|_| w.schedule_add(&new_schedule(0), NOW_MS)).collect()
        })
        .map_err(|error: StoreError| error)
        .unwrap();
    let full = refused(&new_schedule(0));
    assert_eq!(full, "the limit of 1000 schedules is reached");

    // What has run for the last time makes room, and is not kept for ever.
    store
        .write(NOW_MS, |w| {
            for (number, id) in ids.iter().enumerate() {
                let at = NOW_MS + i64::try_from(number).unwrap();
                assert!(w.schedule_claim(id, NOW_MS, None, at)?.is_some());
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let left = store.schedule_list().unwrap();
    assert_eq!(left.len(), 100);
    assert_eq!(left[99].id, ids[999]);
    schedule(&store, &new_schedule(0)).unwrap();
}
