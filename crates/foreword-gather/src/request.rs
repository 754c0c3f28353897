//! What a front end asks for, and how it overrides a Context.
//!
//! The command line, `foreword serve` and the host each fill in a [`Request`]. [`Request::apply`] is
//! the only place where its session facts reach a Context, whether the Context was assembled from a
//! workspace or given as JSON.

use std::path::PathBuf;

use crate::select::embedders::Endpoint;
use foreword::{
    Context, Hints, HistoryOmitted, Line, ModeChoice, Profile, PromptMode, RunnerKind,
    RuntimeContext, Timestamp,
};

/// What a front end asks for. Everything that is given wins over the workspace's own settings.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The agent; the workspace's default where absent.
    pub agent: Option<String>,
    /// The name of a blueprint, or a path relative to the current directory.
    pub blueprint: Option<String>,
    /// What the person asked for.
    pub task: Option<String>,
    /// plan, act, review or auto.
    pub mode: Option<ModeChoice>,
    /// full, minimal or none.
    pub prompt_mode: Option<PromptMode>,
    /// What the caller knows that helps to infer the mode.
    pub hints: Hints,
    /// The session, whose memories no other session sees.
    pub session: Option<String>,
    /// Whose USER.md to read.
    pub user_id: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The channel.
    pub channel: Option<String>,
    /// The loop that runs the agent.
    pub agent_type: Option<String>,
    /// The runner whose names the tools have; the workspace's own names where absent.
    pub runner: Option<RunnerKind>,
    /// Whether the files beside each SKILL.md are read too, for a host that compares them with what the
    /// person trusted.
    pub whole_skills: bool,
    /// The security profile.
    pub profile: Option<Profile>,
    /// The sandbox.
    pub sandbox_type: Option<String>,
    /// The session's taint.
    pub taint_ratio: Option<f64>,
    /// Its threshold.
    pub taint_threshold: Option<f64>,
    /// Its threshold where neither the request nor the workspace chose a profile of its own.
    pub default_taint_threshold: Option<f64>,
    /// Tokens of the conversation so far.
    pub history_tokens: Option<u64>,
    /// Turns of the conversation that no longer fit.
    pub history_omitted: Option<HistoryOmitted>,
    /// Tokens kept for tool schemas and the current message.
    pub reserved_tokens: Option<u64>,
    /// The model's window.
    pub context_window: Option<u64>,
    /// Tokens kept for the answer.
    pub output_reserve: Option<u64>,
    /// A limit on the prompt.
    pub max_prompt_tokens: Option<u64>,
    /// A token that must not appear in output.
    pub canary: Option<String>,
    /// Whether the agent may stay silent; the workspace's setting where absent.
    pub reply_gate: Option<bool>,
    /// How the agent was started.
    pub runtime_context: Option<RuntimeContext>,
    /// The time. The caller has a clock; this crate does not look at one.
    pub now: Option<Timestamp>,
    /// Where the agent works; decides which nested AGENTS.md apply.
    pub cwd: Option<PathBuf>,
    /// Where the person's audit key is, which approvals are checked with. Without it no skill counts as
    /// approved.
    pub config_dir: Option<PathBuf>,
    /// Where installed models are.
    pub models_dir: Option<PathBuf>,
    /// The endpoint the person chose for embeddings.
    pub embeddings: Endpoint,
    /// Tools and surfaces of an agent for whom the workspace names none.
    pub default_tools: Vec<String>,
    /// Select nothing and show everything, to compare with.
    pub everything: bool,
    /// Leave out everything that differs between machines, for digests that a team shares.
    pub neutral: bool,
}

impl Request {
    /// Overrides the session facts of a Context with those that the request gives.
    pub fn apply(&self, context: &mut Context) {
        if let Some(task) = &self.task {
            context.task = task.as_str().into();
        }
        for (given, field) in [
            (&self.user_id, &mut context.user_id),
            (&self.model, &mut context.model),
            (&self.canary, &mut context.canary),
        ] {
            if let Some(given) = given {
                *field = Some(Line::new(given));
            }
        }
        for (given, field) in [
            (&self.agent_type, &mut context.agent_type),
            (&self.sandbox_type, &mut context.sandbox_type),
        ] {
            if let Some(given) = given {
                *field = Line::new(given).into();
            }
        }
        if let Some(channel) = &self.channel {
            context.channel = Line::new(channel);
        }
        for (given, field) in [
            (self.context_window, &mut context.context_window),
            (self.history_tokens, &mut context.history_tokens),
            (self.reserved_tokens, &mut context.reserved_tokens),
            (self.output_reserve, &mut context.output_reserve),
        ] {
            *field = given.unwrap_or(*field);
        }
        context.mode = self.mode.unwrap_or(context.mode);
        context.hints.is_interactive |= self.hints.is_interactive;
        context.hints.has_git_changes |= self.hints.has_git_changes;
        context.hints.has_named_files |= self.hints.has_named_files;
        context.reply_gate = self.reply_gate.unwrap_or(context.reply_gate);
        context.prompt_mode = self.prompt_mode.unwrap_or(context.prompt_mode);
        context.profile = self.profile.or(context.profile);
        context.taint_ratio = self.taint_ratio.unwrap_or(context.taint_ratio);
        context.taint_threshold = self.taint_threshold.or(context.taint_threshold);
        context.max_prompt_tokens = self.max_prompt_tokens.or(context.max_prompt_tokens);
        context.history_omitted = self.history_omitted.or(context.history_omitted);
        if self.now.is_some() {
            context.now.clone_from(&self.now);
        }
        if self.runtime_context.is_some() {
            context.runtime_context.clone_from(&self.runtime_context);
        }
    }
}
