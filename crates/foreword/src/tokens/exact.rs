//! The encodings and their names.

use crate::TokenCounter;

/// The names [`exact_counter`] knows, without the aliases `o200k_base` and
/// `cl100k_base`.
pub const TOKENIZERS: &[&str] = &["o200k", "cl100k"];

/// There is no tokenizer of this name.
///
/// ```
/// use foreword::exact_counter;
///
/// let error = exact_counter("o300k").err().unwrap();
/// assert_eq!(error.name, "o300k");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tokenizer `{name}`: use one of {}", TOKENIZERS.join(", "))]
pub struct UnknownTokenizer {
    /// The name asked for.
    pub name: String,
}

/// The exact exact_counter of that name: `o200k` (GPT-4o and later) or `cl100k`
/// (GPT-4, GPT-3.5). Nothing is loaded until its first count.
///
/// # Errors
///
/// If there is no tokenizer of that name.
pub fn exact_counter(name: &str) -> Result<Box<dyn TokenCounter>, UnknownTokenizer> {
    let exact = match name {
        "o200k" | "o200k_base" => Exact { id: "o200k", encoding: "o200k_base" },
        "cl100k" | "cl100k_base" => Exact { id: "cl100k", encoding: "cl100k_base" },
        _ => {
            return Err(UnknownTokenizer { name: name.to_owned() });
        }
    };
    Ok(Box::new(exact))
}

/// Counts with a vocabulary that the `tiktoken` crate loads once per process
/// and keeps.
struct Exact {
    id: &'static str,
    encoding: &'static str,
}

impl TokenCounter for Exact {
    fn id(&self) -> &str {
        self.id
    }

    fn count(&self, text: &str) -> u32 {
        // Both encodings are compiled in; were one ever missing, the estimate
        // is the nearest thing, and the test `both_are_compiled_in` fails.
        let tokens = tiktoken::get_encoding(self.encoding).map(|bpe| bpe.count(text));
        tokens.map_or_else(
            || crate::estimate(text),
            |tokens| u32::try_from(tokens).unwrap_or(u32::MAX),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_compiled_in() {
        for name in ["o200k_base", "cl100k_base"] {
            assert!(tiktoken::get_encoding(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_and_aliases() {
        for name in TOKENIZERS {
            assert_eq!(exact_counter(name).unwrap().id(), *name);
            assert_eq!(exact_counter(&format!("{name}_base")).unwrap().id(), *name);
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = exact_counter("claude").err().unwrap();
        assert_eq!(error.to_string(), "unknown tokenizer `claude`: use one of o200k, cl100k");
    }
}
