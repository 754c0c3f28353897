//! JSON Schemas of what cannot derive one: texts that are a string or an object, names, and blueprints.
//!
//! Everything else derives its schema beside its serde attributes, so a field is described where it is
//! read. This module exists only with the feature `schema`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::blueprints::parse::RawBlueprint;
use crate::blueprints::when::OneOf;
use crate::context::clock::Timestamp;
use crate::context::items::{
    Approval, Capability, CapabilityFields, Memory, MemoryFields, ProvenanceFields, Skill,
    SkillFields, SkillProvenance, Tool, ToolFields,
};
use crate::context::run_fact::RunFact;
use crate::fence::text::{Body, BodyMap, Document, Documents};
use crate::names::{Choice, Inferable, Named};

/// The schema of a blueprint file.
pub fn blueprint_schema(generator: &mut SchemaGenerator) -> Schema {
    RawBlueprint::json_schema(generator)
}

/// A type that is read from a plain value or from a full object.
macro_rules! either {
    ($($Type:ty, $name:literal: $simple:ty | $full:ty, $about:literal;)+) => {$(
        impl JsonSchema for $Type {
            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": $about,
                    "anyOf": [generator.subschema_for::<$simple>(), generator.subschema_for::<$full>()],
                })
            }
        }
    )+};
}

either! {
    Body, "Text": String | BodyMap, "A text, or a text with the place it came from.";
    Documents, "Texts": Document | Vec<Document>, "One text, or several in order.";
    SkillProvenance, "SkillProvenance": Approval | ProvenanceFields, "The approval of a skill.";
    Skill, "SkillInput": String | SkillFields, "A skill: raw Markdown, or an object.";
    Memory, "MemoryInput": String | MemoryFields, "A memory: its text, or an object.";
    Tool, "ToolInput": String | ToolFields, "A tool: its name, or an object.";
    Capability, "CapabilityInput": String | CapabilityFields, "A capability pack: its text, or an object.";
    OneOf, "OneOf": String | Vec<String>, "A value, or a list of which one has to match.";
}

impl JsonSchema for RunFact {
    fn schema_name() -> Cow<'static, str> {
        "RunFact".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

impl<T: Inferable> JsonSchema for Choice<T> {
    fn schema_name() -> Cow<'static, str> {
        let name = std::any::type_name::<T>().rsplit("::").next().unwrap_or_default();
        format!("{name}Choice").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<Value> = Self::names()
            .into_iter()
            .map(|(name, about)| json!({"description": about, "type": "string", "const": name}))
            .collect();
        json_schema!({"description": T::ABOUT, "oneOf": names})
    }
}

/// Lets `null` stand for an absent field where the default is empty, as reading a Context does.
pub(crate) fn null_means_absent(schema: &mut Schema) {
    const WITHOUT_NULL: [&str; 6] =
        ["agentType", "namespace", "channel", "sandboxType", "contextWindow", "outputReserve"];
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, field) in fields.into_iter().flatten() {
        if !WITHOUT_NULL.contains(&name.as_str()) {
            allow_null(field);
        }
    }
}

fn allow_null(field: &mut Value) {
    let Some(object) = field.as_object_mut() else { return };
    if let Some(choices) = object.get_mut("anyOf").and_then(Value::as_array_mut) {
        let null = json!({"type": "null"});
        if !choices.contains(&null) {
            choices.push(null);
        }
    } else if let Some(kind) = object.get_mut("type") {
        match kind {
            Value::String(one) if one != "null" => *kind = json!([one, "null"]),
            _ => {}
        }
    } else if let Some(reference) = object.remove("$ref") {
        object.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
    }
}
