//! A whole skill: its documents as texts, its programs as programs, one verdict.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::screen::code::capabilities::Capabilities;
use crate::screen::code::language::{Language, batch, comments};
use crate::screen::code::{Code, Documents, ProgramKind};
use crate::screen::combination::{combined, without_repetitions};
use crate::screen::defensive::{Commands, is_bad_example, is_deed, is_defensive, is_sample};
use crate::screen::document::{Document, Place};
use crate::screen::policy::Policy;
use crate::screen::report::shorten;
use crate::screen::screener::{Screener, written_size};
use crate::screen::verdict::{Finding, Screening, Verdict};

/// A file of a skill.
#[derive(Debug, Clone, Copy)]
pub struct SkillFile<'a> {
    /// Its path below the folder of the skill.
    pub path: &'a str,
    /// Its bytes.
    pub content: &'a [u8],
}

/// The rule about code that does more than the header declares.
pub const UNDECLARED_CAPABILITY: &str = "undeclared-capability";

/// Findings that are kept.
const MAX_FINDINGS: usize = 200;
/// Data files that are read as texts up to this size.
const MAX_DATA: usize = 64 * 1024;

/// Judges a skill with all its files.
///
/// Documents go through `screeners`. Programs, fences and the commands in manifests are parsed, and
/// values are followed through all of them. Programs that an agent wrote go through `screeners` too,
/// and a person has to look at each. `declared_permissions` are compared with what the code can do;
/// they never make a verdict milder.
#[must_use]
pub fn screen_folder(
    policy: Policy,
    screeners: &[&dyn Screener],
    files: &[SkillFile<'_>],
    declared_permissions: &[String],
) -> Screening {
    let mut findings = Vec::new();
    let mut code = Code::default();
    let (mut unread, mut loosely_read) = (Vec::new(), Vec::new());
    let main = files.iter().position(|file| is_main(file.path)).unwrap_or(0);
    let whole = documents_size(files, main);
    let screen = |text: &str| -> Vec<Finding> {
        let found = screeners.iter().map(|s| s.screen_document(text, declared_permissions, whole));
        found.flatten().collect()
    };
    // Of a program, what is written for people is read as prose, and only that.
    let screen_program = |path: &str, language: Language, text: &str| -> Vec<Finding> {
        let (prose, all): (Vec<&dyn Screener>, Vec<_>) =
            screeners.iter().partition(|screener| screener.reads_prose());
        let code = fenced(path, text);
        let in_code = all.iter().flat_map(|s| s.screen(&code, declared_permissions)).map(unfenced);
        let comments = comments(language, text);
        let in_prose =
            prose.iter().flat_map(|s| s.screen_document(&comments, declared_permissions, whole));
        in_code.chain(in_prose).collect()
    };
    // An agent reads the comments of a program as it reads a document. Most of them are about code, so only
    // what would be refused in a document needs review.
    let grave_comments = |language: Language, text: &str| -> Vec<Finding> {
        let prose = screeners.iter().filter(|screener| screener.reads_prose());
        let comments = comments(language, text);
        let found = prose.flat_map(|s| s.screen_document(&comments, declared_permissions, whole));
        let grave = found.filter(|finding| finding.verdict == Verdict::Reject);
        grave.map(|finding| Finding { verdict: Verdict::NeedsReview, ..finding }).collect()
    };
    // Which files are programs, which is asked for every pair of findings, and which hold code.
    let (mut programs, mut runs) = (Vec::with_capacity(files.len()), Vec::new());
    for (index, file) in files.iter().enumerate() {
        // What can be read of it is.
        let text = String::from_utf8_lossy(file.content);
        let is_text = matches!(text, Cow::Borrowed(_));
        let kind = kind(file.path, &text, index == main);
        let is_program = matches!(kind, Kind::Program(_) | Kind::OtherProgram(_));
        programs.push(is_program);
        let mut holds_code = is_program;
        match kind {
            Kind::Program(language) => {
                code.add(index, file.path, language, &text, (ProgramKind::File, 0), None);
            }
            Kind::OtherProgram(language) => {
                let text = match language {
                    Language::Shell => Cow::Owned(batch(&text)),
                    _ => text,
                };
                code.add(index, file.path, language, &text, (ProgramKind::File, 0), None);
            }
            Kind::Document if is_text || index == main => {
                add_fences(&mut code, index, file.path, &text);
                if file.path.ends_with(".txt") {
                    let _ = code.add_embedded(index, file.path, &text);
                }
            }
            Kind::Data if is_text => {
                let any = code.add_embedded(index, file.path, &text);
                holds_code = any && text.len() <= MAX_DATA && !is_markup(file.path);
            }
            Kind::Document | Kind::Data => {}
        }
        runs.extend(holds_code.then_some(index));
    }
    let of_programs = runs.iter().filter_map(|index| files.get(*index));
    let all_programs: usize = of_programs.map(|file| written_size(file.content)).sum();
    let (found, mut capabilities) = code.judge(|| {
        let mut documents = Documents::default();
        for (index, file) in runs.iter().filter_map(|index| Some((*index, files.get(*index)?))) {
            let text = String::from_utf8_lossy(file.content);
            let found = screeners.iter().flat_map(|s| s.screen_program(&text, all_programs));
            findings.extend(found.map(|finding| (index, finding)));
        }
        for (index, file) in files.iter().enumerate() {
            let Ok(text) = std::str::from_utf8(file.content) else {
                unread.push(file.path);
                findings.extend(unreadable(index, file));
                let text = String::from_utf8_lossy(file.content);
                let found = screen(&text).into_iter().filter(|f| f.verdict == Verdict::Reject);
                findings.extend(found.map(|finding| (index, finding)));
                continue;
            };
            match kind(file.path, text, index == main) {
                Kind::Document => {
                    // A text file may be data: only what is written for people says which hosts belong.
                    if !file.path.ends_with(".txt") || is_readme(file.path) {
                        documents.add(text);
                    }
                    findings.extend(screen(text).into_iter().map(|finding| (index, finding)));
                }
                Kind::Program(language) => {
                    if policy == Policy::Agent {
                        findings.push((index, by_an_agent()));
                        let found = screen_program(file.path, language, text).into_iter();
                        findings.extend(found.map(|finding| (index, finding)));
                    } else {
                        let found = grave_comments(language, text).into_iter();
                        findings.extend(found.map(|finding| (index, finding)));
                    }
                }
                Kind::OtherProgram(language) => {
                    loosely_read.push(file.path);
                    let found =
                        screen_program("", language, text).into_iter().map(|mut finding| {
                            if policy == Policy::Import {
                                finding.verdict = finding.verdict.min(Verdict::NeedsReview);
                            }
                            (index, finding)
                        });
                    findings.extend(found);
                    findings.extend((policy == Policy::Agent).then(|| (index, by_an_agent())));
                }
                Kind::Data if text.len() <= MAX_DATA => {
                    let grave = screen(text).into_iter().filter(|f| f.verdict == Verdict::Reject);
                    findings.extend(grave.map(|mut finding| {
                        finding.verdict = Verdict::NeedsReview;
                        (index, finding)
                    }));
                }
                Kind::Data => {}
            }
        }
        documents
    });
    // The lines of each file on which parsed code does something grave.
    let mut deeds: HashMap<usize, Vec<u32>> = HashMap::new();
    for one in found {
        if is_deed(one.judgement.rule) {
            deeds.entry(one.file).or_default().push(one.judgement.line);
        }
        let text = files.get(one.file).map(|file| String::from_utf8_lossy(file.content));
        let excerpt = text.map(|text| excerpt(&text, one.judgement.line)).unwrap_or_default();
        let finding = Finding {
            rule: one.judgement.rule.to_owned(),
            verdict: one.judgement.verdict,
            file: None,
            line: one.judgement.line,
            excerpt,
            message: one.judgement.message,
        };
        findings.push((one.file, finding));
    }
    for (file, line, trigger) in code.triggers().filter(|t| !t.2.contains("page")) {
        let message = format!("Runs on its own ({trigger}).");
        let mut finding = note("runs-on-its-own", line, &message);
        if policy == Policy::Agent {
            finding.verdict = Verdict::NeedsReview;
        }
        findings.push((file, finding));
    }
    if code.left_out > 0 {
        let message = format!("{} programs were left out: there are too many.", code.left_out);
        let mut finding = note("too-many-programs", 1, &message);
        finding.verdict = Verdict::NeedsReview;
        findings.push((main, finding));
    }
    capabilities.unread.extend(unread.into_iter().map(str::to_owned));
    let loosely_read = loosely_read.into_iter().map(|path| format!("{path} (no grammar)"));
    capabilities.unread.extend(loosely_read);
    if let Some(mut finding) = undeclared(&capabilities, declared_permissions) {
        if policy == Policy::Agent {
            finding.verdict = Verdict::NeedsReview;
        }
        findings.push((main, finding));
    }
    let defensive = files.get(main).is_some_and(|file| is_defensive(file.content));
    findings
        .extend(combined(&findings, defensive, |index| programs.get(index).is_some_and(|is| *is)));
    findings = without_repetitions(findings);
    let mut out: Vec<Finding> = Vec::new();
    let mut commands: HashMap<usize, Commands> = HashMap::new();
    for (index, mut finding) in findings {
        let path = files.get(index).map(|file| file.path).unwrap_or_default();
        let mut is_command = || {
            let content = files.get(index).map(|file| file.content).unwrap_or_default();
            let deeds = deeds.get(&index).map(Vec::as_slice).unwrap_or_default();
            let own = || Commands::of(&String::from_utf8_lossy(content), index == main, deeds);
            is_deed(&finding.rule) && commands.entry(index).or_insert_with(own).hold(finding.line)
        };
        // A skill about attacks shows them; a command to run is what it is.
        if finding.verdict == Verdict::Reject
            && (is_sample(path) || defensive && is_document(path) && !is_command())
        {
            finding.verdict = Verdict::NeedsReview;
        }
        finding.file = (index != main).then(|| path.to_owned());
        let same = |f: &Finding| {
            (&f.rule, &f.file, f.line) == (&finding.rule, &finding.file, finding.line)
        };
        match out.iter_mut().rev().take(64).find(|f| same(f)) {
            Some(known) if known.verdict >= finding.verdict => {}
            Some(known) => *known = finding,
            None => out.push(finding),
        }
    }
    if out.len() > MAX_FINDINGS {
        out.sort_by_key(|finding| std::cmp::Reverse(finding.verdict));
        out.truncate(MAX_FINDINGS);
    }
    Screening { capabilities, ..Screening::of(out) }
}

enum Kind {
    Document,
    Program(Language),
    /// Code in a language without a grammar here, and what it is read as.
    OtherProgram(Language),
    Data,
}

/// The size of what is written for people in a skill. A text file may be data.
fn documents_size(files: &[SkillFile<'_>], main: usize) -> usize {
    let prose = |path: &str| is_document(path) && (!path.ends_with(".txt") || is_readme(path));
    let documents = files.iter().enumerate().filter(|(at, file)| *at == main || prose(file.path));
    documents.map(|(_, file)| written_size(file.content)).sum()
}

/// Pages and settings, of which code is a small part.
fn is_markup(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".json", ".html", ".htm", ".svg", ".xml"].iter().any(|end| lower.ends_with(end))
}

fn is_readme(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.to_ascii_lowercase().starts_with("readme"))
}

fn is_main(path: &str) -> bool {
    path.eq_ignore_ascii_case("SKILL.md")
}

fn is_document(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    // Tools read these, people do not.
    if ["requirement", "constraint", "cmakelists"].iter().any(|word| name.contains(word))
        && name.ends_with(".txt")
    {
        return false;
    }
    [".md", ".mdx", ".markdown", ".txt", ".rst"].iter().any(|end| lower.ends_with(end))
}

fn kind(path: &str, text: &str, main: bool) -> Kind {
    if main || is_document(path) {
        return Kind::Document;
    }
    match Language::of_file(path, text) {
        Some(language @ Language::Loose(_)) => return Kind::OtherProgram(language),
        Some(language) => return Kind::Program(language),
        None => {}
    }
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let shells = ["bat", "cmd", "fish", "nu", "csh", "tcsh", "ahk", "au3"];
    match shells.contains(&extension.as_str()) {
        true => Kind::OtherProgram(Language::Shell),
        false => Kind::Data,
    }
}

/// A program as a document would show it.
fn fenced(path: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let language = path.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    let language = language.map(|(_, extension)| extension).unwrap_or_default();
    let language = if language.chars().all(char::is_alphanumeric) { language } else { "" };
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A finding in a program that was put into a fence.
fn unfenced(mut finding: Finding) -> Finding {
    finding.line = finding.line.saturating_sub(1).max(1);
    finding
}

fn by_an_agent() -> Finding {
    let mut finding = note("agent-program", 1, "Is a program that an agent wrote.");
    finding.verdict = Verdict::NeedsReview;
    finding
}

/// The programs in the fences of a document, unless they are shown as something not to do.
fn add_fences(code: &mut Code, index: usize, path: &str, text: &str) {
    let document = Document::read(text);
    let mut units = document.units.iter().filter(|unit| unit.place == Place::Code).peekable();
    while let Some(first) = units.next() {
        let mut end = first.end;
        while let Some(next) = units.next_if(|unit| unit.block == first.block) {
            end = next.end;
        }
        let Some(fence) = document.fence(first.block) else { continue };
        let language = match fence.language.as_str() {
            "" => Some(Language::Shell),
            name => Language::of_name(name),
        };
        let Some(language) = language else { continue };
        let above = text.get(..first.start).unwrap_or_default();
        if is_bad_example(above) {
            continue;
        }
        let body = text.get(first.start..end).unwrap_or_default();
        let body = match language {
            Language::Shell => without_placeholders(body),
            _ => body.to_owned(),
        };
        let lines = first.line.saturating_sub(1);
        code.add(index, path, language, &body, (ProgramKind::Fence, lines), None);
    }
}

/// `<case-id>` in a command is a word to fill in, not a redirection.
fn without_placeholders(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let is_word =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | '/' | ':');
        let inner = from.get(1..).unwrap_or_default();
        let end = inner.find(|c: char| !is_word(c)).unwrap_or(inner.len());
        let closed = inner.get(end..).is_some_and(|after| after.starts_with('>'));
        let word = inner.get(..end).unwrap_or_default();
        out.push_str(before);
        if closed && !word.is_empty() && !word.starts_with(' ') {
            out.push_str(&word.replace([' ', '/', ':'], "-"));
            rest = inner.get(end + 1..).unwrap_or_default();
        } else {
            out.push('<');
            rest = inner;
        }
    }
    out.push_str(rest);
    out
}

/// A file that is no text: a program is a reason to look, a picture is not.
fn unreadable(index: usize, file: &SkillFile<'_>) -> Option<(usize, Finding)> {
    let magic: [&[u8]; 9] = [
        b"\x7fELF",
        b"MZ",
        b"\xcf\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"PK\x03\x04",
        b"\x1f\x8b",
        b"Rar!",
        b"7z\xbc\xaf",
        b"\0asm",
    ];
    let pictures: [&[u8]; 9] = [
        b"\x89PNG",
        b"\xff\xd8\xff",
        b"GIF8",
        b"RIFF",
        b"%PDF",
        b"wOFF",
        b"wOF2",
        b"\0\x01\0\0",
        b"OTTO",
    ];
    let starts = |list: &[&[u8]]| list.iter().any(|magic| file.content.starts_with(magic));
    let message = if starts(&magic) {
        "Is a program or an archive, which cannot be screened."
    } else if starts(&pictures) && is_picture_name(file.path) {
        return None;
    } else {
        "is not UTF-8 text; only the readable part was screened"
    };
    let mut finding = note("not-text", 1, message);
    finding.verdict = Verdict::NeedsReview;
    Some((index, finding))
}

fn is_picture_name(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let known = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "woff", "woff2", "ttf", "otf", "ico"];
    known.contains(&extension.as_str())
}

/// What the code does although the header declares no tool for it.
fn undeclared(capabilities: &Capabilities, declared: &[String]) -> Option<Finding> {
    let missing = capabilities.undeclared(declared);
    let message = format!("Its files can do what `allowed-tools` does not cover ({missing}).");
    (!missing.is_empty()).then(|| note(UNDECLARED_CAPABILITY, 1, &message))
}

fn note(rule: &str, line: u32, message: &str) -> Finding {
    Finding {
        rule: rule.into(),
        verdict: Verdict::AutoApprove,
        file: None,
        line,
        excerpt: String::new(),
        message: message.into(),
    }
}

fn excerpt(text: &str, line: u32) -> String {
    let at = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    text.lines().nth(at).map(|line| shorten(line.trim(), 0)).unwrap_or_default()
}
