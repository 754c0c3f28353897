//! Python: a TypedDict per object, with field names in snake_case.

use std::fmt::Write as _;

use super::model::{Definition, Field, Type, Types};

const HEAD: &str = "\
\"\"\"What Foreword reads and answers, as types. Made by `cargo xtask types` from `schemas/`.\"\"\"

# ruff: noqa: E501
from __future__ import annotations

from datetime import datetime
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict

";

/// Fields of `build` that are arguments of their own, or belong to other methods.
const NOT_OPTIONS: [&str; 6] = ["context", "workspace", "task", "agent", "format", "at"];

pub(super) fn write(types: &Types) -> String {
    let mut out = HEAD.to_owned();
    for (name, definition) in types {
        match definition {
            Definition::Object { about, fields } => object(&mut out, name, about, fields),
            Definition::Alias { about, of } => {
                let _ = writeln!(out, "{name}: TypeAlias = \"{}\"", expression(of));
                if !about.is_empty() {
                    let _ = writeln!(out, "\"\"\"{about}\"\"\"");
                }
                out.push('\n');
            }
        }
    }
    if let Some(Definition::Object { fields, .. }) = types.get("BuildRequest") {
        let options: Vec<Field> = fields
            .iter()
            .filter(|field| !NOT_OPTIONS.contains(&field.name.as_str()))
            .cloned()
            .collect();
        object(&mut out, "BuildOptions", "Further arguments of `foreword.build`.", &options);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn object(out: &mut String, name: &str, about: &str, fields: &[Field]) {
    let (required, optional): (Vec<&Field>, Vec<&Field>) =
        fields.iter().partition(|field| field.required);
    let base = if required.is_empty() || optional.is_empty() {
        "TypedDict".to_owned()
    } else {
        class(out, &format!("_{name}Required"), "TypedDict", "", name, &required);
        format!("_{name}Required")
    };
    let fields = if optional.is_empty() { required } else { optional };
    let is_total = fields.iter().all(|field| field.required);
    let base = if is_total && !fields.is_empty() { base } else { format!("{base}, total=False") };
    class(out, name, &base, about, name, &fields);
}

fn class(out: &mut String, name: &str, base: &str, about: &str, owner: &str, fields: &[&Field]) {
    let _ = writeln!(out, "class {name}({base}):");
    if !about.is_empty() {
        let _ = writeln!(out, "    \"\"\"{about}\"\"\"\n");
    }
    if fields.is_empty() && about.is_empty() {
        out.push_str("    pass\n");
    }
    for field in fields {
        let _ = writeln!(out, "    {}: {}", field_name(owner, &field.name), field_type(field));
        if !field.about.is_empty() {
            let _ = writeln!(out, "    \"\"\"{}\"\"\"", field.about);
        }
    }
    out.push_str("\n\n");
}

/// What Gemini defines keeps its names.
fn field_name(owner: &str, name: &str) -> String {
    if owner.starts_with("Gemini") { name.to_owned() } else { snake_case(name) }
}

/// Times and paths may be given as Python has them.
fn field_type(field: &Field) -> String {
    let written = expression(&field.of);
    match field.name.as_str() {
        "now" => format!("datetime | {written}"),
        "cwd" | "workspace" if written == "str | None" => format!("PathLike[str] | {written}"),
        _ => written,
    }
}

fn expression(of: &Type) -> String {
    match of {
        Type::Any => "Any".to_owned(),
        Type::Null => "None".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Number => "float".to_owned(),
        Type::String => "str".to_owned(),
        Type::Literal(value) => format!("Literal[{}]", value.replace('"', "'")),
        Type::Named(name) => name.clone(),
        Type::List(item) => format!("list[{}]", expression(item)),
        Type::Pair(item) => format!("list[{}]", expression(item)),
        Type::Dict(item) => format!("dict[str, {}]", expression(item)),
        Type::Union(all) => {
            let literals: Vec<String> = all
                .iter()
                .filter_map(|one| match one {
                    Type::Literal(value) => Some(value.replace('"', "'")),
                    _ => None,
                })
                .collect();
            let mut parts: Vec<String> = Vec::new();
            if !literals.is_empty() {
                parts.push(format!("Literal[{}]", literals.join(", ")));
            }
            let others = all.iter().filter(|one| !matches!(one, Type::Literal(_)));
            parts.extend(others.map(expression));
            parts.join(" | ")
        }
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
