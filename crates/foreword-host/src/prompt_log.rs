//! The events that every front end logs for a prompt it compiled, for log collectors.

use foreword::{Context, Prompt};

/// Logs `prompt_built`, and `prompt_assembled` where something was selected for the task.
pub fn log_prompt(blueprint: &str, context: &Context, prompt: &Prompt, build_time_ms: f64) {
    let metadata = prompt.metadata();
    tracing::info!(
        blueprint,
        module_count = metadata.module_count,
        modules = ?metadata.modules,
        estimated_tokens = metadata.estimated_tokens,
        tokens_by_module = ?metadata.tokens_by_module,
        percent_remaining = metadata.percent_remaining,
        over_budget = metadata.over_budget,
        omitted = prompt.omitted().len(),
        filtered = prompt.filtered().len(),
        build_time_ms,
        "prompt_built"
    );
    if let Some(selection) = &context.selection {
        let names = |selected: &[foreword::Selected]| {
            selected.iter().map(|it| it.name.inspect().to_owned()).collect::<Vec<_>>()
        };
        tracing::info!(
            mode = context.mode().as_str(),
            tools = ?names(&selection.tools),
            skills = ?names(&selection.skills),
            memories = context.memories.len(),
            activity = context.activity.len(),
            filtered_count = filtered_count(prompt),
            embedding_calls = selection.embedding_calls,
            embedder = selection.embedder.as_ref().map_or("none", |embedder| embedder.inspect()),
            degraded = selection.degraded.is_some(),
            estimated_tokens = metadata.estimated_tokens,
            build_time_ms,
            "prompt_assembled"
        );
    }
}

/// The number of memories and activity entries that were left out.
pub fn filtered_count(prompt: &Prompt) -> usize {
    if let Some(selection) = prompt.selection() {
        return selection.filtered_count as usize;
    }
    let kinds = prompt.filtered().iter().map(|filtered| filtered.kind.as_str());
    kinds.filter(|kind| ["memory", "activity"].contains(kind)).count()
}
