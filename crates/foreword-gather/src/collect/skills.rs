//! The skills of a workspace, each with how far it is approved.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use foreword::{Approval, Filtered, Line, Skill, SkillProvenance, Timestamp};
use foreword_skills::{Approvals, Standing};
use foreword_workspace::{Agent, SkillProblem, SkillScan, Workspace, first_paragraph};

use crate::error::GatherError;
use crate::request::Request;
use crate::warning::{Warning, summed};

/// Characters of a commit's id that a prompt shows.
const SHORT: usize = 12;

/// The skills of an agent.
#[derive(Default)]
pub(crate) struct GatheredSkills {
    pub(crate) skills: Vec<Skill>,
    /// The files of those that count without an approval, by path, with their digests.
    pub(crate) local: BTreeMap<String, [u8; 32]>,
    /// Those that only a person may ask for.
    pub(crate) left_out: Vec<Filtered>,
}

/// The skills an agent may use. A neutral prompt does not look at approvals, which are this machine's.
pub(crate) fn gather_skills(
    workspace: &Workspace,
    agent: Option<&Agent>,
    request: &Request,
    warnings: &mut Vec<Warning>,
) -> Result<GatheredSkills, GatherError> {
    let allowed = workspace.config().skills.allow_skills;
    if !allowed || agent.is_some_and(|agent| !agent.allow_skills) {
        return Ok(GatheredSkills::default());
    }
    let scan = workspace.skills()?;
    warnings.extend(scan.problems.iter().map(passed_over));
    let allowed = agent.and_then(|agent| agent.skills.as_ref());
    warnings.extend(agent.into_iter().flat_map(|agent| absent(agent, &scan)));
    let approvals = if request.neutral || scan.skills.is_empty() {
        Approvals::default()
    } else {
        // Fail closed: an approval that cannot be verified does not count.
        Approvals::of(workspace, request.config_dir.as_deref()).unwrap_or_else(|error| {
            let hint = error.hint().map(|hint| format!(": {hint}")).unwrap_or_default();
            warnings.push(Warning::ApprovalsUnreadable { reason: format!("{error}{hint}") });
            Approvals::default()
        })
    };
    let required = workspace.config().skills.require_approval;
    let skills = scan.skills.into_iter();
    let skills = skills.filter(|skill| allowed.is_none_or(|allowed| allowed.contains(&skill.name)));
    let mut gathered = GatheredSkills::default();
    for skill in skills {
        if !skill.invocation.model {
            gathered.left_out.push(for_people_only(&skill));
            continue;
        }
        let is_reference = required || workspace.is_untrusted_import(&skill.body.path);
        let otherwise = if is_reference { Approval::Unapproved } else { Approval::Local };
        let beside = LazyCell::new(|| match &skill.dir {
            Some(dir) => workspace.skill_digests(&skill.root, dir),
            None => Ok(BTreeMap::new()),
        });
        let read = || beside.as_ref().ok().cloned();
        let standing = approvals.standing(&skill.body.path, &skill.digest, read);
        let mut provenance = provenance(standing, otherwise);
        if provenance.status == Approval::Local {
            gathered.local.insert(skill.body.path.clone(), skill.digest);
            match request.whole_skills.then(|| &*beside) {
                Some(Ok(files)) => gathered.local.extend(files.clone()),
                Some(Err(error)) => {
                    gathered.local.remove(&skill.body.path);
                    let (skill, reason) = (skill.name.clone(), error.to_string());
                    warnings.push(Warning::SkillNotReviewable { skill, reason });
                    provenance = SkillProvenance::of(Approval::Unapproved);
                }
                None => {}
            }
        }
        gathered.skills.push(Skill {
            provenance: Some(provenance),
            description: Line::new(match &skill.description {
                Some(description) => description.clone(),
                None => first_paragraph(&skill.body.text, &skill.name),
            }),
            modes: skill.modes.iter().map(|mode| Line::new(mode.as_str())).collect(),
            path: Some(Line::new(&skill.body.path)),
            folder: workspace.files_beside(&skill).map(Line::new),
            name: Line::new(skill.name),
            body: workspace.untrusted(skill.body),
        });
    }
    Ok(gathered)
}

fn for_people_only(skill: &foreword_workspace::Skill) -> Filtered {
    let way = match skill.invocation.people {
        true => format!("a person asks for it with `/{}`", skill.name),
        false => "with `user-invocable: false`, nobody is offered it".to_owned(),
    };
    Filtered {
        kind: "manual-skill".to_owned(),
        id: skill.name.clone(),
        reason: format!("its header says `disable-model-invocation: true`: {way}"),
    }
}

/// Warnings about skills that were passed over, summed up.
pub fn skill_warnings(problems: &[SkillProblem]) -> Vec<Warning> {
    summed(problems.iter().map(passed_over).collect())
}

fn passed_over(problem: &SkillProblem) -> Warning {
    let text = problem.to_string();
    match problem {
        SkillProblem::RootNotAllowed { .. } => Warning::RootNotAllowed { problem: text },
        _ => Warning::Skill { problem: text },
    }
}

fn provenance(standing: Standing, otherwise: Approval) -> SkillProvenance {
    match standing {
        Standing::Approved { commit, by, at, can_do } => SkillProvenance {
            status: Approval::Approved,
            commit: Some(Line::new(commit.chars().take(SHORT).collect::<String>())),
            by: Some(Line::new(by)),
            at: Some(Line::new(Timestamp::from_unix(at.div_euclid(1000)).as_str())),
            can_do: can_do.map(Line::new),
        },
        // An edit of an approved skill is somebody's own, like a new file.
        Standing::Modified { .. } | Standing::Local => SkillProvenance::of(otherwise),
    }
}

/// Skills that the agent lists and that do not exist.
fn absent<'a>(agent: &'a Agent, scan: &'a SkillScan) -> impl Iterator<Item = Warning> + 'a {
    let listed = agent.skills.iter().flatten();
    let absent = listed.filter(|name| !scan.skills.iter().any(|skill| skill.name == **name));
    absent.map(|name| Warning::SkillMissing {
        asked_by: Some(agent.asked_by("skills").to_string()),
        name: name.clone(),
    })
}
