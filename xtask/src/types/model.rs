//! The published schemas as named types.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::error::TaskError;

/// A type expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Any,
    Null,
    Bool,
    Integer,
    Number,
    String,
    Literal(String),
    Named(String),
    List(Box<Type>),
    Pair(Box<Type>),
    Dict(Box<Type>),
    Union(Vec<Type>),
}

/// A field of an object.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) required: bool,
    pub(crate) of: Type,
}

/// A named type.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    Object { about: String, fields: Vec<Field> },
    Alias { about: String, of: Type },
}

/// Every type by its name.
pub(crate) type Types = BTreeMap<String, Definition>;

/// Reads all schemas of a directory.
pub(crate) fn read(directory: &Path) -> Result<Types, TaskError> {
    let failed = || TaskError::io(directory.display().to_string());
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .map_err(failed())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let mut reader = Reader::default();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(failed())?;
        let schema: Value =
            serde_json::from_str(&text).map_err(std::io::Error::other).map_err(failed())?;
        reader.file(&schema);
    }
    Ok(reader.types)
}

#[derive(Default)]
struct Reader {
    types: Types,
    /// The schema that each name came from.
    known: BTreeMap<String, Value>,
    /// What the definitions of the current file are called.
    names: BTreeMap<String, String>,
}

impl Reader {
    fn file(&mut self, schema: &Value) {
        let title = text(schema, "title");
        self.names.clear();
        let definitions = schema.get("$defs").and_then(Value::as_object);
        for (name, definition) in definitions.into_iter().flatten() {
            let taken = self.known.get(name).is_some_and(|known| known != definition);
            // Another file may have met the same clash, and named this very type.
            let same =
                |(known, own): &(&String, &Value)| *own == definition && known.ends_with(name);
            let own = match self.known.iter().find(same) {
                Some((known, _)) if taken => known.clone(),
                _ if taken || *name == title => format!("{title}{name}"),
                _ => name.clone(),
            };
            self.names.insert(name.clone(), own);
        }
        for (name, definition) in definitions.into_iter().flatten() {
            let own = self.names.get(name).cloned().unwrap_or_else(|| name.clone());
            self.known.insert(own.clone(), definition.clone());
            self.define(own, definition);
        }
        self.define(title, schema);
    }

    fn define(&mut self, name: String, schema: &Value) {
        let about = text(schema, "description");
        let definition = match schema.get("properties").and_then(Value::as_object) {
            Some(fields) => {
                let fields = self.fields(&name, schema, fields);
                Definition::Object { about, fields }
            }
            None => Definition::Alias { about, of: self.expression(&name, schema) },
        };
        self.types.insert(name, definition);
    }

    fn fields(&mut self, owner: &str, schema: &Value, fields: &Map<String, Value>) -> Vec<Field> {
        let required = |name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|required| required.as_str() == Some(name)))
        };
        fields
            .iter()
            .map(|(name, field)| Field {
                name: name.clone(),
                about: text(field, "description"),
                required: required(name),
                of: self.expression(&format!("{owner}{}", capitalised(name)), field),
            })
            .collect()
    }

    /// The type of a schema. An object without a name gets `name`.
    fn expression(&mut self, name: &str, schema: &Value) -> Type {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.rsplit('/').next().unwrap_or_default();
            let own = self.names.get(target).cloned().unwrap_or_else(|| target.to_owned());
            return Type::Named(own);
        }
        if let Some(value) = schema.get("const") {
            return Type::Literal(value.to_string());
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return union(values.iter().map(|value| match value {
                Value::Null => Type::Null,
                other => Type::Literal(other.to_string()),
            }));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(choices) = schema.get(key).and_then(Value::as_array) {
                let choices: Vec<Type> = choices
                    .iter()
                    .enumerate()
                    .map(|(at, choice)| self.expression(&format!("{name}{}", at + 1), choice))
                    .collect();
                return union(choices);
            }
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.kind(name, kind, schema),
            Some(Value::Array(kinds)) => {
                let kinds: Vec<String> =
                    kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect();
                let types: Vec<Type> =
                    kinds.iter().map(|kind| self.kind(name, kind, schema)).collect();
                union(types)
            }
            _ => Type::Any,
        }
    }

    fn kind(&mut self, name: &str, kind: &str, schema: &Value) -> Type {
        match kind {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => Type::Integer,
            "number" => Type::Number,
            "string" => Type::String,
            "array" => {
                let items = schema.get("items").cloned().unwrap_or_default();
                let item = Box::new(self.expression(&format!("{name}Item"), &items));
                let size = |key: &str| schema.get(key).and_then(Value::as_u64);
                if size("minItems") == Some(2) && size("maxItems") == Some(2) {
                    Type::Pair(item)
                } else {
                    Type::List(item)
                }
            }
            "object" if schema.get("properties").is_some() => {
                self.define(name.to_owned(), schema);
                Type::Named(name.to_owned())
            }
            "object" => {
                let values = schema.get("additionalProperties").cloned().unwrap_or_default();
                Type::Dict(Box::new(self.expression(&format!("{name}Value"), &values)))
            }
            _ => Type::Any,
        }
    }
}

fn union(types: impl IntoIterator<Item = Type>) -> Type {
    let mut all: Vec<Type> = Vec::new();
    for one in types {
        let parts = match one {
            Type::Union(parts) => parts,
            other => vec![other],
        };
        for part in parts {
            if !all.contains(&part) {
                all.push(part);
            }
        }
    }
    if all.contains(&Type::Any) {
        return Type::Any;
    }
    match all.as_slice() {
        [one] => one.clone(),
        _ => Type::Union(all),
    }
}

fn text(schema: &Value, key: &str) -> String {
    let text = schema.get(key).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
