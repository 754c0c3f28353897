//! Programs that a program writes for others: pages, plugins and controllers that stand in it as texts.
//!
//! Nothing of such a text runs here, but it does what it does wherever it is put. It is read with
//! names of its own, so that it changes nothing of what the program around it knows.

use super::{Machine, Scope};
use crate::screen::code::language::{Dialect, Language};
use crate::screen::code::lower::lower;
use crate::screen::code::manifests;
use crate::screen::code::value::{HOLE, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Texts of one folder that are read as programs, in each walk.
const MAX_TEMPLATES: usize = 48;
/// The size of a text that may be a program.
const SIZES: std::ops::RangeInclusive<usize> = 60..=16 * 1024;

/// What a program of a page or a server sends or runs something with.
const ACTS: [&str; 24] = [
    "fetch(",
    "sendBeacon",
    "XMLHttpRequest",
    ".post(",
    "axios",
    "mail(",
    "sendMail",
    "exec(",
    "execSync",
    "popen",
    "system(",
    "eval(",
    "wp_remote",
    "curl_",
    "spawn(",
    "requests.",
    "Image()",
    "urlopen",
    "Net::HTTP",
    "WebSocket",
    "Function(",
    "$.ajax",
    "subprocess",
    "instance_eval",
];

impl Machine<'_> {
    /// Reads a text as the program that it is, if it is one that sends or runs something.
    pub(super) fn note_template(&mut self, value: &Value) {
        let Some(text) = value.as_text().filter(|text| SIZES.contains(&text.len())) else { return };
        if self.speaks.is_some()
            || self.nested > 0
            || self.templates >= MAX_TEMPLATES
            || !text.contains('\n')
            || self.in_fence()
            || !ACTS.iter().any(|act| text.contains(act))
        {
            return;
        }
        let Some((language, code)) = program_in(text) else { return };
        self.templates += 1;
        let key = (language, Arc::<str>::from(code));
        let body = match self.parsed.get(&key) {
            Some(body) => Rc::clone(body),
            None => {
                let body = Rc::new(lower(&mut self.parsers, language, &key.1));
                self.parsed.insert(key, Rc::clone(&body));
                body
            }
        };
        let file = self.file;
        let take = |list: &mut Vec<Scope>| list.get_mut(file).map(std::mem::take);
        let globals = take(&mut self.globals);
        let functions = self.functions.get_mut(file).map(std::mem::take);
        let scopes = std::mem::take(&mut self.scopes);
        let returned = std::mem::take(&mut self.returned);
        let conduits = std::mem::take(&mut self.conduits);
        let (inside, line) = (self.inside.take(), self.at_line);
        self.at_line = Some(line.unwrap_or(self.near.max(1)));
        self.speaks = Some(language);
        self.nested += 1;
        self.announce(&body);
        // What a function is handed is known when it is walked once more.
        for _ in 0..2 {
            self.block(&body);
        }
        self.nested -= 1;
        self.speaks = None;
        (self.inside, self.at_line) = (inside, line);
        (self.scopes, self.returned, self.conduits) = (scopes, returned, conduits);
        if let (Some(own), Some(before)) = (self.globals.get_mut(file), globals) {
            *own = before;
        }
        if let (Some(own), Some(before)) = (self.functions.get_mut(file), functions) {
            *own = before;
        }
    }
}

/// The language of a text that is a program, and its code.
fn program_in(text: &str) -> Option<(Language, String)> {
    if text.contains("<?php") {
        return Some((Language::Loose(Dialect::Php), named(text)));
    }
    if text.contains("<script") {
        let scripts = manifests::embedded("page.html", text).kept;
        let code: Vec<String> = scripts.into_iter().map(|piece| piece.code).collect();
        return Some((Language::JavaScript, named(&code.join("\n;\n"))));
    }
    if let Some(language) = Language::of_file("", text) {
        return Some((language, named(text)));
    }
    let lines = || text.lines().map(str::trim).take(400);
    let ends = lines().filter(|line| *line == "end").count();
    let opens =
        |words: &[&str]| lines().any(|line| words.iter().any(|word| line.starts_with(word)));
    let language = if ends > 0 && opens(&["def ", "class ", "module ", "private", "include "]) {
        Language::Ruby
    } else if lines().any(|l| {
        l.ends_with(':') && ["def ", "async def ", "class "].iter().any(|w| l.starts_with(w))
    }) {
        Language::Python
    } else if opens(&[
        "import ",
        "const ",
        "let ",
        "var ",
        "function ",
        "export ",
        "module.exports",
        "exports.",
    ]) || text.contains("=>")
        || text.contains("function")
    {
        Language::JavaScript
    } else {
        return None;
    };
    Some((language, named(text)))
}

/// A text in which the unknown parts that stand for names are names.
fn named(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let in_text = matches!(before, '/' | '"' | '\'' | '`' | '@' | '-' | '=' | '?' | '&')
            || letters.peek().is_some_and(|next| matches!(next, '/' | '"' | '\'' | '`'));
        out.push(if letter == HOLE && !in_text { '_' } else { letter });
        before = letter;
    }
    out
}
