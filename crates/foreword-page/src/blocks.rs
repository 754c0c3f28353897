//! Lists, tables and findings.

use crate::markup::Markup;

/// A figure with its name.
#[derive(Clone, Debug)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What to know about it.
    pub note: String,
}

/// A line of a list: what it is about, and what is said.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is about.
    pub name: String,
    /// What is said.
    pub text: String,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its columns; those marked `true` hold figures.
    pub columns: Vec<(&'static str, bool)>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing.
    Note,
    /// Worth a look.
    Warning,
    /// Wrong.
    Danger,
}

impl Level {
    fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Danger => "danger",
        }
    }
}

/// Something that was found, and where.
#[derive(Clone, Debug)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// The level in words, such as `BLOCK`.
    pub label: String,
    /// What was found.
    pub title: String,
    /// Where, with figures.
    pub place: String,
    /// Why, one line each.
    pub reasons: Vec<String>,
    /// The text around it.
    pub excerpts: Vec<Excerpt>,
}

/// A place in a text.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// Where it is.
    pub caption: String,
    /// The text before.
    pub before: String,
    /// What matters.
    pub marked: String,
    /// The text after.
    pub after: String,
    /// What it says, if that differs from how it is written.
    pub meaning: Option<String>,
}

pub(crate) fn facts(facts: &[Fact], out: &mut Markup) {
    out.raw("<dl class=\"facts\">\n");
    for fact in facts {
        out.raw("<div><dt>").raw(fact.name).raw("</dt>");
        // A digest is long, and nobody reads it in large letters.
        out.raw(if fact.value.len() > 40 { "<dd class=\"long\">" } else { "<dd>" });
        out.text(&fact.value);
        if !fact.note.is_empty() {
            out.raw(" <span class=\"dim\">").text(&fact.note).raw("</span>");
        }
        out.raw("</dd></div>\n");
    }
    out.raw("</dl>\n");
}

pub(crate) fn list(items: &[Item], out: &mut Markup) {
    out.raw("<ul class=\"items\">\n");
    for item in items {
        out.raw("<li><strong>").text(&item.name).raw("</strong> ").text(&item.text).raw("</li>\n");
    }
    out.raw("</ul>\n");
}

pub(crate) fn table(name: &'static str, table: &Table, out: &mut Markup) {
    out.raw("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"").raw(name);
    out.raw("\">\n<table>\n<thead><tr>");
    for (column, figure) in &table.columns {
        out.raw(if *figure { "<th scope=\"col\" class=\"figure\">" } else { "<th scope=\"col\">" });
        out.raw(column).raw("</th>");
    }
    out.raw("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.raw("<tr>");
        for (cell, (_, figure)) in row.iter().zip(&table.columns) {
            out.raw(if *figure { "<td class=\"figure\">" } else { "<td>" }).text(cell).raw("</td>");
        }
        out.raw("</tr>\n");
    }
    out.raw("</tbody>\n</table>\n</div>\n");
}

pub(crate) fn finding(finding: &Finding, out: &mut Markup) {
    out.raw("<article class=\"finding ").raw(finding.level.class());
    out.raw("\">\n<h3><span class=\"level\">").text(&finding.label).raw("</span> ");
    out.text(&finding.title)
        .raw(" <span class=\"dim\">")
        .text(&finding.place)
        .raw("</span></h3>\n");
    if !finding.reasons.is_empty() {
        out.raw("<ul>\n");
        for reason in &finding.reasons {
            out.raw("<li>").text(reason).raw("</li>\n");
        }
        out.raw("</ul>\n");
    }
    for excerpt in &finding.excerpts {
        out.raw("<h4>").text(&excerpt.caption).raw("</h4>\n<pre>\n").text(&excerpt.before);
        out.raw("<mark>").text(&excerpt.marked).raw("</mark>").text(&excerpt.after).raw("</pre>\n");
        if let Some(meaning) = &excerpt.meaning {
            out.raw("<p>Reads as: <mark>").text(meaning).raw("</mark></p>\n");
        }
    }
    out.raw("</article>\n");
}
