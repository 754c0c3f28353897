//! From what was asked for to what would be written: the name and the text of a proposed skill.

use std::collections::BTreeMap;
use std::path::Path;

use foreword_guard::{Finding, Verdict};
use foreword_workspace::{first_paragraph, read_fields, split_header};

use crate::error::SkillError;
use crate::format::complete_header::{complete_header, replace_name};
use crate::format::file_path::check_files;
use crate::format::fit_name::fit_name;
use crate::format::name::SkillName;
use crate::format::{FormatFault, SkillDocument, validate};
use crate::git::work_tree::MAX_FILE_BYTES;
use crate::store::ProposalRequest;

/// The text of a skill, ready to be screened and written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) name: SkillName,
    /// With a header that names and describes it.
    pub(crate) content: String,
    /// What the skill says it needs.
    pub(crate) permissions: Vec<String>,
    /// What is unusual about its form, for the person who reviews it.
    pub(crate) remarks: Vec<Finding>,
    /// What it was called before its name was made to fit.
    pub(crate) renamed_from: Option<String>,
    /// Files beside `SKILL.md`, by path below the skill's folder.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Draft {
    /// All files of the draft, `SKILL.md` included.
    pub(crate) fn all_files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.files.clone();
        files.insert("SKILL.md".to_owned(), self.content.clone().into_bytes());
        files
    }
}

/// Names and completes a skill that a person brings. Its form never stands in the way: a name is made
/// to fit, and what the format does not allow is a remark.
pub(crate) fn draft_import(content: &str, folder: &str) -> Result<Draft, SkillError> {
    let path = format!("{folder}/SKILL.md");
    check_text(content, &path)?;
    let document = SkillDocument::parse(content, None);
    let given = document.name.as_deref();
    let name = fit_name(given, folder, content.as_bytes())
        .ok_or_else(|| SkillError::Empty { path: path.clone() })?;
    let renamed_from = given.filter(|given| *given != name.as_str()).map(str::to_owned);
    Ok(complete(content, &document, name, renamed_from))
}

/// The same skill under another name.
pub(crate) fn renamed(draft: &Draft, name: SkillName) -> Draft {
    let before = draft.renamed_from.clone().unwrap_or_else(|| draft.name.as_str().to_owned());
    let document = SkillDocument::parse(&draft.content, None);
    complete(&draft.content, &document, name, Some(before))
}

fn complete(
    content: &str,
    document: &SkillDocument,
    name: SkillName,
    renamed_from: Option<String>,
) -> Draft {
    let description = first_paragraph(&document.body, name.as_str());
    let mut content = complete_header(content, name.as_str(), &description);
    if renamed_from.is_some() {
        content = replace_name(&content, name.as_str());
    }
    let faults = validate(&content, Some(name.as_str()));
    let remarks = faults.iter().map(remark).collect();
    let permissions = document.allowed_tools.clone();
    Draft { name, content, permissions, remarks, renamed_from, files: BTreeMap::new() }
}

/// A skill's text is a text with something in it.
fn check_text(content: &str, path: &str) -> Result<(), SkillError> {
    let path = path.to_owned();
    let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if size > MAX_FILE_BYTES {
        return Err(SkillError::TooLarge { path, limit: MAX_FILE_BYTES });
    }
    if content.contains('\0') {
        return Err(SkillError::NotText { path });
    }
    if content.trim().is_empty() {
        return Err(SkillError::Empty { path });
    }
    Ok(())
}

/// Names and completes what was asked for.
pub(crate) fn draft(request: &ProposalRequest) -> Result<Draft, SkillError> {
    let shown = || request.file.clone().unwrap_or_else(|| "the proposal".to_owned());
    check_text(&request.content, &shown())?;
    let document = SkillDocument::parse(&request.content, None);
    // Whoever writes a header now can write one that is YAML.
    let header = split_header(&request.content).ok().and_then(|split| split.header);
    let fields = header.map(|header| read_fields(header, 2)).unwrap_or_default();
    if fields.broken
        && let Some(fault) = fields.faults.into_iter().last()
    {
        let (line, message) = (fault.line, fault.message);
        return Err(SkillError::Format { path: shown(), line, message });
    }
    let name = name(request, &document)?;
    if document.body.trim().is_empty() {
        return Err(SkillError::Empty { path: format!("{}, below its header,", shown()) });
    }
    check_files(&request.files)?;
    let draft = complete(&request.content, &document, name, None);
    Ok(Draft { files: request.files.clone(), ..draft })
}

/// The name asked for, else the header's, else the file's.
fn name(request: &ProposalRequest, document: &SkillDocument) -> Result<SkillName, SkillError> {
    let asked = request.name.as_deref();
    let header = document.name.as_deref();
    if let (Some(asked), Some(header)) = (asked, header)
        && asked != header
    {
        // An impossible name is the worse of two faults.
        SkillName::new(asked)?;
        return Err(SkillError::NameMismatch { header: header.into(), asked: asked.into() });
    }
    let file = request.file.as_deref().and_then(name_of_file);
    Ok(SkillName::new(asked.or(header).or(file.as_deref()).unwrap_or_default())?)
}

/// The name a file gives its skill: its own, or its folder's if it is called `SKILL.md`.
#[must_use]
pub fn name_of_file(file: &str) -> Option<String> {
    let path = Path::new(file);
    let own = path.file_stem()?.to_str()?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = if own.eq_ignore_ascii_case("skill") { folder? } else { own };
    Some(name.to_owned()).filter(|name| name != "-")
}

/// A departure from the format as a finding: worth knowing, never decisive.
pub(crate) fn remark(fault: &FormatFault) -> Finding {
    Finding {
        rule: "format".into(),
        verdict: Verdict::AutoApprove,
        file: None,
        line: u32::try_from(fault.line).unwrap_or(u32::MAX),
        excerpt: fault.field.clone().unwrap_or_default(),
        message: fault.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: Option<&str>, file: &str, content: &str) -> ProposalRequest {
        ProposalRequest {
            name: name.map(str::to_owned),
            file: Some(file.to_owned()),
            content: content.to_owned(),
            ..ProposalRequest::default()
        }
    }

    fn named(name: Option<&str>, file: &str, content: &str) -> Result<String, String> {
        draft(&request(name, file, content))
            .map(|draft| draft.name.as_str().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_name_is_the_one_asked_for_then_the_headers_then_the_files() {
        let header = "---\nname: from-header\n---\nBody.\n";
        assert_eq!(named(Some("asked"), "file.md", "Body.").as_deref(), Ok("asked"));
        assert_eq!(named(None, "file.md", header).as_deref(), Ok("from-header"));
        assert_eq!(named(None, "dir/file.md", "Body.").as_deref(), Ok("file"));
        assert_eq!(named(None, "dir/SKILL.md", "Body.").as_deref(), Ok("dir"));
        assert_eq!(
            named(Some("asked"), "file.md", header).unwrap_err(),
            "the header calls the skill `from-header`, but the requested name is `asked`"
        );
        assert!(named(Some("../x"), "file.md", header).unwrap_err().contains("../x"));
        assert!(named(None, "My Notes.md", "Body.").is_err());
        assert!(named(None, "-", "Body.").is_err());
    }

    #[test]
    fn what_is_missing_is_added_and_the_rest_stays() {
        let draft =
            draft(&request(None, "tea.md", "# Tea\n\nBrews tea.\nWell.\n\nMore.\n")).unwrap();
        assert_eq!(
            draft.content,
            "---\nname: tea\ndescription: \"Brews tea. Well.\"\n---\n\n# Tea\n\nBrews tea.\nWell.\n\nMore.\n"
        );
        assert_eq!(draft.remarks, []);
    }

    #[test]
    fn what_cannot_be_a_skill_is_told_apart() {
        for (content, message) in [
            ("", "f.md: is empty"),
            (" \n\t\n", "f.md: is empty"),
            ("---\nname: f\n---\n\n", "f.md, below its header,: is empty"),
            ("a\0b", "f.md: is not UTF-8 text"),
        ] {
            assert_eq!(named(None, "f.md", content).unwrap_err(), message);
        }
        let broken = named(None, "f.md", "---\nname: [\n---\nBody.\n").unwrap_err();
        assert!(broken.starts_with("f.md:2: ") || broken.starts_with("f.md:3: "), "{broken}");
        assert!(named(None, "f.md", &"x".repeat(2 << 20)).unwrap_err().contains("larger"));
    }

    #[test]
    fn a_skill_that_a_person_brings_never_fails_because_of_its_form() {
        for (content, name, from) in [
            ("---\nname: My_Tea\ntags: [a, b]\n---\nBody.\n", "my-tea", Some("My_Tea")),
            ("---\nname: tea\ndescription: Use for: tea\n---\nBody.\n", "tea", None),
            ("---\nname: tea\n", "tea-room", None),
            ("---\nname: tea\nmetadata: {a: {b: [c]}}\n---\n", "tea", None),
            ("---\nname:\n  - a\n---\nBody.\n", "tea-room", None),
            ("---\nname: [\n---\nBody.\n", "tea-room", None),
            ("---\n- a\n---\nBody.\n", "tea-room", None),
        ] {
            let draft = draft_import(content, "Tea Room").unwrap();
            assert_eq!(draft.name.as_str(), name, "{content}");
            assert_eq!(draft.renamed_from.as_deref(), from, "{content}");
        }
        let draft = draft_import("---\nname: My_Tea\n---\nBody.\n", "x").unwrap();
        assert_eq!(draft.content, "---\ndescription: \"Body.\"\nname: my-tea\n---\nBody.\n");
        let again = renamed(&draft, SkillName::new("my-tea-2").unwrap());
        assert_eq!(again.renamed_from.as_deref(), Some("My_Tea"));
        assert!(again.content.contains("name: my-tea-2\n"));
    }

    #[test]
    fn what_the_format_does_not_allow_is_worth_a_remark() {
        let long = format!("---\ndescription: {}\n---\nBody.\n", "x".repeat(1025));
        let long = draft(&request(None, "f.md", &long)).unwrap();
        assert!(long.remarks[0].message.contains("1025 characters"), "{:?}", long.remarks);
        let flow = "---\nmetadata: {a: b}\n---\nBody.\n";
        assert_eq!(draft(&request(None, "f.md", flow)).unwrap().remarks.len(), 1);
    }

    #[test]
    fn a_field_of_another_tool_is_worth_a_remark() {
        let content = "---\nname: tea\ndescription: Brews.\nversion: 2\nallowed-tools: Read Bash\n---\nBody.\n";
        let draft = draft(&request(None, "tea.md", content)).unwrap();
        assert_eq!(draft.content, content);
        assert_eq!(draft.remarks.len(), 1);
        assert_eq!(draft.remarks[0].excerpt, "version");
        assert_eq!(draft.permissions, ["Read", "Bash"]);
    }
}
