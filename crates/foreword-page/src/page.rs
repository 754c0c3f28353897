//! The frame of every page.

use crate::blocks::{self, Fact, Finding, Item, Table};
use crate::composition::{self, Composition};
use crate::layout::Layout;
use crate::markup::Markup;
use crate::part_text;
use crate::policy::policy;

const STYLE: &str = include_str!("page.css");

/// The level of a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    Section,
    Subsection,
    Part,
}

impl Depth {
    /// The level below.
    pub(crate) fn below(self) -> Self {
        match self {
            Self::Section => Self::Subsection,
            Self::Subsection | Self::Part => Self::Part,
        }
    }

    pub(crate) fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Section => ("<h2>", "</h2>"),
            Self::Subsection => ("<h3>", "</h3>"),
            Self::Part => ("<h4>", "</h4>"),
        }
    }
}

/// A page that blocks are added to, top to bottom.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: Markup,
    contents: Vec<String>,
    layout: Layout,
    compositions: usize,
}

impl Page {
    /// A page with a title, and a line below it that says what it is about.
    #[must_use]
    pub fn new(title: &str, lead: &str) -> Self {
        let mut body = Markup::default();
        if !lead.is_empty() {
            body.raw("<p class=\"lead\">").text(lead).raw("</p>\n");
        }
        Self {
            title: title.to_owned(),
            body,
            contents: Vec::new(),
            layout: Layout::default(),
            compositions: 0,
        }
    }

    /// Starts a section with a heading, which is also a line of the contents.
    pub fn heading(&mut self, heading: &str) -> &mut Self {
        self.body.raw("<h2 id=\"").text(&format!("h{}", self.contents.len())).raw("\">");
        self.body.text(heading).raw("</h2>\n");
        self.contents.push(heading.to_owned());
        self
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) -> &mut Self {
        self.body.raw("<p>").text(text).raw("</p>\n");
        self
    }

    /// Adds a paragraph that must not be missed.
    pub fn notice(&mut self, text: &str) -> &mut Self {
        self.body.raw("<p class=\"notice\">").text(text).raw("</p>\n");
        self
    }

    /// Adds figures.
    pub fn facts(&mut self, facts: &[Fact]) -> &mut Self {
        blocks::facts(facts, &mut self.body);
        self
    }

    /// Adds a list.
    pub fn list(&mut self, items: &[Item]) -> &mut Self {
        blocks::list(items, &mut self.body);
        self
    }

    /// Adds a table; `name` is for those who hear the page.
    pub fn table(&mut self, name: &'static str, table: &Table) -> &mut Self {
        blocks::table(name, table, &mut self.body);
        self
    }

    /// Adds a finding.
    pub fn finding(&mut self, finding: &Finding) -> &mut Self {
        blocks::finding(finding, &mut self.body);
        self
    }

    /// Adds what a text is made of: a ribbon, a map and a table, each a section of the page. The links
    /// in them lead to [`Self::texts`] of the same composition, which must follow before the next one.
    pub fn overview(&mut self, what: &Composition<'_>) -> &mut Self {
        self.compositions += 1;
        for (heading, block) in self.views(what) {
            self.heading(heading).body.append(&block);
        }
        self
    }

    /// Adds the texts of the composition whose overview was added last.
    pub fn texts(&mut self, what: &Composition<'_>) -> &mut Self {
        let texts = part_text::texts(self.compositions, Depth::Section, what);
        self.heading("Text").body.append(&texts);
        self
    }

    /// Adds overview and texts inside a section.
    pub fn composition(&mut self, what: &Composition<'_>) -> &mut Self {
        self.compositions += 1;
        let texts = part_text::texts(self.compositions, Depth::Subsection, what);
        let (open, close) = Depth::Subsection.tags();
        for (heading, block) in self.views(what).into_iter().chain([("Text", texts)]) {
            self.body.raw(open).raw(heading).raw(close).raw("\n").append(&block);
        }
        self
    }

    fn views(&mut self, what: &Composition<'_>) -> [(&'static str, Markup); 3] {
        let number = self.compositions;
        [
            ("In reading order", composition::ribbon(number, what, &mut self.layout)),
            ("By tokens", composition::map(number, what, &mut self.layout)),
            ("Figures", composition::table(number, what, &mut self.layout)),
        ]
    }

    /// The whole page.
    #[must_use]
    pub fn finish(self, written_by: &'static str) -> String {
        let style = format!("{STYLE}{}", self.layout.as_str());
        let mut out = Markup::default();
        out.raw(START);
        // First, so that it holds for all that follows. It is made of literals and a hash.
        out.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"")
            .attribute(&policy(&style));
        out.raw("\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.raw("<meta name=\"color-scheme\" content=\"light dark\">\n");
        out.raw("<meta name=\"referrer\" content=\"no-referrer\">\n<title>").attribute(&self.title);
        out.raw("</title>\n<style>").style(&style).raw("</style>\n</head>\n<body>\n<header>\n<h1>");
        out.text(&self.title).raw("</h1>\n");
        if self.contents.len() > 2 {
            out.raw("<nav aria-label=\"Contents\"><ul>\n");
            for (number, heading) in self.contents.iter().enumerate() {
                out.raw("<li><a href=\"#").text(&format!("h{number}")).raw("\">").text(heading);
                out.raw("</a></li>\n");
            }
            out.raw("</ul></nav>\n");
        }
        out.raw("</header>\n<main>\n").append(&self.body).raw("</main>\n<footer>Written by <code>");
        out.raw(written_by);
        out.raw(END);
        out.into_string()
    }
}

const START: &str = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
const END: &str =
    "</code>. This file loads nothing and runs no scripts.</footer>\n</body>\n</html>\n";

/// Whether a text is a page of ours. A page shows other texts and is the source of none.
#[must_use]
pub fn is_page(text: &str) -> bool {
    text.starts_with(START) && text.ends_with(END)
}
