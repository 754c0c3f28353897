//! The configured model as a second opinion on skills: `[screen] model = true`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use foreword::Prices;
use foreword_guard::{OpinionAnswer, OpinionQuestion, SecondOpinion};
use foreword_protocol::{Answer, Block, Message, ModelCall, ModelRequest, SystemPart, Usage};
use foreword_workspace::{Consent, Workspace};
use serde_json::value::RawValue;
use ureq::Agent;

use crate::error::HostError;
use crate::model::proxy::{refused, send};
use crate::model::upstream::{Person, Upstream, default_model};
use crate::spending::{dollars, load_prices};

/// The answer is one short object.
const MAX_OUTPUT_TOKENS: u32 = 400;
const MAX_ANSWER_BYTES: u64 = 256 << 10;
/// The longest wait for an opinion: a person waits for the command.
const MAX_WAIT: Duration = Duration::from_secs(60);

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
        let provider = self.upstream.provider;
        let request = ModelRequest {
            provider,
            model: &self.name,
            system: &[SystemPart { text: question.system, cache_boundary: false }],
            turn_context: "",
            messages: &[Message::user(&question.message)],
            tools: &[],
            max_tokens: MAX_OUTPUT_TOKENS,
            stream: false,
        };
        let body = RawValue::from_string(request.body()).map_err(|error| error.to_string())?;
        let path = provider.path().to_owned();
        let call = ModelCall { path, headers: BTreeMap::new(), body };
        let response = send(&self.agent, &self.upstream, &call);
        let response = response.map_err(|error| format!("cannot reach the model: {error}"))?;
        if !response.status().is_success() {
            return Err(refused(response, &self.upstream).0.to_string());
        }
        let mut text = Vec::new();
        let reader = response.into_body().into_reader();
        let read = reader.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| format!("its answer broke off: {error}"))?;
        if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_ANSWER_BYTES {
            return Err(format!("its answer is longer than {MAX_ANSWER_BYTES} bytes"));
        }
        let text = String::from_utf8_lossy(&text);
        let answer = Answer::from_body(provider, &text).map_err(|error| error.to_string())?;
        let texts = answer.blocks.iter().filter_map(|block| match block {
            Block::Text { text } => Some(text.as_str()),
            _ => None,
        });
        Ok(OpinionAnswer { text: texts.collect(), cost: self.cost(answer.usage) })
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
