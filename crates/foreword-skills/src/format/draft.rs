//! From what was asked for to what would be written: the name and the text of a proposed skill.

use std::path::Path;

use foreword_guard::{Finding, Verdict};
use foreword_workspace::first_paragraph;

use crate::error::SkillError;
use crate::format::complete_header::complete_header;
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
}

/// Names and completes what was asked for.
pub(crate) fn draft(request: &ProposalRequest) -> Result<Draft, SkillError> {
    let shown = || request.file.clone().unwrap_or_else(|| "the proposal".to_owned());
    let size = u64::try_from(request.content.len()).unwrap_or(u64::MAX);
    if size > MAX_FILE_BYTES {
        return Err(SkillError::TooLarge { path: shown(), limit: MAX_FILE_BYTES });
    }
    if request.content.contains('\0') {
        return Err(SkillError::NotText { path: shown() });
    }
    if request.content.trim().is_empty() {
        return Err(SkillError::Empty { path: shown() });
    }
    let document = SkillDocument::parse(&request.content, None);
    let name = name(request, &document)?;
    if document.body.trim().is_empty() {
        return Err(SkillError::Empty { path: format!("{}, below its header,", shown()) });
    }
    let description = first_paragraph(&document.body, name.as_str());
    let content = complete_header(&request.content, name.as_str(), &description);
    let faults = validate(&content, Some(name.as_str()));
    if let Some(fault) = faults.iter().find(|fault| !is_unknown_field(fault)) {
        let FormatFault { line, message, .. } = fault.clone();
        return Err(SkillError::Format { path: shown(), line, message });
    }
    let remarks = faults.iter().map(remark).collect();
    Ok(Draft { name, content, permissions: document.allowed_tools, remarks })
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

/// A header may hold more than the format knows; other tools put their own there.
fn is_unknown_field(fault: &FormatFault) -> bool {
    let known = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
    fault.field.as_deref().is_some_and(|field| !known.contains(&field))
}

/// A departure from the format as a finding: worth knowing, never decisive.
pub(crate) fn remark(fault: &FormatFault) -> Finding {
    Finding {
        rule: "format".into(),
        verdict: Verdict::AutoApprove,
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
            "the header names the skill `from-header`, but the requested name is `asked`"
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
        let long = format!("---\ndescription: {}\n---\nBody.\n", "x".repeat(1025));
        assert!(named(None, "f.md", &long).unwrap_err().starts_with("f.md:"));
        assert!(named(None, "f.md", &"x".repeat(2 << 20)).unwrap_err().contains("larger"));
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
