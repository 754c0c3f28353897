//! Whether the arguments of a call fit the JSON Schema of its tool.
//!
//! Checks what tools use: types, properties, required names, enums and constants, items, lengths, ranges,
//! `anyOf`, `oneOf`, `allOf` and references inside the schema. Other keywords (`pattern`, `format`, …)
//! are left to the tool. Work is bounded, whatever the schema: schemas come from servers too.

use serde_json::{Map, Value};
use thiserror::Error;

/// How deep schemas and references are followed.
const MAX_DEPTH: usize = 64;
/// How many schemas one check looks at.
const MAX_STEPS: usize = 20_000;
/// How much of a wrong value is repeated.
const MAX_SHOWN_CHARS: usize = 60;

/// Why arguments do not fit, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {message}")]
pub struct SchemaFault {
    /// Which argument, such as `items[0].name`; `arguments` for all of them.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
}

/// Checks arguments against a schema.
pub fn check_arguments(schema: &Value, arguments: &Value) -> Result<(), SchemaFault> {
    let mut check = Check { root: schema, steps: 0 };
    check.value(schema, arguments, &mut String::new(), 0)
}

struct Check<'s> {
    root: &'s Value,
    steps: usize,
}

type Checked = Result<(), SchemaFault>;

impl<'s> Check<'s> {
    fn value(
        &mut self,
        schema: &'s Value,
        value: &Value,
        place: &mut String,
        depth: usize,
    ) -> Checked {
        self.steps += 1;
        if depth > MAX_DEPTH || self.steps > MAX_STEPS {
            return fault(place, "the tool's schema is too deep to check".to_owned());
        }
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => return fault(place, "is not allowed".to_owned()),
            // `true`, and what is no schema, allow everything.
            _ => return Ok(()),
        };
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            if let Some(target) = target {
                self.value(target, value, place, depth + 1)?;
            }
        }
        kind(schema, value, place)?;
        choices(schema, value, place)?;
        self.alternatives(schema, value, place, depth)?;
        match value {
            Value::Object(fields) => self.object(schema, fields, place, depth),
            Value::Array(items) => self.items(schema, items, place, depth),
            Value::String(text) => {
                let length = text.chars().count();
                counted(schema, ("minLength", "maxLength"), length, "characters", place)
            }
            Value::Number(number) => range(schema, number.as_f64().unwrap_or_default(), place),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn alternatives(
        &mut self,
        schema: &'s Map<String, Value>,
        value: &Value,
        place: &mut String,
        depth: usize,
    ) -> Checked {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for each in list("allOf").into_iter().flatten() {
            self.value(each, value, place, depth + 1)?;
        }
        for key in ["anyOf", "oneOf"] {
            let Some(any) = list(key).filter(|any| !any.is_empty()) else { continue };
            let mut first = None;
            let mut fits = false;
            for each in any {
                match self.value(each, value, place, depth + 1) {
                    Ok(()) => {
                        fits = true;
                        break;
                    }
                    Err(error) => _ = first.get_or_insert(error),
                }
            }
            if let Some(error) = first.filter(|_| !fits) {
                let message = format!("fits none of its alternatives; the first says: {error}");
                return fault(place, message);
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        schema: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        place: &mut String,
        depth: usize,
    ) -> Checked {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return fault(place, format!("`{}` is missing", shown(name)));
            }
        }
        let other = schema.get("additionalProperties");
        let has_patterns = schema.contains_key("patternProperties");
        for (name, value) in fields {
            let length = place.len();
            match properties.and_then(|known| known.get(name)) {
                Some(property) => {
                    enter(place, name);
                    self.value(property, value, place, depth + 1)?;
                }
                None => match other {
                    Some(Value::Bool(false)) if !has_patterns => {
                        let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                        let near = foreword::nearest(name, known);
                        let near = near.map(|near| format!("; did you mean `{near}`?"));
                        let name = shown(name);
                        return fault(
                            place,
                            format!("unknown `{name}`{}", near.unwrap_or_default()),
                        );
                    }
                    Some(other) if other.is_object() => {
                        enter(place, name);
                        self.value(other, value, place, depth + 1)?;
                    }
                    _ => {}
                },
            }
            place.truncate(length);
        }
        Ok(())
    }

    fn items(
        &mut self,
        schema: &'s Map<String, Value>,
        items: &[Value],
        place: &mut String,
        depth: usize,
    ) -> Checked {
        counted(schema, ("minItems", "maxItems"), items.len(), "items", place)?;
        let Some(each) = schema.get("items") else { return Ok(()) };
        for (number, item) in items.iter().enumerate() {
            let length = place.len();
            place.push_str(&format!("[{number}]"));
            self.value(each, item, place, depth + 1)?;
            place.truncate(length);
        }
        Ok(())
    }
}

fn enter(place: &mut String, name: &str) {
    if !place.is_empty() {
        place.push('.');
    }
    place.push_str(&shown(name));
}

fn kind(schema: &Map<String, Value>, value: &Value, place: &str) -> Checked {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        // A type that nobody knows is the tool's business.
        _ => true,
    };
    if names.is_empty() || names.iter().any(|name| is(name)) {
        return Ok(());
    }
    fault(place, format!("is {}, it must be of type {}", shown_value(value), names.join(" or ")))
}

fn choices(schema: &Map<String, Value>, value: &Value, place: &str) -> Checked {
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        let constant = shown_value(constant);
        return fault(place, format!("is {}, it must be {constant}", shown_value(value)));
    }
    let Some(choices) = schema.get("enum").and_then(Value::as_array) else { return Ok(()) };
    if choices.contains(value) {
        return Ok(());
    }
    let named: Vec<String> = choices.iter().take(20).map(shown_value).collect();
    fault(place, format!("is {}, it must be one of {}", shown_value(value), named.join(", ")))
}

fn counted(
    schema: &Map<String, Value>,
    (least, most): (&str, &str),
    count: usize,
    what: &str,
    place: &str,
) -> Checked {
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    let count = count as u64;
    match (limit(least), limit(most)) {
        (Some(least), _) if count < least => {
            fault(place, format!("has {count} {what}, it must have at least {least}"))
        }
        (_, Some(most)) if count > most => {
            fault(place, format!("has {count} {what}, it may have at most {most}"))
        }
        _ => Ok(()),
    }
}

fn range(schema: &Map<String, Value>, number: f64, place: &str) -> Checked {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let wrong =
        |rule: &str, limit: f64| fault(place, format!("is {number}, it must be {rule} {limit}"));
    match (limit("minimum"), limit("maximum")) {
        (Some(least), _) if number < least => return wrong("at least", least),
        (_, Some(most)) if number > most => return wrong("at most", most),
        _ => {}
    }
    match (limit("exclusiveMinimum"), limit("exclusiveMaximum")) {
        (Some(least), _) if number <= least => wrong("more than", least),
        (_, Some(most)) if number >= most => wrong("less than", most),
        _ => Ok(()),
    }
}

fn fault(place: &str, message: String) -> Checked {
    let place = if place.is_empty() { "arguments" } else { place };
    Err(SchemaFault { place: place.to_owned(), message })
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_SHOWN_CHARS).collect()
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        value => shown(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[expect(clippy::needless_pass_by_value, reason = "shorter to call")]
    fn message(schema: Value, value: Value) -> String {
        check_arguments(&schema, &value).map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn commit() -> Value {
        json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "minLength": 1},
                "files": {"type": "array", "items": {"$ref": "#/$defs/path"}, "maxItems": 2},
                "mode": {"enum": ["amend", "new"]},
                "depth": {"type": ["integer", "null"], "minimum": 1},
                "who": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["name"]}]},
            },
            "required": ["message"],
            "additionalProperties": false,
            "$defs": {"path": {"type": "string"}},
        })
    }

    #[test]
    fn arguments_that_fit_pass() {
        for value in [
            json!({"message": "x"}),
            json!({"message": "x", "files": ["a", "b"], "mode": "new", "depth": null}),
            json!({"message": "x", "depth": 3.0, "who": {"name": 1}}),
        ] {
            assert_eq!(message(commit(), value), "");
        }
        assert_eq!(message(json!(true), json!({"any": 1})), "");
        assert_eq!(message(json!({"type": "object"}), json!({"any": 1})), "");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (value, expected) in [
            (json!([]), "arguments: is a list, it must be of type object"),
            (json!({}), "arguments: `message` is missing"),
            (json!({"message": 3}), "message: is 3, it must be of type string"),
            (json!({"message": ""}), "message: has 0 characters, it must have at least 1"),
            (
                json!({"mesage": "x", "message": "x"}),
                "arguments: unknown `mesage`; did you mean `message`?",
            ),
            (
                json!({"message": "x", "files": ["a", 1]}),
                "files[1]: is 1, it must be of type string",
            ),
            (
                json!({"message": "x", "files": ["a", "b", "c"]}),
                "files: has 3 items, it may have at most 2",
            ),
            (
                json!({"message": "x", "mode": "old"}),
                "mode: is \"old\", it must be one of \"amend\", \"new\"",
            ),
            (json!({"message": "x", "depth": 0}), "depth: is 0, it must be at least 1"),
            (
                json!({"message": "x", "depth": 1.5}),
                "depth: is 1.5, it must be of type integer or null",
            ),
        ] {
            assert_eq!(message(commit(), value), expected);
        }
        let who = message(commit(), json!({"message": "x", "who": {}}));
        assert!(who.starts_with("who: fits none of its alternatives"), "{who}");
    }

    #[test]
    fn hostile_schemas_cost_bounded_work() {
        let endless = json!({"$ref": "#"});
        assert!(message(endless, json!({})).contains("too deep"));
        let mut doubling = json!({"type": "object"});
        for _ in 0..40 {
            doubling = json!({"allOf": [doubling.clone(), {"$ref": "#/allOf/0"}]});
            if doubling.to_string().len() > 100_000 {
                break;
            }
        }
        let _ = message(doubling, json!({}));
        assert_eq!(message(json!({"$ref": "http://evil.example/x"}), json!({})), "");
        assert_eq!(message(json!({"$ref": "#/nowhere", "type": 3}), json!({})), "");
    }
}
