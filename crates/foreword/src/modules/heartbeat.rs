//! What to look after at each heartbeat, and the scheduling tools that are really there.

use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::context::field::Field;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::Line;

const INTRO: &str = "When you are woken without a message, go through this list. If nothing needs doing, say so in one line.";

/// Scheduling tools and what each is for. Only those in `tools` are named.
const SCHEDULING: [(&str, &str); 3] = [
    ("schedule_add", "`: run something later, once or on a cron schedule"),
    ("schedule_list", "`: see what is scheduled"),
    ("schedule_remove", "`: take something off the schedule"),
];

pub(super) struct Heartbeat;

impl Module for Heartbeat {
    fn name(&self) -> &'static str {
        "heartbeat"
    }

    fn spec(&self) -> Spec {
        Spec::optional(80, Authority::Operator, Volatility::Stable)
    }

    fn titles(&self) -> &'static [&'static str] {
        &["Heartbeat", "Scheduling"]
    }

    fn reads(&self) -> &'static [Field] {
        &[Field::Heartbeat]
    }

    fn should_include(&self, context: &Context) -> bool {
        !context.identity_files.heartbeat.is_blank()
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        section.prose("## Heartbeat");
        section.prose(INTRO);
        section.document(&context.identity_files.heartbeat, "HEARTBEAT.md");
        let mut first = true;
        for (name, purpose) in SCHEDULING {
            if let Some(tool) = context.tool(name) {
                if first {
                    section.prose("### Scheduling");
                    section.gap();
                }
                first = false;
                section.facts(&[("- `", tool.call_name()), (purpose, &Line::default())]);
            }
        }
    }
}
