//! Fields that are a string in the simple case and an object in the full one.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// Reads a string through `from_string` or an object `M` through `from_map`. Unlike an untagged enum
/// it keeps the errors of the object (unknown field, wrong type) and their place in the file.
pub(crate) fn string_or_map<'de, D, T, M>(
    deserializer: D,
    expected: &'static str,
    from_string: fn(String) -> T,
    from_map: fn(M) -> T,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    deserializer.deserialize_any(Either { expected, from_string, from_map, _out: PhantomData })
}

/// Reads an object. A derived `Deserialize` alone would take a list for one, field by field.
pub(crate) fn only_map<'de, D, M>(deserializer: D) -> Result<M, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    deserializer.deserialize_map(OnlyMap(PhantomData))
}

/// The same where `null` means none.
pub(crate) fn optional_map<'de, D, M>(deserializer: D) -> Result<Option<M>, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
{
    struct Wanted<M>(M);
    impl<'de, M: Deserialize<'de>> Deserialize<'de> for Wanted<M> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            only_map(deserializer).map(Self)
        }
    }
    Ok(Option::<Wanted<M>>::deserialize(deserializer)?.map(|wanted| wanted.0))
}

/// Reads a value; `null` means the default, as if the field were absent.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// An object, or `null` for the default.
pub(crate) fn map_or_default<'de, D, M>(deserializer: D) -> Result<M, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de> + Default,
{
    Ok(optional_map(deserializer)?.unwrap_or_default())
}

struct OnlyMap<M>(PhantomData<M>);

impl<'de, M: Deserialize<'de>> Visitor<'de> for OnlyMap<M> {
    type Value = M;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<M, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map))
    }
}

struct Either<T, M> {
    expected: &'static str,
    from_string: fn(String) -> T,
    from_map: fn(M) -> T,
    _out: PhantomData<T>,
}

impl<'de, T, M: Deserialize<'de>> Visitor<'de> for Either<T, M> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        Ok((self.from_string)(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<T, E> {
        Ok((self.from_string)(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(self.from_map)
    }
}
