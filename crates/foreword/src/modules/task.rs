//! What the person asked for.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};

/// The last layer of `semantic`: there even when no task is given, so that a reader can rely on it.
pub(super) struct TaskLayer;

impl Module for TaskLayer {
    fn name(&self) -> &'static str {
        "task-layer"
    }

    fn spec(&self) -> Spec {
        Spec::required(40, Authority::User, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["TASK"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Task]
    }

    fn should_include(&self, _context: &Context) -> bool {
        true
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("# TASK");
        if context.task.is_blank() {
            section.prose("(none given)");
        } else {
            section.document(&context.task, "task");
        }
    }
}

/// The last section of `standard`.
pub(super) struct Task;

impl Module for Task {
    fn name(&self) -> &'static str {
        "task"
    }

    fn spec(&self) -> Spec {
        Spec::required(99, Authority::User, Volatility::Turn)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Task"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Task]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.task.is_blank()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Task");
        section.document(&context.task, "task");
    }
}
