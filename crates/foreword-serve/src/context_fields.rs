//! A Context from JSON that is already parsed, with errors that name its field.
//!
//! serde says what is wrong with a value, not where it stands. The fields are handed over one by one, so that
//! the one that was refused is known.

use foreword::{Context, ContextError};
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, Visitor};
use serde_json::{Error, Value, map};

use crate::failure::{Failure, invalid};

/// Reads and checks a Context.
pub(crate) fn read_context(json: Value) -> Result<Context, Failure> {
    let Value::Object(fields) = json else { return Ok(Context::from_value(json)?) };
    let mut refused = String::new();
    let fields = Fields { rest: fields.into_iter(), value: None, reading: &mut refused };
    let mut context = match Context::deserialize(fields) {
        Ok(context) => context,
        Err(error) if refused.is_empty() => return Err(ContextError::Json(error).into()),
        Err(error) => {
            return Err(invalid(&format!("Context field `{refused}`"), &error.to_string()));
        }
    };
    context.name_skills();
    context.validate()?;
    Ok(context)
}

/// The fields of an object. `reading` is the one whose value is read; empty for what is wrong with a name.
struct Fields<'f> {
    rest: map::IntoIter,
    value: Option<Value>,
    reading: &'f mut String,
}

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.reading.clear();
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let read = seed.deserialize(key.as_str().into_deserializer())?;
        *self.reading = key;
        Ok(Some(read))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.value.take().unwrap_or_default())
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_name_the_field() {
        let said = |json: Value| {
            let failure = read_context(json).unwrap_err();
            (failure.message, failure.hints)
        };
        assert_eq!(
            said(json!({"task": "x", "memories": "Ada likes tea"})),
            (
                "invalid Context field `memories`: invalid type: string \"Ada likes tea\", expected a list"
                    .to_owned(),
                Vec::<String>::new()
            )
        );
        assert_eq!(
            said(json!({"tools": ["a", {"nam": "x"}]})),
            (
                "invalid Context field `tools`: unknown field `nam`".to_owned(),
                vec!["did you mean `name`?".to_owned()]
            )
        );
        assert_eq!(
            said(json!({"taks": "x"})),
            (
                "invalid Context: unknown field `taks`".to_owned(),
                vec!["did you mean `task`?".to_owned()]
            )
        );
        assert!(said(json!([])).0.starts_with("invalid Context: invalid type"));
        assert!(said(json!({"taintRatio": 2})).0.contains("`taintRatio` is 2"));
    }

    #[test]
    fn what_is_right_is_read_as_everywhere() {
        let json = json!({"task": "x", "skills": ["# Tea\nBoil."], "tools": ["a"], "git": null});
        let read = serde_json::to_value(read_context(json.clone()).unwrap()).unwrap();
        assert_eq!(read, serde_json::to_value(Context::from_value(json).unwrap()).unwrap());
    }
}
