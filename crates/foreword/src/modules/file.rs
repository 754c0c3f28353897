//! A section of a user's blueprint, backed by a file.

use crate::compile::cut::cut_document;
use crate::compile::module::{Module, Spec};
use crate::compile::section::Section;
use crate::context::Context;
use crate::fence::authority::{Authority, Volatility};
use crate::fence::text::{Line, Source};

pub(super) struct FileSection {
    file: String,
    heading: Option<Line>,
    optional: bool,
    max_chars: usize,
}

impl FileSection {
    pub(super) fn new(
        file: &str,
        heading: Option<&str>,
        optional: bool,
        max_chars: Option<usize>,
    ) -> Self {
        // The section writes the marks of the heading itself.
        let heading = heading.map(|text| Line::new(text.trim_start_matches(['#', ' '])));
        Self {
            file: file.to_owned(),
            heading: heading.filter(|heading| !heading.is_blank()),
            optional,
            max_chars: max_chars.unwrap_or(usize::MAX),
        }
    }
}

impl Module for FileSection {
    fn name(&self) -> &'static str {
        "file"
    }

    fn spec(&self) -> Spec {
        let spec = Spec::optional(50, Authority::Operator, Volatility::Stable);
        Spec { optional: self.optional, ..spec }
    }

    fn should_include(&self, context: &Context) -> bool {
        context.files.get(&self.file).is_some_and(|text| !text.is_blank())
    }

    fn render(&self, context: &Context, section: &mut Section<'_>) {
        let Some(text) = context.files.get(&self.file) else { return };
        if let Some(heading) = &self.heading {
            section.heading(heading);
        }
        let text = cut_document(text, &self.file, self.max_chars);
        match text.source() {
            Some(_) => section.document(&text, "file"),
            None => section.document(&text.from_source(Source::file(&*self.file)), "file"),
        }
    }
}
