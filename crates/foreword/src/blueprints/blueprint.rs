//! Blueprint: an ordered set of modules with their settings, as data.
//!
//! ```toml
//! name = "support-bot"
//! extends = "standard"
//!
//! [[module]]
//! name = "house-style"
//! file = "docs/house-style.md"
//! heading = "House style"
//! priority = 45
//! when = { channel = ["telegram", "slack"] }
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::blueprints::parse::{self, BlueprintError, Definition};
use crate::blueprints::when::When;
use crate::compile::module::{Module, Spec};
use crate::compile::titles::Titles;
use crate::context::field::Field;
use crate::modules;
use crate::names::PromptMode;

/// What BOOTSTRAP.md does to the rest of the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Bootstrap {
    /// It stands alone.
    Alone,
    /// It takes the place of the identity; everything else stays.
    #[default]
    Identity,
}

/// A module in its place.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) spec: Spec,
    pub(crate) when: Option<When>,
    pub(crate) module: Arc<dyn Module>,
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("name", &self.name)
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

/// An ordered set of modules, ready to compile Contexts.
///
/// ```
/// use foreword::{Blueprint, Context};
///
/// let text = "name = \"mine\"\nextends = \"standard\"\n";
/// let blueprint = Blueprint::from_toml("mine.toml", text, &mut |_| unreachable!()).unwrap();
/// assert_eq!(blueprint.name(), "mine");
/// assert!(blueprint.build(&Context::default()).section("security").is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Blueprint {
    name: Arc<str>,
    pub(crate) slots: Arc<[Slot]>,
    pub(crate) titles: Arc<Titles>,
    pub(crate) turn_apart: bool,
    pub(crate) bootstrap: Bootstrap,
    unattended: Option<PromptMode>,
    /// What no module shows.
    pub(crate) unread: Arc<[Field]>,
    files: Arc<[FileModule]>,
    source: Arc<BlueprintSource>,
}

/// The texts a blueprint was read from: enough to read it again where its files are not.
///
/// ```
/// use foreword::Blueprint;
///
/// let standard = Blueprint::builtin("standard").unwrap();
/// let again = Blueprint::from_source(standard.source()).unwrap();
/// assert_eq!(again.name(), "standard");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BlueprintSource {
    /// What errors call the first text.
    pub file: String,
    /// The first text.
    pub text: String,
    /// Files that `extends` names, by name; built-in ones are not among them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extended: BTreeMap<String, String>,
}

/// A file that a blueprint shows.
///
/// ```
/// use foreword::Blueprint;
///
/// let text = "name = \"mine\"\nextends = \"standard\"\n\n[[module]]\nname = \"style\"\nfile = \"STYLE.md\"\n";
/// let blueprint = Blueprint::from_toml("mine.toml", text, &mut |_| unreachable!()).unwrap();
/// assert_eq!(blueprint.files()[0].file, "STYLE.md");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileModule {
    /// The module's name.
    pub module: String,
    /// The file, relative to the workspace.
    pub file: String,
    /// May the file be missing?
    pub optional: bool,
}

/// The built-in blueprints by name.
const BUILTIN: [(&str, &str); 5] = [
    ("standard", include_str!("standard.toml")),
    ("guarded", include_str!("guarded.toml")),
    ("semantic", include_str!("semantic.toml")),
    ("roles", include_str!("roles.toml")),
    ("companion", include_str!("companion.toml")),
];

static COMPILED: [LazyLock<Result<Blueprint, BlueprintError>>; 5] = [
    LazyLock::new(|| builtin_at(0)),
    LazyLock::new(|| builtin_at(1)),
    LazyLock::new(|| builtin_at(2)),
    LazyLock::new(|| builtin_at(3)),
    LazyLock::new(|| builtin_at(4)),
];

fn builtin_at(index: usize) -> Result<Blueprint, BlueprintError> {
    let (name, text) = BUILTIN.get(index).copied().unwrap_or_default();
    Blueprint::from_toml(&format!("builtin:{name}"), text, &mut |_| {
        Err(std::io::ErrorKind::NotFound.into())
    })
}

impl Blueprint {
    /// A built-in blueprint, compiled once per process.
    pub fn builtin(name: &str) -> Option<Self> {
        let index = BUILTIN.iter().position(|(builtin, _)| *builtin == name)?;
        COMPILED.get(index)?.as_ref().ok().cloned()
    }

    /// The names of the built-in blueprints.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// Reads a blueprint. `load` gives the text of a file that `extends` names; built-in names never
    /// reach it. `file` is what errors call this text.
    pub fn from_toml(
        file: &str,
        text: &str,
        load: &mut dyn FnMut(&str) -> std::io::Result<String>,
    ) -> Result<Self, BlueprintError> {
        let mut extended = BTreeMap::new();
        let definition = parse::read(file, text, &mut |name| {
            if let Some((_, text)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
                return Ok((*text).to_owned());
            }
            let text = load(name)?;
            extended.insert(name.to_owned(), text.clone());
            Ok(text)
        })?;
        let (file, text) = (file.to_owned(), text.to_owned());
        Ok(Self::from_definition(definition, BlueprintSource { file, text, extended }))
    }

    /// Reads a blueprint from what [`Blueprint::source`] gave.
    pub fn from_source(source: &BlueprintSource) -> Result<Self, BlueprintError> {
        Self::from_toml(&source.file, &source.text, &mut |name| {
            source.extended.get(name).cloned().ok_or_else(|| std::io::ErrorKind::NotFound.into())
        })
    }

    fn from_definition(definition: Definition, source: BlueprintSource) -> Self {
        let mut slots: Vec<Slot> = Vec::with_capacity(definition.modules.len());
        let mut files = Vec::new();
        for entry in definition.modules {
            if let Some(file) = &entry.file {
                files.push(FileModule {
                    module: entry.name.clone(),
                    file: file.clone(),
                    optional: entry.optional.unwrap_or(false),
                });
            }
            let Some(module) = modules::instantiate(&entry) else { continue };
            let mut spec = module.spec();
            if let Some(priority) = entry.priority {
                spec.priority = priority;
                spec.keep = 100 - priority.min(100);
            }
            spec.keep = entry.keep.unwrap_or(spec.keep);
            spec.optional = entry.optional.unwrap_or(spec.optional);
            spec.volatility = entry.volatility.unwrap_or(spec.volatility);
            slots.push(Slot {
                name: entry.name,
                spec,
                when: Some(entry.when).filter(|when| !when.is_empty()),
                module,
            });
        }
        let turn_apart = definition.turn_context;
        slots.sort_by_key(|slot| (turn_apart && slot.is_turn(), slot.spec.priority));
        let own = slots.iter().flat_map(|slot| slot.module.titles().iter().copied());
        let headings: Vec<&str> = definition.headings.iter().map(String::as_str).collect();
        let titles = Titles::new(own.chain(headings));
        Self {
            name: definition.name.into(),
            titles: Arc::new(titles),
            turn_apart,
            bootstrap: definition.bootstrap,
            unattended: definition.unattended,
            unread: unread(&slots),
            slots: slots.into(),
            files: files.into(),
            source: Arc::new(source),
        }
    }

    /// The same blueprint with a module of the caller's own, in the place its spec asks for. A module
    /// of the same name is replaced.
    #[must_use]
    pub fn with_module(&self, module: &Arc<dyn Module>) -> Self {
        let name = module.name().to_owned();
        let mut slots: Vec<Slot> =
            self.slots.iter().filter(|slot| slot.name != name).cloned().collect();
        slots.push(Slot { name, spec: module.spec(), when: None, module: module.clone() });
        slots.sort_by_key(|slot| (self.turn_apart && slot.is_turn(), slot.spec.priority));
        let titles = self.titles.and(module.titles().iter().copied());
        Self {
            unread: unread(&slots),
            slots: slots.into(),
            titles: Arc::new(titles),
            ..self.clone()
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The texts it was read from. Modules that a caller added are not in them.
    pub fn source(&self) -> &BlueprintSource {
        &self.source
    }

    /// The modules in their order.
    pub fn modules(&self) -> impl Iterator<Item = (&str, Spec)> {
        self.slots.iter().map(|slot| (slot.name.as_str(), slot.spec))
    }

    /// Do sections that may change every turn stand apart from the system prompt?
    pub fn has_turn_context(&self) -> bool {
        self.turn_apart
    }

    /// The prompt mode for turns that a schedule or another agent starts, if the blueprint sets one.
    pub fn unattended_prompt_mode(&self) -> Option<PromptMode> {
        self.unattended
    }

    /// Do TOOLS.md and capability packs stand in one section? Then packs are shown only if asked for.
    pub fn joins_packs_and_tools(&self) -> bool {
        let joined = [Field::ToolGuidelines, Field::Capabilities];
        let joins = |slot: &Slot| joined.iter().all(|field| slot.module.reads().contains(field));
        self.slots.iter().any(joins)
    }

    /// The files it shows; whoever gathers a Context reads them into `files`.
    pub fn files(&self) -> &[FileModule] {
        &self.files
    }

    /// Does any of its modules show this part of a Context?
    pub fn shows(&self, field: Field) -> bool {
        !self.unread.contains(&field)
    }
}

fn unread(slots: &[Slot]) -> Arc<[Field]> {
    Field::ALL
        .into_iter()
        .filter(|field| !slots.iter().any(|slot| slot.module.reads().contains(field)))
        .collect()
}

impl Slot {
    pub(crate) fn is_turn(&self) -> bool {
        self.spec.volatility == crate::fence::authority::Volatility::Turn
    }
}
