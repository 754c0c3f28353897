//! One file or folder per command: its arguments, its help and what it does.
//!
//! To add a command, write a module with an `Args` struct and `run`, and add it to the list below.

mod agent;
mod approve;
mod audit;
mod backup;
mod build;
pub(crate) mod chat;
mod check_request;
mod compactions;
mod completions;
mod database;
mod diff;
mod eval;
mod explain;
mod index;
mod init;
mod lint;
mod man;
mod mcp;
mod memory;
mod model;
mod permissions;
mod restore;
mod run;
mod sandbox;
mod sandbox_launch;
mod scan;
mod schedule;
mod schema;
mod serve;
pub(crate) mod session;
mod skill;
mod sync;
mod taint;
mod trust;
mod watch;

use clap::Subcommand;

use crate::error::CliError;
use crate::terminal::Terminal;
use crate::workspace_arg::WorkspaceArg;

/// Makes the enum of commands and its dispatch from one list, in the order of the help page.
macro_rules! commands {
    ($($(#[$attribute:meta])* $name:ident($module:ident::$arguments:ident),)*) => {
        #[derive(Subcommand, Debug)]
        pub(crate) enum Command {
            $($(#[$attribute])* $name($module::$arguments),)*
        }

        impl Command {
            pub(crate) fn run(&self, workspace: &WorkspaceArg, terminal: &Terminal) -> Result<(), CliError> {
                match self {
                    $(Self::$name(arguments) => $module::run(workspace, arguments, terminal),)*
                }
            }
        }
    };
}

commands! {
    Init(init::InitArgs),
    Sync(sync::SyncArgs),
    Build(build::BuildArgs),
    Explain(explain::ExplainArgs),
    Diff(diff::DiffArgs),
    Lint(lint::LintArgs),
    Run(run::RunArgs),
    Chat(chat::ChatArgs),
    Approve(approve::ApproveArgs),
    Trust(trust::TrustArgs),
    Permissions(permissions::PermissionsArgs),
    #[command(subcommand)]
    Taint(taint::TaintCommand),
    #[command(subcommand)]
    Session(session::SessionCommand),
    #[command(subcommand)]
    Schedule(schedule::ScheduleCommand),
    #[command(subcommand)]
    Skill(skill::SkillCommand),
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Watch(watch::WatchArgs),
    CheckRequest(check_request::CheckRequestArgs),
    Scan(scan::ScanArgs),
    Index(index::IndexArgs),
    #[command(subcommand)]
    Model(model::ModelCommand),
    #[command(subcommand)]
    Eval(eval::EvalCommand),
    Mcp(mcp::McpArgs),
    Serve(serve::ServeArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(hide = true)]
    Agent(agent::AgentArgs),
    #[command(hide = true, name = "sandbox-launch", disable_help_flag = true)]
    SandboxLaunch(sandbox_launch::SandboxLaunchArgs),
}
