//! Enums that are stored and shown as words.

use rusqlite::Row;
use rusqlite::types::Type;

/// Gives an enum the words by which it is stored and shown.
macro_rules! stored_enum {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The word that is stored and shown.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What a word stands for, if it is one of them.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use stored_enum;

/// Reads a word from a row.
pub(crate) fn word<T>(
    row: &Row<'_>,
    column: usize,
    read: fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    read(&word).ok_or_else(|| {
        let message = format!("unknown value `{word}`");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, message.into())
    })
}
