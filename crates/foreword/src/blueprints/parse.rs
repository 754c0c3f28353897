//! Reading blueprint files, with errors that say where and what to do.

use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use crate::blueprints::blueprint::Bootstrap;
use crate::blueprints::when::When;
use crate::fence::authority::Volatility;
use crate::modules;
use crate::names::PromptMode;
use crate::names::nearest;

/// How deep `extends` may go.
const MAX_DEPTH: usize = 8;
/// More modules than any prompt has sections for.
const MAX_MODULES: usize = 200;

/// Why a blueprint was refused. `place` is `file:line`.
///
/// ```
/// use foreword::Blueprint;
///
/// let error = Blueprint::from_toml("mine.toml", "extends = 1\n", &mut |_| unreachable!()).unwrap_err();
/// assert!(error.to_string().starts_with("mine.toml:1: "), "{error}");
/// ```
#[derive(Debug, Error)]
pub enum BlueprintError {
    /// Not the TOML of a blueprint.
    #[error("{place}: {message}")]
    Toml {
        /// Where.
        place: String,
        /// What.
        message: String,
    },
    /// A value or combination that makes no sense.
    #[error("{place}: {message}")]
    Invalid {
        /// Where.
        place: String,
        /// What, and what to do.
        message: String,
    },
    /// `extends` names something that cannot be read.
    #[error("{place}: cannot read the blueprint `{name}` it extends: {source}")]
    Extends {
        /// Where.
        place: String,
        /// The name.
        name: String,
        /// Why.
        source: std::io::Error,
    },
}

/// A blueprint as data, `extends` resolved.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) turn_context: bool,
    pub(crate) bootstrap: Bootstrap,
    pub(crate) unattended: Option<PromptMode>,
    pub(crate) modules: Vec<Entry>,
    pub(crate) headings: Vec<String>,
}

/// One module of a blueprint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) heading: Option<String>,
    pub(crate) max_chars: Option<usize>,
    pub(crate) priority: Option<u8>,
    pub(crate) keep: Option<u8>,
    pub(crate) optional: Option<bool>,
    pub(crate) volatility: Option<Volatility>,
    pub(crate) when: When,
}

/// A blueprint: which modules a prompt has, in which order and under which conditions.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Blueprint"))]
#[serde(deny_unknown_fields)]
pub(crate) struct RawBlueprint {
    /// The name of the blueprint.
    name: String,
    /// The blueprint to start from: a built-in name or a file.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    extends: Option<Spanned<String>>,
    /// Put sections that change every turn into the turn context.
    turn_context: Option<bool>,
    /// What BOOTSTRAP.md does to the rest of the prompt.
    bootstrap: Option<Bootstrap>,
    /// The prompt mode of turns without a person.
    unattended: Option<PromptMode>,
    /// Modules of the extended blueprint to leave out.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    remove: Vec<Spanned<String>>,
    /// The modules, in order.
    #[serde(default)]
    module: Vec<RawModule>,
}

/// One module of a blueprint.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "BlueprintModule"))]
#[serde(deny_unknown_fields)]
pub(crate) struct RawModule {
    /// The name of the module; a built-in one unless `kind` or `file` is given.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    name: Spanned<String>,
    /// The built-in module to use under this name.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    kind: Option<Spanned<String>>,
    /// The file whose text the section holds.
    file: Option<String>,
    /// The heading above the text of `file`.
    heading: Option<String>,
    /// The maximum length of the text of `file`, in characters.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>", range(min = 1)))]
    max_chars: Option<Spanned<i64>>,
    /// The place in the prompt; lower is earlier.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u8>", range(max = 100)))]
    priority: Option<Spanned<i64>>,
    /// How long the module survives a tight budget; higher survives longer.
    #[cfg_attr(feature = "schema", schemars(with = "Option<u8>", range(max = 100)))]
    keep: Option<Spanned<i64>>,
    /// Whether the module may be left out.
    optional: Option<bool>,
    /// How often the text of `file` changes: `stable`, `session` or `turn`.
    volatility: Option<Volatility>,
    /// The conditions under which the module takes part.
    #[cfg_attr(feature = "schema", schemars(with = "Option<When>"))]
    when: Option<Spanned<When>>,
}

/// Reads a blueprint and those it extends.
pub(crate) fn read(
    file: &str,
    text: &str,
    load: &mut dyn FnMut(&str) -> std::io::Result<String>,
) -> Result<Definition, BlueprintError> {
    read_at(file, text, load, &mut vec![file.to_owned()])
}

fn read_at(
    file: &str,
    text: &str,
    load: &mut dyn FnMut(&str) -> std::io::Result<String>,
    chain: &mut Vec<String>,
) -> Result<Definition, BlueprintError> {
    let place = |offset: usize| format!("{file}:{}", line_at(text, offset));
    let invalid =
        |offset: usize, message: String| BlueprintError::Invalid { place: place(offset), message };
    let raw: RawBlueprint = toml::from_str(text).map_err(|error| BlueprintError::Toml {
        place: place(error.span().map_or(0, |span| span.start)),
        message: explain(error.message()),
    })?;

    let mut definition = match &raw.extends {
        None => Definition {
            name: String::new(),
            turn_context: false,
            bootstrap: Bootstrap::default(),
            unattended: None,
            modules: Vec::new(),
            headings: Vec::new(),
        },
        Some(extends) => {
            let at = extends.span().start;
            let name = extends.get_ref().as_str();
            if chain.iter().any(|seen| seen == name) {
                let message = format!("`extends` is circular: {} -> {name}", chain.join(" -> "));
                return Err(invalid(at, message));
            }
            if chain.len() >= MAX_DEPTH {
                return Err(invalid(
                    at,
                    format!("`extends` goes more than {MAX_DEPTH} blueprints deep"),
                ));
            }
            let parent = load(name).map_err(|source| BlueprintError::Extends {
                place: place(at),
                name: name.to_owned(),
                source,
            })?;
            chain.push(name.to_owned());
            let definition = read_at(name, &parent, load, chain)?;
            chain.pop();
            definition
        }
    };

    definition.name = raw.name;
    definition.turn_context = raw.turn_context.unwrap_or(definition.turn_context);
    definition.bootstrap = raw.bootstrap.unwrap_or(definition.bootstrap);
    definition.unattended = raw.unattended.or(definition.unattended);
    for removed in raw.remove {
        let before = definition.modules.len();
        definition.modules.retain(|entry| entry.name != *removed.get_ref());
        if definition.modules.len() == before {
            let known = definition.modules.iter().map(|entry| entry.name.as_str());
            return Err(invalid(
                removed.span().start,
                unknown("module to remove", removed.get_ref(), known),
            ));
        }
    }

    if raw.module.len() > MAX_MODULES {
        let message =
            format!("{} modules: a blueprint may have at most {MAX_MODULES}", raw.module.len());
        return Err(invalid(0, message));
    }
    let mut names: Vec<String> = Vec::new();
    for module in raw.module {
        let at = module.name.span().start;
        let name = module.name.get_ref().clone();
        if names.contains(&name) {
            return Err(invalid(
                at,
                format!("two modules are called `{name}`: give each its own `name`"),
            ));
        }
        names.push(name.clone());
        let percent = |value: &Option<Spanned<i64>>, what: &str| match value {
            None => Ok(None),
            Some(v) => match u8::try_from(*v.get_ref()) {
                Ok(n) if n <= 100 => Ok(Some(n)),
                _ => Err(invalid(
                    v.span().start,
                    format!("`{what}` is {}: it must be from 0 to 100", v.get_ref()),
                )),
            },
        };
        let priority = percent(&module.priority, "priority")?;
        let keep = percent(&module.keep, "keep")?;
        let max_chars = match &module.max_chars {
            None => None,
            Some(v) => match usize::try_from(*v.get_ref()) {
                Ok(n) if n > 0 => Some(n),
                _ => {
                    return Err(invalid(
                        v.span().start,
                        format!("`max_chars` is {}: it must be at least 1", v.get_ref()),
                    ));
                }
            },
        };
        if let Some(when) = &module.when
            && let Some(message) = when.get_ref().impossible()
        {
            return Err(invalid(when.span().start, message));
        }
        let inherited = definition.modules.iter().position(|entry| entry.name == name);
        if let Some(kind) = &module.kind {
            if !modules::is_known(kind.get_ref()) {
                return Err(invalid(
                    kind.span().start,
                    unknown("module kind", kind.get_ref(), modules::kinds()),
                ));
            }
            if module.file.is_some() {
                return Err(invalid(
                    at,
                    format!("module `{name}` has both `kind` and `file`: keep one"),
                ));
            }
        }
        if module.kind.is_none()
            && module.file.is_none()
            && inherited.is_none()
            && !modules::is_known(&name)
        {
            let message = unknown("module", &name, modules::kinds());
            return Err(invalid(at, format!("{message}; a module of your own needs a `file`")));
        }
        let is_file = module.file.is_some()
            || inherited.and_then(|i| definition.modules.get(i)).is_some_and(|e| e.file.is_some());
        let for_files =
            module.heading.is_some() || max_chars.is_some() || module.volatility.is_some();
        if !is_file && for_files {
            return Err(invalid(
                at,
                format!("`heading`, `max_chars` and `volatility` of module `{name}` need a `file`"),
            ));
        }
        let mut entry = match inherited {
            Some(index) => definition.modules.remove(index),
            None => Entry { name, ..Entry::default() },
        };
        if let Some(kind) = module.kind {
            (entry.kind, entry.file) = (Some(kind.into_inner()), None);
        }
        if module.file.is_some() {
            (entry.kind, entry.file) = (None, module.file);
        }
        if let Some(heading) = &module.heading {
            definition.headings.push(heading.clone());
        }
        entry.heading = module.heading.or(entry.heading);
        entry.max_chars = max_chars.or(entry.max_chars);
        entry.priority = priority.or(entry.priority);
        entry.keep = keep.or(entry.keep);
        entry.optional = module.optional.or(entry.optional);
        entry.volatility = module.volatility.or(entry.volatility);
        if let Some(when) = module.when {
            entry.when = when.into_inner();
        }
        let index = inherited.unwrap_or(definition.modules.len());
        definition.modules.insert(index.min(definition.modules.len()), entry);
    }
    if definition.modules.is_empty() {
        return Err(invalid(
            0,
            "the blueprint has no modules: add a [[module]] or `extends = \"standard\"`".to_owned(),
        ));
    }
    Ok(definition)
}

fn unknown<'k>(what: &str, word: &str, known: impl Iterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.collect();
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("no {what} is called `{word}`: did you mean `{near}`?"),
        None => format!("no {what} is called `{word}`: use one of {}", known.join(", ")),
    }
}

/// Adds a suggestion to serde's message about an unknown field.
fn explain(message: &str) -> String {
    let message = message.trim_end();
    let mut words = message.split('`');
    let Some(field) = words.nth(1).filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    let known: Vec<&str> = words.skip(1).step_by(2).collect();
    match nearest(field, known) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message.to_owned(),
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text.as_bytes().iter().take(offset).filter(|&&b| b == b'\n').count()
}

#[cfg(test)]
mod tests {
    use crate::blueprints::blueprint::Blueprint;
    use crate::context::Context;

    fn read(
        text: &str,
        load: &mut dyn FnMut(&str) -> std::io::Result<String>,
    ) -> Result<Blueprint, String> {
        Blueprint::from_toml("b.toml", text, load).map_err(|error| error.to_string())
    }

    fn error(text: &str) -> String {
        read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap_err()
    }

    #[test]
    fn limits_say_where_and_what() {
        let many: String =
            (0..201).map(|n| format!("[[module]]\nname = \"m{n}\"\nfile = \"f\"\n")).collect();
        assert_eq!(
            error(&format!("name = \"b\"\n{many}")),
            "b.toml:1: 201 modules: a blueprint may have at most 200"
        );
        let module =
            |rest: &str| format!("name = \"b\"\n[[module]]\nname = \"identity\"\n{rest}\n");
        assert_eq!(
            error(&module("priority = 101")),
            "b.toml:4: `priority` is 101: it must be from 0 to 100"
        );
        assert_eq!(error(&module("keep = -1")), "b.toml:4: `keep` is -1: it must be from 0 to 100");
        assert!(error(&module("max_chars = 9")).contains("need a `file`"));
        assert!(error("name = \"b\"\n").contains("no modules"));
    }

    #[test]
    fn extends_ends() {
        let mut next = 0;
        let deep = read("name = \"b\"\nextends = \"x.toml\"\n", &mut |_| {
            next += 1;
            Ok(format!("name = \"n\"\nextends = \"x{next}.toml\"\n"))
        });
        assert!(deep.unwrap_err().contains("more than 8 blueprints deep"));
        let circle = read("name = \"b\"\nextends = \"a.toml\"\n", &mut |_| {
            Ok("name = \"a\"\nextends = \"b.toml\"\n".to_owned())
        });
        assert!(circle.unwrap_err().contains("is circular"));
    }

    #[test]
    fn a_file_section_has_its_heading_and_its_limit() {
        let text = "name = \"b\"\n[[module]]\nname = \"h\"\nfile = \"h.md\"\nheading = \"## House\"\nmax_chars = 20\n";
        let blueprint = read(text, &mut |_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
        let mut context = Context::default();
        context
            .files
            .insert("h.md".into(), format!("First.\n\n{}", "word ".repeat(20)).as_str().into());
        let prompt = blueprint.build(&context);
        assert!(prompt.text().starts_with("## House\n\nFirst."), "{}", prompt.text());
        assert!(prompt.text().contains("[Left out here: "));
        assert_eq!(prompt.filtered()[0].kind, "file");
    }
}
