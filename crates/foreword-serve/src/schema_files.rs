//! The published schemas: Context, blueprint, prompt, and the request and answer of every method.

use foreword::{Context, Manifest, blueprint_schema};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::service::methods;
use crate::stdio::{Answer, Call};

/// What the names of schemas start with, so that editors and validators can tell them apart.
const BASE: &str = "urn:foreword:schema:";

/// A schema and its name: `context`, or `build.request`.
pub struct SchemaFile {
    /// The name, which `foreword schema` takes and the file below `schemas/` has.
    pub name: String,
    /// The schema.
    pub schema: Value,
}

/// What a program writes for us to read, or reads of what we write.
#[derive(Clone, Copy)]
enum Direction {
    Input,
    Output,
}

/// Every published schema.
#[must_use]
pub fn schemas() -> Vec<SchemaFile> {
    let mut files = vec![
        file("context", Direction::Input, "A Context", Context::json_schema),
        file("blueprint", Direction::Input, "A blueprint file", blueprint_schema),
        file("prompt", Direction::Output, "A prompt with its manifest", |generator| {
            Manifest::<'static>::json_schema(generator)
        }),
        file("serve.request", Direction::Input, "A request to `foreword serve`", Call::json_schema),
        file(
            "serve.answer",
            Direction::Output,
            "An answer of `foreword serve`",
            Answer::json_schema,
        ),
    ];
    for method in methods() {
        let name = method.name;
        let about = format!("The parameters of `{name}`: {}", method.about.to_lowercase());
        files.push(file(&format!("{name}.request"), Direction::Input, &about, method.request));
        let about = format!("The answer of `{name}`");
        files.push(file(&format!("{name}.answer"), Direction::Output, &about, method.answer));
    }
    files
}

/// The names of all schemas.
#[must_use]
pub fn schema_names() -> Vec<String> {
    schemas().into_iter().map(|file| file.name).collect()
}

/// The schema of a name.
#[must_use]
pub fn schema(name: &str) -> Option<Value> {
    schemas().into_iter().find(|file| file.name == name).map(|file| file.schema)
}

fn file(
    name: &str,
    direction: Direction,
    about: &str,
    make: impl Fn(&mut SchemaGenerator) -> Schema,
) -> SchemaFile {
    let settings = SchemaSettings::draft2020_12();
    let settings = match direction {
        Direction::Input => settings.for_deserialize(),
        Direction::Output => settings.for_serialize(),
    };
    let mut generator = settings.into_generator();
    let mut schema = make(&mut generator).to_value();
    let definitions = generator.take_definitions(true);
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("$id".to_owned(), json!(format!("{BASE}{name}")));
        object.insert("title".to_owned(), json!(title(name)));
        object.entry("description").or_insert_with(|| json!(about));
        if !definitions.is_empty() {
            object.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    without_examples(&mut schema);
    SchemaFile { name: name.to_owned(), schema }
}

/// Takes the examples out of descriptions: they are Rust, for readers of the crate's documentation.
fn without_examples(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(text)) = object.get_mut("description")
                && let Some(end) = text.find("\n\n```")
            {
                text.truncate(end);
            }
            object.values_mut().for_each(without_examples);
        }
        Value::Array(items) => items.iter_mut().for_each(without_examples),
        _ => {}
    }
}

/// `build.request` as `BuildRequest`, the name of the type in TypeScript and Python.
fn title(name: &str) -> String {
    name.split(['.', '_'])
        .map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
                .collect::<String>()
        })
        .collect()
}
