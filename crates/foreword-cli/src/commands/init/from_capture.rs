//! `--from-capture`: the system prompt of a captured session as a workspace.

use std::fmt::Write as _;
use std::path::Path;

use foreword::{Estimate, Prices};
use foreword_gather::{Request, gather};
use foreword_watch::{CaptureStore, Layout, ReportOptions, layout};

use crate::commands::watch::print::{money, thousands};
use crate::error::CliError;
use crate::migrate::{NewFile, for_blueprint};
use crate::terminal::counted;
use crate::user_env::captures_dir;

/// The blueprint of the workspace.
const BLUEPRINT: &str = "captured.toml";
const FOLDER: &str = "prompts/captured";
/// Calls whose savings are told one by one.
const MAX_CALLS: usize = 20;

/// A captured prompt.
pub(super) struct Captured {
    pub(super) layout: Layout,
    prices_date: String,
}

/// Reads a capture: `latest`, an ID or a part of one.
pub(super) fn read(id: &str) -> Result<Captured, CliError> {
    let store = CaptureStore::new(captures_dir()?);
    let id = store.resolve(Some(id).filter(|id| *id != "latest"))?;
    let capture = store.read(&id)?;
    let prices = Prices::built_in().map_err(|error| CliError::internal(error.to_string()))?;
    let options = ReportOptions { counter: &Estimate, prices: &prices, with_texts: false };
    Ok(Captured { layout: layout(&capture, &options)?, prices_date: prices.date.clone() })
}

impl Captured {
    /// The files of the workspace.
    pub(super) fn files(&self) -> Vec<NewFile> {
        let mut blueprint = format!(
            "# The system prompt of capture {}, one file per section.\nname = \"captured\"\nturn_context = true\n",
            self.layout.capture
        );
        let mut files = Vec::new();
        for file in &self.layout.files {
            let path = format!("{FOLDER}/{}.md", file.name);
            let _ = write!(
                blueprint,
                "\n[[module]]\nname = \"{}\"\nfile = \"{path}\"\npriority = {}\n",
                file.name,
                if file.is_turn { 90 } else { 10 }
            );
            if file.is_turn {
                blueprint.push_str(
                    "# These lines changed from call to call. In the turn context they cost no cache.\nvolatility = \"turn\"\n",
                );
            }
            files.push(NewFile::text(path, file.text.clone()));
        }
        files.push(NewFile::text(BLUEPRINT, blueprint));
        files.push(for_blueprint(BLUEPRINT));
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files
    }

    /// What the layout would have saved, call by call.
    pub(super) fn notes(&self) -> Vec<String> {
        let layout = &self.layout;
        let mut notes = Vec::new();
        for saving in layout.savings.iter().take(MAX_CALLS) {
            let price = saving.saved_usd.filter(|usd| *usd > 0.0);
            let price = price.map_or(String::new(), |usd| format!(", {}", money(usd)));
            notes.push(format!(
                "call {}: {} tokens in common with the call before, {} with this layout: saves {}{price}",
                saving.call,
                thousands(saving.common_tokens),
                thousands(saving.layout_tokens),
                thousands(saving.saved_tokens),
            ));
        }
        if !layout.savings.is_empty() {
            let price = layout.saved_usd.filter(|usd| *usd > 0.0);
            let price = price.map_or(String::new(), |usd| {
                format!(" and {} at the prices of {}", money(usd), self.prices_date)
            });
            notes.push(format!(
                "on the {} of the capture, this layout would have saved {} tokens{price}",
                counted(layout.savings.len() as u64 + 1, "call"),
                thousands(layout.saved_tokens)
            ));
        }
        if layout.is_redacted {
            notes.push("secrets in the prompt were removed when it was captured".to_owned());
        }
        notes
    }

    /// Builds the prompt of the new workspace and says whether it is the captured one.
    pub(super) fn compare(&self, workspace: &Path) -> Result<String, CliError> {
        let gathered = gather(workspace, &Request::default())?;
        let prompt = gathered.blueprint.build(&gathered.context);
        let (built, captured) = (prompt.system().trim_end(), self.layout.system.as_str());
        if built == captured && prompt.turn_context().trim_end() == self.layout.turn.trim_end() {
            return Ok(match self.layout.turn.is_empty() {
                true => "once you trust it, `foreword build` gives the captured system prompt byte for byte".to_owned(),
                false => "once you trust it, `foreword build` gives the captured system prompt byte for byte; the lines that changed are in its turn context".to_owned(),
            });
        }
        let same =
            built.bytes().zip(captured.bytes()).take_while(|(one, other)| one == other).count();
        let line = 1 + built.bytes().take(same).filter(|byte| *byte == b'\n').count();
        Ok(format!(
            "`foreword build` differs from the captured system prompt from line {line} on: text that could pass for the prompt's own structure is escaped"
        ))
    }
}
