//! Every link in the book leads somewhere, and every page can be reached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::error::TaskError;

/// A page: the places in it that links can name, and its links.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    /// Line and destination.
    links: Vec<(usize, String)>,
    has_title: bool,
}

/// What is wrong with the book, one line each: page, line, fault.
pub(super) fn faults(docs: &Path) -> Result<Vec<String>, TaskError> {
    let mut pages = BTreeMap::new();
    let mut files = Vec::new();
    collect(docs, docs, &mut files)?;
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "md")) {
        let text = read(&docs.join(file))?;
        pages.insert(file.clone(), page(&with_includes(&docs.join(file), &text)?));
    }
    let files: BTreeSet<&PathBuf> = files.iter().collect();
    let mut faults = Vec::new();
    let mut linked: BTreeSet<PathBuf> = BTreeSet::new();
    let mut in_summary: BTreeSet<PathBuf> = BTreeSet::new();
    let summary = Path::new("SUMMARY.md");
    for (path, page) in &pages {
        for (line, link) in &page.links {
            let place = format!("{}:{line}", path.display());
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if file.is_empty() { path.clone() } else { resolve(path, file) };
            if !files.contains(&to) {
                faults.push(format!("{place}: `{link}` leads to no file of the book"));
                continue;
            }
            if let Some(other) = pages.get(&to).filter(|_| !anchor.is_empty())
                && !other.anchors.contains(anchor)
            {
                faults.push(format!("{place}: `{link}` names no heading of {}", to.display()));
            }
            if path != summary && to.ends_with("README.md") {
                faults.push(format!("{place}: `{link}` is called index.html in the book"));
            }
            if path == summary {
                if !in_summary.insert(to.clone()) {
                    faults.push(format!("{place}: `{link}` is in the summary twice"));
                }
            } else if to != *path {
                linked.insert(to);
            }
        }
    }
    for (path, page) in pages.iter().filter(|(path, _)| *path != summary) {
        let name = path.display();
        if !in_summary.contains(path) {
            faults.push(format!("SUMMARY.md: {name} is missing"));
        }
        if !linked.contains(path) && path != Path::new("README.md") {
            faults.push(format!("{name}: no other page links to it"));
        }
        if !page.has_title {
            faults.push(format!("{name}: has no title"));
        }
    }
    Ok(faults)
}

fn collect(docs: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), TaskError> {
    let failed = || TaskError::io(format!("cannot read {}", folder.display()));
    for entry in std::fs::read_dir(folder).map_err(failed())? {
        let path = entry.map_err(failed())?.path();
        if path.is_dir() {
            collect(docs, &path, files)?;
        } else if let Ok(relative) = path.strip_prefix(docs) {
            files.push(relative.to_owned());
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, TaskError> {
    std::fs::read_to_string(path).map_err(TaskError::io(format!("cannot read {}", path.display())))
}

/// A page with the files that mdBook includes in it.
fn with_includes(path: &Path, text: &str) -> Result<String, TaskError> {
    let Some((before, rest)) = text.split_once("{{#include ") else { return Ok(text.to_owned()) };
    let Some((file, after)) = rest.split_once("}}") else { return Ok(text.to_owned()) };
    let folder = path.parent().unwrap_or(path);
    Ok(format!("{before}{}{}", read(&folder.join(file.trim()))?, with_includes(path, after)?))
}

/// A relative link of a page, as a path from the root of the book.
fn resolve(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            // A link that leaves the book is kept, so that it is found to lead nowhere.
            Component::ParentDir => path.push(".."),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

fn page(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        let line = || text.get(..range.start).unwrap_or_default().matches('\n').count() + 1;
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                page.has_title |= level == HeadingLevel::H1;
                heading = Some(String::new());
            }
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let mut unique = name.clone();
                let mut number = 0;
                while !page.anchors.insert(unique.clone()) {
                    number += 1;
                    unique = format!("{name}-{number}");
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push((line(), dest_url.into_string()));
            }
            _ => {}
        }
    }
    page
}

/// The anchor that mdBook makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_no_dead_link_and_no_lost_page() {
        let faults = faults(&crate::steps::root().join("docs")).unwrap();
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn faults_are_found_with_their_place() {
        let docs = std::env::temp_dir().join(format!("foreword-book-{}", std::process::id()));
        let write = |name: &str, text: &str| {
            let path = docs.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("SUMMARY.md", "# Summary\n\n- [A](README.md)\n- [B](b/b.md)\n");
        write("README.md", "# A\n\n[b](b/b.md#the-place) [out](../x.md) [web](https://x.org)\n");
        write("b/b.md", "# B\n\n## A place\n\n`[no](link)`\n\n[up](../README.md#nothing)\n");
        write("c.md", "text\n");
        let found = faults(&docs);
        std::fs::remove_dir_all(&docs).unwrap();
        assert_eq!(
            found.unwrap(),
            [
                "README.md:3: `b/b.md#the-place` names no heading of b/b.md",
                "README.md:3: `../x.md` leads to no file of the book",
                "b/b.md:7: `../README.md#nothing` names no heading of README.md",
                "b/b.md:7: `../README.md#nothing` is called index.html in the book",
                "SUMMARY.md: c.md is missing",
                "c.md: no other page links to it",
                "c.md: has no title",
            ]
        );
    }
}
