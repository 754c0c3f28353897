//! What models cost: a dated table that a person can replace.

use serde::Deserialize;
use thiserror::Error;

use crate::tokens::usage::Usage;

const BUILT_IN: &str = include_str!("prices.toml");

/// A price table.
///
/// ```
/// use foreword::Prices;
///
/// let prices = Prices::built_in().unwrap();
/// assert!(prices.of("no-such-model").is_none());
/// assert_eq!(prices.date.len(), 10);
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// When the prices were published, such as `2026-10-15`.
    pub date: String,
    #[serde(rename = "model", default)]
    models: Vec<Price>,
}

/// What the models with one prefix cost, in US dollars per million tokens.
///
/// ```
/// use foreword::{Prices, Usage};
///
/// let prices = Prices::parse(
///     "date = \"2026-01-31\"\n\n[[model]]\nprefix = \"some\"\ninput = 2.0\ncached = 0.2\noutput = 10.0\n",
/// ).unwrap();
/// let usage = Usage { input_tokens: 1_000_000, ..Usage::default() };
/// assert_eq!(prices.of("vendor/some-model").unwrap().cost(usage), 2_000_000, "millionths of a dollar");
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    prefix: String,
    input: f64,
    cached: f64,
    #[serde(default)]
    cache_write: Option<f64>,
    output: f64,
}

/// A price table cannot be used.
///
/// ```
/// use foreword::Prices;
///
/// assert!(Prices::parse("not a table").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PricesError(String);

impl Prices {
    /// The table that is part of this program.
    ///
    /// # Errors
    ///
    /// Only if the table is damaged, which a test rules out.
    pub fn built_in() -> Result<Self, PricesError> {
        Self::parse(BUILT_IN)
    }

    /// Reads a table.
    ///
    /// # Errors
    ///
    /// If it is not such a table, or a price is negative or out of proportion.
    pub fn parse(text: &str) -> Result<Self, PricesError> {
        let table: Self = toml::from_str(text).map_err(|error| PricesError(error.to_string()))?;
        let is_price = |price: f64| (0.0..=1_000_000.0).contains(&price);
        let wrong = table.models.iter().find(|model| {
            let prices = [model.input, model.cached, model.output];
            model.prefix.is_empty() || !prices.into_iter().chain(model.cache_write).all(is_price)
        });
        match wrong {
            Some(model) => {
                Err(PricesError(format!("the entry for `{}` has no usable prices", model.prefix)))
            }
            None => Ok(table),
        }
    }

    /// The price of a model. `vendor/model` is looked up as `model`, and `claude-opus-4.5`, as some
    /// vendors write it, as `claude-opus-4-5`.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<&Price> {
        let bare = model.rsplit('/').next().unwrap_or(model);
        let dashed = bare.starts_with("claude-").then(|| bare.replace('.', "-"));
        let names = [Some(model), Some(bare), dashed.as_deref()];
        let fits = |price: &&Price| names.into_iter().flatten().any(|name| price.is_for(name));
        self.models.iter().filter(fits).max_by_key(|price| price.prefix.len())
    }
}

impl Price {
    fn is_for(&self, model: &str) -> bool {
        let rest = model.strip_prefix(self.prefix.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '@', ':']))
    }

    /// The cost in millionths of a US dollar, rounded up.
    #[must_use]
    pub fn cost(&self, usage: Usage) -> u64 {
        // Dollars per million tokens are millionths of a dollar per token.
        let cost = |tokens: u64, price: f64| as_f64(tokens) * price;
        let total = cost(usage.input_tokens, self.input)
            + cost(usage.output_tokens, self.output)
            + cost(usage.cache_read_tokens, self.cached)
            + cost(usage.cache_write_tokens, self.cache_write.unwrap_or(self.input));
        as_u64(total.ceil())
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
fn as_f64(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
fn as_u64(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, read: u64, write: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: read,
            cache_write_tokens: write,
        }
    }

    #[test]
    fn the_longest_prefix_wins() {
        let prices = Prices::built_in().unwrap();
        let million = usage(1_000_000, 0, 0, 0);
        let dollars = |model: &str| Some(prices.of(model)?.cost(million) / 1_000_000);
        assert_eq!(dollars("claude-opus-4-1-20250805"), Some(15));
        assert_eq!(dollars("claude-opus-4-5-20251101"), Some(5));
        assert_eq!(dollars("anthropic/claude-sonnet-4.5"), Some(3));
        assert_eq!(dollars("anthropic/claude-opus-4.6"), Some(5));
        assert_eq!(dollars("gpt-5.2-2025-12-11"), Some(1), "$1.75");
        assert_eq!(dollars("gpt-5.9"), None, "another model than gpt-5");
        assert_eq!(dollars("llama3.3"), None);
        assert_eq!(dollars(""), None);
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let prices = Prices::built_in().unwrap();
        let sonnet = prices.of("claude-sonnet-4-20250514").unwrap();
        assert_eq!(sonnet.cost(usage(1000, 100, 10_000, 2000)), 3000 + 1500 + 3000 + 7500);
        let gpt = prices.of("gpt-4o").unwrap();
        assert_eq!(gpt.cost(usage(1, 0, 0, 1)), 5, "without a price of its own, a write is input");
        assert_eq!(gpt.cost(usage(0, 0, 1, 0)), 2, "rounded up");
        assert_eq!(sonnet.cost(usage(u64::MAX, 0, 0, 0)), u64::MAX);
    }
}
