//! TypeScript: an interface per object, with field names as in JSON.

use std::fmt::Write as _;

use super::model::{Definition, Type, Types};

const HEAD: &str = "// What Foreword reads and answers, as types. Made by `cargo xtask types` from `schemas/`.\n\n";

pub(super) fn write(types: &Types) -> String {
    let mut out = HEAD.to_owned();
    for (name, definition) in types {
        match definition {
            Definition::Object { about, fields } => {
                comment(&mut out, "", about);
                let _ = writeln!(out, "export interface {name} {{");
                for field in fields {
                    comment(&mut out, "  ", &field.about);
                    let mark = if field.required { "" } else { "?" };
                    let _ = writeln!(out, "  {}{mark}: {};", field.name, expression(&field.of));
                }
                out.push_str("}\n\n");
            }
            Definition::Alias { about, of } => {
                comment(&mut out, "", about);
                let _ = writeln!(out, "export type {name} = {};\n", expression(of));
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn comment(out: &mut String, indent: &str, about: &str) {
    if !about.is_empty() {
        let _ = writeln!(out, "{indent}/** {} */", about.replace("*/", "*\u{200B}/"));
    }
}

fn expression(of: &Type) -> String {
    match of {
        Type::Any => "unknown".to_owned(),
        Type::Null => "null".to_owned(),
        Type::Bool => "boolean".to_owned(),
        Type::Integer | Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::Literal(value) => value.clone(),
        Type::Named(name) => name.clone(),
        Type::List(item) => match &**item {
            Type::Union(_) => format!("({})[]", expression(item)),
            _ => format!("{}[]", expression(item)),
        },
        Type::Pair(item) => format!("[{0}, {0}]", expression(item)),
        Type::Dict(item) => format!("Record<string, {}>", expression(item)),
        Type::Union(all) => all.iter().map(expression).collect::<Vec<_>>().join(" | "),
    }
}
