//! Keys of a JSON object that say one thing to every reader.
//!
//! A body is checked here and read by somebody else, whose reader may take the first of two equal
//! keys or the last, or may not care for upper and lower case. What two readers could understand
//! differently is refused.

use std::collections::BTreeSet;

use serde::de;

/// The keys of one object so far.
#[derive(Default)]
pub(crate) struct UniqueKeys(BTreeSet<String>);

impl UniqueKeys {
    /// Takes the next key. `known` are the keys whose meaning matters.
    pub(crate) fn take<E: de::Error>(&mut self, key: String, known: &[&str]) -> Result<(), E> {
        if !key.is_ascii() {
            return Err(E::custom(format_args!("the key `{}` is not ASCII", key.escape_debug())));
        }
        if let Some(meant) = known.iter().find(|known| known.eq_ignore_ascii_case(&key))
            && **meant != key
        {
            return Err(E::custom(format_args!("the key `{key}` could be read as `{meant}`")));
        }
        if self.0.contains(&key) {
            return Err(E::custom(format_args!("the key `{}` occurs twice", key.escape_debug())));
        }
        self.0.insert(key);
        Ok(())
    }
}
