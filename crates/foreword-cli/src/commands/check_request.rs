//! `foreword check-request`: the report of one request body, and whether a prompt is in it byte for byte.

use std::path::PathBuf;

use clap::Args;
use foreword::{Estimate, Manifest, TokenCounter, visible_line};
use foreword_watch::{
    Danger, DangerKind, ExpectedPrompt, ProjectFiles, PromptCheck, ReportOptions, check_prompt,
    check_request,
};
use serde::Serialize;

use crate::args::SourceArgs;
use crate::commands::scan::scanner;
use crate::commands::watch::print;
use crate::commands::watch::{CountingArgs, prices};
use crate::error::CliError;
use crate::inputs::{self, counter, display_name, read_input};
use crate::terminal::{Terminal, paint, plain_line};
use crate::workspace_arg::WorkspaceArg;

/// Report on one request body
///
/// Reads the JSON body of an Anthropic Messages, OpenAI Chat Completions, OpenAI Responses or Gemini request, and shows
/// its contents, where the text comes from, waste and dangers. With -w, also checks that the prompt of the
/// workspace is in it byte for byte, that the cache mark is at its boundary, and that no other text comes before it;
/// exits with 1 if not.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  foreword check-request body.json
  my-agent --dump-request | foreword check-request -w my-agent -
  foreword check-request body.json --json | jq .dangers")]
pub(crate) struct CheckRequestArgs {
    /// Request body as JSON, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// Task that the prompt was built for, with -w
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// Agent that the prompt was built for, with -w
    #[arg(short, long, value_name = "ID")]
    agent: Option<String>,
    /// Blueprint that the prompt was built with, with -w
    #[arg(short, long, value_name = "NAME|FILE")]
    blueprint: Option<String>,
    #[command(flatten)]
    counting: CountingArgs,
}

#[derive(Serialize)]
struct Checked<'c> {
    #[serde(flatten)]
    report: &'c foreword_watch::Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'c PromptCheck>,
}

pub(crate) fn run(
    workspace: &WorkspaceArg,
    args: &CheckRequestArgs,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let body = read_input(&args.file)?;
    let name = display_name(&args.file);
    let mut files = ProjectFiles::read(workspace.directory(), std::env::home_dir().as_deref());
    let gathered = match workspace.given() {
        None => None,
        Some(root) => {
            let source = SourceArgs {
                task: args.task.clone(),
                agent: args.agent.clone(),
                blueprint: args.blueprint.clone(),
                ..SourceArgs::default()
            };
            let gathered = inputs::resolve(root, &source)?;
            inputs::warn(root, &source, &gathered, terminal);
            Some(gathered)
        }
    };
    let prompt = gathered.as_ref().map(|gathered| gathered.blueprint.build(&gathered.context));
    if let (Some(files), Some(prompt)) = (&mut files, &prompt) {
        add_built_in(files, &prompt.manifest());
    }
    let prices = prices(&args.counting)?;
    let exact = counter(args.counting.tokenizer)?;
    let options = ReportOptions {
        counter: exact.as_deref().unwrap_or(&Estimate as &dyn TokenCounter),
        prices: &prices,
        with_texts: false,
    };
    let mut made = check_request(&body, files.as_ref(), &scanner()?, &options)
        .map_err(|error| CliError::from(error).in_file(&name))?;
    if let Some(prompt) = &prompt {
        // A title of the prompt is too short to be found as a source, and nobody else's text either.
        let content = prompt.manifest().content;
        let is_own = |danger: &Danger| content.lines().any(|line| line == danger.excerpt);
        made.dangers.retain(|danger| danger.kind != DangerKind::ForeignText || !is_own(danger));
    }
    let checked = match &prompt {
        None => None,
        Some(prompt) => {
            let (stable, _) = prompt.system_at_cache_boundary();
            // The turn context holds the time of the request, which this build cannot know.
            let expected = ExpectedPrompt {
                system: prompt.system(),
                stable_bytes: stable.len(),
                turn_context: None,
            };
            Some(check_prompt(&body, &expected)?)
        }
    };
    if terminal.json {
        terminal.print_json(&Checked { report: &made, prompt: checked.as_ref() })?;
    } else {
        let mut out = print::text(&made);
        if let Some(checked) = &checked {
            out.push_str(&describe(checked));
        }
        terminal.print(&out)?;
    }
    match checked.as_ref().and_then(problem) {
        Some(problem) => Err(CliError::failed(format!("{name}: {problem}"))),
        None => Ok(()),
    }
}

/// Where text comes from that the renderer wrote: titles, fences and facts of the machine.
const RENDERED: &str = "foreword";

/// Adds what no file of the workspace has: the texts of Foreword's own sections, and what it wrote around
/// all of them.
fn add_built_in(files: &mut ProjectFiles, manifest: &Manifest<'_>) {
    let text = |start: usize, end: usize| manifest.content.get(start..end).unwrap_or_default();
    let mut end_of_last = 0;
    for source in manifest.sections.iter().flat_map(|section| &section.sources) {
        let [start, end] = source.range;
        if source.path == "context" {
            continue;
        }
        if source.path.starts_with("builtin:") {
            files.add(source.path, text(start, end));
        }
        files.add(RENDERED, text(end_of_last, start));
        end_of_last = end_of_last.max(end);
    }
    files.add(RENDERED, text(end_of_last, manifest.content.len()));
}

fn describe(check: &PromptCheck) -> String {
    let mut out = format!("\n{}\n", paint("prompt of the workspace", "34"));
    let mut line = |right: bool, text: &str| {
        let mark = if right { paint("ok", "32") } else { paint("no", "31") };
        out.push_str(&format!("  {mark}  {text}\n"));
    };
    line(check.is_present, "in the request byte for byte");
    if let Some(difference) = &check.first_difference {
        let place =
            format!("first difference at byte {}, line {}", difference.byte, difference.line);
        line(false, &place);
        line(false, &format!("  built: {}", visible_line(&difference.expected)));
        line(false, &format!("  sent:  {}", visible_line(&difference.found)));
        return out;
    }
    match check.is_marked_at_boundary {
        Some(marked) => line(marked, "cache mark at the boundary of the stable part"),
        None => line(true, "the provider caches by itself"),
    }
    match &check.foreign_before {
        Some(text) => line(false, &format!("other text before it: {}", plain_line(text, 120))),
        None => line(true, "no other text before it"),
    }
    if let Some(text) = &check.foreign_after {
        line(true, &format!("other text behind it: {}", plain_line(text, 120)));
    }
    out
}

fn problem(check: &PromptCheck) -> Option<&'static str> {
    if check.is_right {
        None
    } else if !check.is_present {
        Some("the prompt of the workspace is not in the request byte for byte")
    } else if check.foreign_before.is_some() {
        Some("other text comes before the prompt of the workspace")
    } else {
        Some("no cache mark at the boundary of the stable part")
    }
}
