//! Reads the price table that the person names, or the built-in one.

use std::path::Path;

use foreword::Prices;

use crate::error::HostError;

const MAX_TABLE_BYTES: u64 = 1 << 20;

/// The person's table, or the built-in one.
pub fn load_prices(file: Option<&Path>) -> Result<Prices, HostError> {
    let Some(file) = file else {
        return Prices::built_in().map_err(|error| HostError::Prices {
            path: "prices.toml".into(),
            reason: error.to_string(),
        });
    };
    let text = foreword_workspace::read_file(file, MAX_TABLE_BYTES)?.text;
    Prices::parse(&text)
        .map_err(|error| HostError::Prices { path: file.to_owned(), reason: error.to_string() })
}

#[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
pub(crate) fn as_f64(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub(crate) fn as_u64(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_the_person_replaces_ours() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("prices.toml");
        let load = |text: &str| {
            std::fs::write(&file, text).unwrap();
            load_prices(Some(&file)).map_err(|error| error.to_string())
        };
        let own =
            "date = '2026-01-01'\n[[model]]\nprefix = 'my'\ninput = 1\ncached = 0\noutput = 2\n";
        let prices = load(own).unwrap();
        assert!(prices.of("my-model").is_some() && prices.of("gpt-5").is_none());
        for wrong in ["", "date = 1", &own.replace("input = 1", "input = -1"), "date = ''\nx = 1"] {
            let error = load(wrong).unwrap_err();
            assert!(error.contains("prices.toml"), "{error}");
        }
    }
}
