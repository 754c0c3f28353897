//! The files of a folder as modules: which one a name stands for, and what it exports.

use std::sync::Arc;

use super::{Machine, ProgramKind};
use crate::screen::code::effect::Act;
use crate::screen::code::ir::Target;
use crate::screen::code::language::Language;
use crate::screen::code::value::{Marks, Value};

impl Machine<'_> {
    /// The program of the folder that a path names.
    pub(crate) fn program_at(&self, path: &str) -> Option<usize> {
        let wanted = file_name(path);
        self.by_name.get(wanted).copied().filter(|_| !wanted.is_empty())
    }

    /// The program that a module's name stands for.
    pub(super) fn module_at(&self, module: &str) -> Option<usize> {
        let relative = module.starts_with('.');
        let last = module.trim_start_matches('.').rsplit(['/']).next().unwrap_or_default();
        let last = last
            .trim_end_matches(".js")
            .trim_end_matches(".ts")
            .trim_end_matches(".mjs")
            .trim_end_matches(".cjs");
        let last =
            if relative || !module.contains('.') { last } else { module.rsplit('.').next()? };
        let own = self.programs.get(self.file)?.language;
        self.programs.iter().enumerate().position(|(index, program)| {
            index != self.file
                && program.kind == ProgramKind::File
                && family(program.language) == family(own)
                && stem(&program.path) == last
        })
    }

    /// The program that is a member of a package: `from package import program`.
    fn submodule_at(&self, package: &str, member: &str) -> Option<usize> {
        let package = package.trim_start_matches('.');
        let directory = package.rsplit('.').next().filter(|name| !name.is_empty());
        self.programs.iter().enumerate().position(|(index, program)| {
            let mut above = program.path.rsplit('/').skip(1);
            index != self.file
                && program.kind == ProgramKind::File
                && program.language == Language::Python
                && stem(&program.path) == member
                && directory.is_none_or(|name| above.next() == Some(name))
        })
    }

    pub(super) fn import(
        &mut self,
        module: &str,
        member: Option<&str>,
        local: &Arc<str>,
        line: u32,
    ) {
        if module.starts_with("https://") || module.starts_with("http://") {
            self.add(Act::LoadRemote, module, Marks::default(), line);
        }
        let value = match (self.module_at(module), member) {
            (Some(file), Some(member)) => self.exported(file, member),
            (Some(file), None) => Value { module: Some(file), ..Value::path(module) },
            (None, Some(member)) => match self.submodule_at(module, member) {
                Some(file) => Value { module: Some(file), ..Value::path(member) },
                None => Value::path(format!("{}.{member}", plain_module(module))),
            },
            (None, None) => Value::path(plain_module(module)),
        };
        if !local.is_empty() {
            self.bind(&Target::whole(Arc::clone(local)), value, false);
        }
    }

    /// What another file of the folder calls so.
    pub(super) fn exported(&self, file: usize, member: &str) -> Value {
        let known = self.globals.get(file).and_then(|globals| globals.get(member)).cloned();
        let mut value = known.unwrap_or_default();
        if self.functions.get(file).is_some_and(|own| own.contains_key(member)) {
            value.module = Some(file);
            value.path = Some(format!("function:{member}").into());
        }
        value
    }
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn stem(path: &str) -> &str {
    let name = file_name(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn family(language: Language) -> u8 {
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => 0,
        Language::Python => 1,
        Language::Shell => 2,
        Language::PowerShell => 3,
        Language::Ruby => 4,
        Language::Loose(_) => 5,
    }
}

/// `node:fs/promises` is `fs`.
pub(super) fn plain_module(module: &str) -> &str {
    let module = module.strip_prefix("node:").unwrap_or(module);
    module.strip_suffix("/promises").unwrap_or(module)
}
