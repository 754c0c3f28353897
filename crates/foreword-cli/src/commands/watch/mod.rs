//! `foreword watch`: records the model calls of any program, and reports on them.

mod captures;
mod child;
mod fail_on;
mod live;
pub(crate) mod print;
mod upstreams;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use foreword::{Estimate, Prices, TokenCounter};
use foreword_serve::Tokenizer;
use foreword_watch::{
    Callers, Capture, CaptureStore, ProjectFiles, Proxy, ProxyConfig, Report, ReportOptions, Sink,
    report, report_page,
};

use self::fail_on::FailOn;
use self::live::Live;
use self::upstreams::Upstreams;
use crate::commands::scan::scanner;
use crate::error::CliError;
use crate::inputs::counter;
use crate::page_file::write_page;
use crate::terminal::{Terminal, counted};
use crate::user_env::captures_dir;
use crate::workspace_arg::WorkspaceArg;

/// How long requests that are under way may go on when the program has ended.
const PATIENCE: Duration = Duration::from_secs(3);

/// What to do about programs that do not read their base URL from the environment.
const CODEX_HINT: &str = r#"Codex takes its base URL from an option: foreword watch -- sh -c 'codex -c model_provider=w -c "model_providers.w={name=\"w\",base_url=\"$OPENAI_BASE_URL\",wire_api=\"responses\",env_key=\"OPENAI_API_KEY\"}"'"#;
const PI_HINT: &str = "pi takes its base URL from models.json; run `foreword watch --proxy 7070` and set \"baseUrl\" to the printed URL";
const OTHER_HINT: &str = "the program may read its base URL from another variable or a file; name a variable with --env, \
    or use `foreword watch --proxy 7070` and set the URL in the file";

/// Record what a program sends to its model, and report on it
///
/// Starts a proxy on this machine, sets ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL for the program,
/// and passes every byte on to the provider. Prints one line per call, and at the end where the text came from, what
/// broke the cache and what it cost. Exits with the exit code of the program. Keys are never stored.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword watch -- claude -p \"fix the failing test\"
  foreword watch --fail-on cache-break,secret,tokens:50000 -- python3 agent.py
  foreword watch --env MISTRAL_BASE_URL=https://api.mistral.ai/v1 -- ./agent
  foreword watch --proxy 7070
  foreword watch report")]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    action: Option<WatchCommand>,
    #[command(flatten)]
    record: RecordArgs,
}

// Doc comments on flattened structs replace the description of the command, so these have none.
#[derive(Args, Debug)]
struct RecordArgs {
    /// Start only the proxy, on this port (0 for a free one), until Ctrl-C
    #[arg(long, value_name = "PORT", conflicts_with = "command")]
    proxy: Option<u16>,
    /// Also set this variable for the program; the upstream is its current value, or the URL after `=`
    #[arg(long, value_name = "NAME[=URL]")]
    env: Vec<String>,
    /// Exit with 1 if the program succeeds and this is found: cache-break, secret, injection, tokens:N
    #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
    fail_on: Vec<FailOn>,
    /// Captures to keep; older ones are deleted
    #[arg(long, value_name = "N", default_value_t = 50)]
    keep: usize,
    /// Serve programs of every user on this machine
    #[arg(long)]
    any_user: bool,
    #[command(flatten)]
    counting: CountingArgs,
    /// Program to run, with its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl RecordArgs {
    /// Whether anything was given that only a recording uses.
    fn is_given(&self) -> bool {
        self.proxy.is_some()
            || !self.env.is_empty()
            || !self.fail_on.is_empty()
            || self.any_user
            || self.counting.prices.is_some()
            || !self.command.is_empty()
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CountingArgs {
    /// Token counter
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub(crate) tokenizer: Tokenizer,
    /// Price table to use instead of the built-in one
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum WatchCommand {
    /// Show the report of a capture
    #[command(after_help = "\
Examples:
  foreword watch report
  foreword watch report 20261117-120000-4f2a8c11 --tokenizer o200k
  foreword watch report --html report.html
  foreword watch report --json | jq '.calls[].cache'")]
    Report {
        /// ID of the capture, or a part of it [default: the latest]
        id: Option<String>,
        /// Write a self-contained HTML page with the text that was sent and its sources
        #[arg(long, value_name = "FILE")]
        html: Option<PathBuf>,
        /// Exit with 1 if this is found: cache-break, secret, injection, tokens:N
        #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
        fail_on: Vec<FailOn>,
        #[command(flatten)]
        counting: CountingArgs,
    },
    /// List captures, newest first
    #[command(after_help = "\
Examples:
  foreword watch list
  foreword watch list --json | jq -r '.[].id'")]
    List,
    /// Print the request and the answer of a call, redacted
    #[command(after_help = "\
Examples:
  foreword watch show 20261117-120000-4f2a8c11 2
  foreword watch show 4f2a8c11 2 --json | jq .request.system")]
    Show {
        /// ID of the capture, or a part of it
        id: String,
        /// Number of the call
        #[arg(default_value_t = 1)]
        call: usize,
    },
    /// Delete captures
    #[command(after_help = "\
Examples:
  foreword watch rm 20261117-120000-4f2a8c11
  foreword watch rm --all --yes")]
    Rm {
        /// IDs of the captures
        #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// Delete all captures
        #[arg(long)]
        all: bool,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &WatchArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let store = CaptureStore::new(captures_dir()?);
    if args.action.is_some() && args.record.is_given() {
        return Err(CliError::usage("recording options cannot be combined with a subcommand")
            .hint("to record, run `foreword watch [OPTIONS] -- PROGRAM`"));
    }
    match &args.action {
        Some(WatchCommand::Report { id, html, fail_on, counting }) => {
            let id = store.resolve(id.as_deref())?;
            let capture = store.read(&id)?;
            if let Some(path) = html {
                let made = report_on(&capture, workspace.given(), counting, true)?;
                write_page(path, &report_page(&made), terminal)?;
            }
            let made = report_on(&capture, workspace.given(), counting, false)?;
            if terminal.json {
                terminal.print_json(&made)?;
            } else if html.is_none() {
                terminal.print(&print::text(&made))?;
            }
            fail_on::check(fail_on, &made)
        }
        Some(WatchCommand::List) => captures::list(&store, terminal),
        Some(WatchCommand::Show { id, call }) => captures::show(&store, id, *call, terminal),
        Some(WatchCommand::Rm { ids, all, yes }) => {
            captures::remove(&store, ids, *all, *yes, terminal)
        }
        None => record(workspace, &args.record, &store, terminal),
    }
}

fn record(
    workspace: &WorkspaceArg,
    args: &RecordArgs,
    store: &CaptureStore,
    terminal: &Terminal,
) -> Result<(), CliError> {
    if args.command.is_empty() && args.proxy.is_none() {
        return Err(CliError::usage("no program to watch")
            .hint("run one: `foreword watch -- PROGRAM`")
            .hint("or start only the proxy: `foreword watch --proxy 7070`"));
    }
    let prices = prices(&args.counting)?;
    let upstreams = Upstreams::new(&args.env, &|name| std::env::var(name).ok())?;
    let directory = std::path::absolute(workspace.directory())
        .map_err(|error| CliError::usage(format!("cannot use the current directory: {error}")))?;
    let words: Vec<String> =
        args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let live = Arc::new(Live::new(terminal, prices));
    let told = Arc::clone(&live);
    let (info, recorder) =
        store.create(&words, &directory, random()?, move |summary| told.call(summary))?;
    let callers = if args.any_user { Callers::Anyone } else { Callers::of_this_user(random()?) };
    let config = ProxyConfig {
        port: args.proxy.unwrap_or(0),
        routes: upstreams.routes().to_vec(),
        callers,
        upstream_silence: None,
    };
    let certificates = std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty());
    let certificates = certificates.as_deref().map(Path::new);
    let proxy = match Proxy::start(config, certificates, Arc::clone(&recorder) as Arc<dyn Sink>) {
        Ok(proxy) => proxy,
        Err(error) => {
            // Nothing was recorded.
            let _ = recorder.finish(None);
            let _ = store.remove(&info.id);
            return Err(error.into());
        }
    };
    let ended = if args.command.is_empty() {
        upstreams.announce(&proxy, terminal);
        child::wait_for_interrupt().map(|()| None)
    } else {
        child::run(&args.command, &upstreams.variables(&proxy), terminal).map(Some)
    };
    proxy.finish(PATIENCE);
    let code = match ended {
        Ok(code) => code,
        Err(error) => {
            let _ = recorder.finish(None);
            let _ = store.remove(&info.id);
            return Err(error);
        }
    };
    recorder.finish(code)?;
    live.finish();
    let capture = store.read(&info.id)?;
    let outcome = conclude(&capture, workspace, args, terminal);
    let pruned = store.prune(args.keep.max(1))?;
    if pruned > 0 {
        terminal.say(&format!(
            "deleted {} (--keep {})",
            counted(pruned as u64, "old capture"),
            args.keep
        ));
    }
    match (code.unwrap_or(0), outcome) {
        (0, outcome) => outcome,
        (code, outcome) => {
            // The program's own failure is the result; what else went wrong is said.
            if let Err(error) = outcome {
                terminal.warn(&error.message);
            }
            std::process::exit(code);
        }
    }
}

/// Shows the report of what was just recorded.
fn conclude(
    capture: &Capture,
    workspace: &WorkspaceArg,
    args: &RecordArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let made = report_on(capture, workspace.given(), &args.counting, false)?;
    if terminal.json {
        terminal.print_json(&made)?;
    } else if made.totals.calls > 0 {
        terminal.say(&format!("\n{}", print::text(&made).trim_end()));
    }
    if made.totals.calls == 0 {
        terminal.warn("no model calls were recorded");
        let program = args.command.first().map(Path::new).and_then(Path::file_name);
        let hint = match program.and_then(|name| name.to_str()) {
            Some("codex") => CODEX_HINT,
            Some("pi") => PI_HINT,
            _ => OTHER_HINT,
        };
        terminal.say(&format!("hint: {hint}"));
    }
    fail_on::check(&args.fail_on, &made)
}

/// The report of a capture. Text is compared with the files of the directory it was recorded in, unless
/// another one is given.
pub(crate) fn report_on(
    capture: &Capture,
    directory: Option<&Path>,
    counting: &CountingArgs,
    with_texts: bool,
) -> Result<Report, CliError> {
    let recorded = Path::new(&capture.info.directory);
    let files = ProjectFiles::read(directory.unwrap_or(recorded), std::env::home_dir().as_deref());
    let prices = prices(counting)?;
    let exact = counter(counting.tokenizer)?;
    let options = ReportOptions {
        counter: exact.as_deref().unwrap_or(&Estimate as &dyn TokenCounter),
        prices: &prices,
        with_texts,
    };
    Ok(report(capture, files.as_ref(), &scanner()?, &options))
}

/// The price table that the person names, or the built-in one.
pub(crate) fn prices(counting: &CountingArgs) -> Result<Prices, CliError> {
    Ok(foreword_host::load_prices(counting.prices.as_deref())?)
}

fn random<const N: usize>() -> Result<[u8; N], CliError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| CliError::internal(format!("cannot get random bytes: {error}")))?;
    Ok(bytes)
}
