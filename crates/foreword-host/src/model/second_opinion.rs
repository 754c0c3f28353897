//! The configured model as a second opinion on skills: `[screen] model = true`.

use std::fmt::Write as _;
use std::path::Path;

use foreword::Prices;
use foreword_guard::{OpinionAnswer, OpinionQuestion, SecondOpinion};
use foreword_protocol::Usage;
use foreword_workspace::{Consent, Workspace};
use ureq::Agent;

use crate::error::HostError;
use crate::model::ask::{MAX_WAIT, Question};
use crate::model::upstream::{Person, Upstream, default_model};
use crate::spending::{dollars, load_prices};

/// The answer is one short object.
const MAX_OUTPUT_TOKENS: u32 = 400;

/// Asks the model of a workspace about skills.
#[derive(Debug)]
pub struct ModelOpinion {
    /// The model, or why it cannot be asked.
    model: Result<Model, String>,
}

#[derive(Debug)]
struct Model {
    name: String,
    upstream: Upstream,
    agent: Agent,
    prices: Prices,
}

impl ModelOpinion {
    /// The model of a workspace; `None` unless its settings ask for opinions.
    ///
    /// A model that cannot be asked, also because the person has not trusted the settings, leaves every
    /// open question to a person.
    pub fn of(
        workspace: &Workspace,
        config_dir: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let model = || Model::of(workspace, config_dir, environment);
        let wanted = workspace.config().screen.model;
        wanted.then(|| Self { model: model().map_err(|error| error.to_string()) })
    }
}

impl Model {
    fn of(
        workspace: &Workspace,
        config_dir: &Path,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, HostError> {
        let config = workspace.config();
        let consent = Consent::of(config_dir, workspace.root())?;
        let concerns = |key: &str| key.starts_with("screen.") || key.starts_with("model.");
        if consent.missing(config).iter().any(|change| concerns(&change.key)) {
            return Err(HostError::NotTrusted);
        }
        let settings = &consent.settings;
        let person = Person { settings, config_dir, environment };
        let default = || default_model(&config.model, person).map(str::to_owned);
        let name = config.model.name.clone().or_else(default).ok_or(HostError::NoModel)?;
        let upstream = Upstream::resolve(&config.model, workspace.root(), person)?;
        upstream.check_key()?;
        let prices = load_prices(settings.limits.prices.as_deref())?;
        let agent = Agent::config_builder()
            .timeout_global(Some(upstream.timeout.min(MAX_WAIT)))
            .http_status_as_error(false)
            // A redirect could send the credential to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .into();
        Ok(Self { name, upstream, agent, prices })
    }

    fn cost(&self, usage: Usage) -> String {
        let tokens = usage.input_tokens
            + usage.cache_read_tokens
            + usage.cache_write_tokens
            + usage.output_tokens;
        let mut text = format!("{}, {tokens} tokens", self.name);
        if let Some(price) = self.prices.of(&self.name) {
            let _ = write!(text, ", {}", dollars(price.cost(usage)));
        }
        text
    }

    fn ask(&self, question: &OpinionQuestion) -> Result<OpinionAnswer, String> {
        let question = Question {
            agent: &self.agent,
            upstream: &self.upstream,
            model: &self.name,
            system: question.system,
            message: &question.message,
            max_tokens: MAX_OUTPUT_TOKENS,
        };
        let (text, usage) = question.ask()?;
        Ok(OpinionAnswer { text, cost: self.cost(usage) })
    }
}

impl SecondOpinion for ModelOpinion {
    fn ask(&self, question: &OpinionQuestion) -> Result<OpinionAnswer, String> {
        match &self.model {
            Ok(model) => model.ask(question),
            Err(reason) => Err(reason.clone()),
        }
    }
}
