//! What an agent is started with: its sandbox and its job.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;

use foreword::estimate;
use foreword_protocol::{ConversationRoom, Job, JobLimits, RunnerKind};
use foreword_sandbox::{DEFAULT_PATH, Limits, SandboxKind, SandboxSpec};
use foreword_store::TurnNumber;

use crate::error::HostError;
use crate::governance::before::BeforeTurn;
use crate::governance::permissions::{file_rules, restrictions};
use crate::governance::protected::ProtectedPaths;
use crate::host::Host;
use crate::turn::prepare::PreparedTurn;
use crate::turn::run_dir::RunDir;

impl Host {
    pub(crate) fn sandbox_spec(
        &self,
        prepared: &PreparedTurn,
        protected: &ProtectedPaths,
        before: &BeforeTurn,
        run_dir: &RunDir,
    ) -> Result<SandboxSpec, HostError> {
        let resolved = |path: &std::path::Path| {
            path.canonicalize()
                .map_err(|error| HostError::io(format!("open {}", path.display()), error))
        };
        let mut path: Vec<String> =
            prepared.program.path.iter().map(|path| path.display().to_string()).collect();
        path.push(DEFAULT_PATH.to_owned());
        let mut env = BTreeMap::from([("PATH".to_owned(), path.join(":"))]);
        for name in ["LANG", "LC_ALL", "TERM", "TZ"] {
            env.extend((self.options.environment)(name).map(|value| (name.to_owned(), value)));
        }
        let mut private = protected.private.clone();
        private.push(self.options.config_dir.clone());
        let mut read_only = protected.read_only.clone();
        read_only.extend(before.read_only());
        let mut shown = prepared.program.read_only.clone();
        shown.extend(self.options.library.clone());
        Ok(SandboxSpec {
            workspace: self.root.clone(),
            cwd: prepared.turn.cwd.clone(),
            writable: true,
            governed: read_only,
            private,
            home: self.options.home.clone(),
            program: resolved(&self.options.program)?,
            args: vec!["agent".to_owned()],
            read_only: shown,
            run_dir: resolved(&run_dir.shared())?,
            bridge_ports: bridge_ports(prepared)?,
            limits: Limits::default()
                .set(&self.settings()?.sandbox)
                .tightened(&prepared.turn.config.host.limits),
            env,
        })
    }

    pub(crate) fn job(
        &self,
        prepared: &PreparedTurn,
        socket: std::path::PathBuf,
        token: &str,
        spec: &SandboxSpec,
        turn: TurnNumber,
    ) -> Result<String, HostError> {
        let host = &prepared.turn.config.host;
        let job = Job {
            message: prepared.turn.message.clone(),
            history: prepared.turn.history.messages.clone(),
            context: prepared.turn.context.clone(),
            blueprint: prepared.turn.blueprint.source().clone(),
            runner: prepared.turn.runner,
            provider: prepared.upstream.provider,
            model: prepared.model.clone(),
            stream: true,
            tools: prepared.turn.tools.specs.clone(),
            commands: prepared.turn.tools.commands.clone(),
            restrictions: restrictions(&prepared.permissions),
            file_rules: file_rules(&prepared.permissions, &self.root),
            cwd: prepared.turn.cwd.clone(),
            socket,
            token: token.to_owned(),
            foreword: spec.program.clone(),
            cli: prepared.program.cli.clone(),
            bridge_port: spec.bridge_ports.as_ref().map(|ports| *ports.start()),
            limits: JobLimits {
                max_steps: host.max_steps,
                command_seconds: host.command_seconds,
                max_output_tokens: prepared.max_output_tokens(),
                ..JobLimits::default()
            },
            turn: turn.0,
            room: Some(room(prepared)),
        };
        serde_json::to_string(&job)
            .map_err(|error| HostError::agent(format!("cannot write the agent's job: {error}")))
    }
}

/// How many tokens the conversation of a turn may have: the space beside the prompt, and the message, which
/// the prompt's part of the window has room for.
fn room(prepared: &PreparedTurn) -> ConversationRoom {
    let space = prepared.turn.history.room;
    let share = u64::from(prepared.turn.config.host.compact_at.min(100));
    let message = u64::from(estimate(&prepared.turn.message));
    ConversationRoom {
        compact_at: space.saturating_mul(share) / 100 + message,
        most: space + message,
    }
}

/// Ports for the bridge to the model, where the sandbox shares the host's network.
fn bridge_ports(prepared: &PreparedTurn) -> Result<Option<RangeInclusive<u16>>, HostError> {
    let shared =
        matches!(prepared.turn.sandbox.kind(), SandboxKind::Subprocess | SandboxKind::Seatbelt);
    if !shared || prepared.turn.runner == RunnerKind::Native {
        return Ok(None);
    }
    let failed = |error| HostError::io("find a free port for the bridge to the model", error);
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
    let port = free.local_addr().map_err(failed)?.port();
    Ok(Some(port..=port))
}
