//! Everything that trusting a workspace gives away, by name and value, for the person who decides.

use std::collections::{BTreeMap, BTreeSet};

use foreword::SCREENING;
use foreword_gather::without_written_keys;
use foreword_guard::Policy;
use foreword_skills::{Approvals, Screeners, Standing as SkillStanding};
use foreword_workspace::{
    Concern, Config, GovernedFile, GovernedGroup, Review, Skill, ToolEntry, TrustChange,
    TrustChanges, Workspace, command_line,
};
use serde::Serialize;

use crate::error::HostError;
use crate::host::Host;
use crate::mcp::review::DisclosedServer;

/// Skills that are screened for the question; the others are listed without a verdict.
const MAX_SCREENED: usize = 500;

/// What a person sees before they trust a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disclosure {
    /// The workspace.
    pub workspace: String,
    /// Files that speak to the model with authority.
    pub files: Vec<DisclosedFile>,
    /// Settings of `foreword.toml` that give something away.
    pub settings: Vec<DisclosedSetting>,
    /// Where prompts and messages would go.
    pub model: DisclosedModel,
    pub skills: Vec<DisclosedSkill>,
    /// Programs that agents may start as tools.
    pub commands: Vec<DisclosedCommand>,
    /// MCP servers whose tools agents may call, once their lists are reviewed.
    pub servers: Vec<DisclosedServer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisclosedFile {
    pub path: String,
    pub group: &'static str,
    pub bytes: u64,
    /// Unknown for a file that is large or not text.
    pub lines: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisclosedSetting {
    pub key: String,
    /// As TOML.
    pub value: String,
    /// What it gives away, where that is not plain from its name.
    pub concern: Option<&'static str>,
    /// Whether the person's own settings allow it anyway.
    pub allowed_by_settings: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum DisclosedModel {
    /// A server, and the name of the variable or file with the key that it gets.
    Server { server: String, key: Option<String> },
    /// Why no model can be called yet.
    Unavailable { reason: String },
}

/// A tool of `tools.toml` that is a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisclosedCommand {
    /// The tool.
    pub name: String,
    /// The program with its arguments, with `{placeholders}`.
    pub command: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DisclosedSkill {
    pub name: String,
    pub path: String,
    /// `approved by a person`, `approved by screening`, `trusted` or `not approved yet`.
    pub approval: &'static str,
    /// What screening says of it now, with all its files.
    pub verdict: Option<&'static str>,
    /// The files beside its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<DisclosedSkillFile>,
    /// Why its folder cannot be reviewed, and trust does not cover it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A file that a skill brings along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DisclosedSkillFile {
    /// Below the folder of the skill.
    pub path: String,
    /// Whether it is no text, so that nobody can read it here.
    pub is_binary: bool,
}

impl Host {
    /// Everything that trusting the workspace gives away.
    pub fn disclosure(&self, review: &Review) -> Result<Disclosure, HostError> {
        let workspace = self.workspace()?;
        Ok(Disclosure {
            workspace: self.root.display().to_string(),
            files: review.files.files.iter().map(|(path, file)| self.file(path, file)).collect(),
            settings: disclosed_settings(review, workspace.config()),
            model: self.disclosed_model(&workspace),
            skills: self.disclosed_skills(&workspace, |_| true)?,
            commands: disclosed_commands(&workspace, review)?,
            servers: self.disclosed_servers()?,
        })
    }

    fn disclosed_model(&self, workspace: &Workspace) -> DisclosedModel {
        let config = workspace.config();
        let upstream = self.upstream(&config.model, config.host.runner);
        let usable = upstream.and_then(|upstream| upstream.check_key().map(|()| upstream));
        match usable {
            Ok(upstream) => DisclosedModel::Server {
                server: upstream.base_url,
                key: upstream.key_source.map(|source| source.to_string()),
            },
            Err(error) => DisclosedModel::Unavailable { reason: error.to_string() },
        }
    }

    /// The skills that are new or changed since the person trusted the workspace.
    pub fn changed_skills(&self, changes: &TrustChanges) -> Result<Vec<DisclosedSkill>, HostError> {
        let changed = |change: &&TrustChange| change.group == GovernedGroup::Skills;
        let paths: BTreeSet<&str> =
            changes.files.iter().filter(changed).map(|change| change.path.as_str()).collect();
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let is_changed = |skill: &Skill| {
            let below = skill.dir.as_ref().map(|dir| format!("{dir}/"));
            let mut changed = paths.iter();
            changed.any(|path| {
                *path == skill.body.path
                    || below.as_ref().is_some_and(|below| path.starts_with(below))
            })
        };
        self.disclosed_skills(&self.workspace()?, is_changed)
    }

    fn file(&self, path: &str, file: &GovernedFile) -> DisclosedFile {
        let on_disk = || self.root.join(path).symlink_metadata().map_or(0, |meta| meta.len());
        let kept = file.text.as_ref().map(String::len).and_then(|size| u64::try_from(size).ok());
        DisclosedFile {
            path: path.to_owned(),
            group: file.group.as_str(),
            bytes: kept.unwrap_or_else(on_disk),
            lines: file.text.as_ref().map(|text| text.lines().count()),
        }
    }

    fn disclosed_skills(
        &self,
        workspace: &Workspace,
        wanted: impl Fn(&Skill) -> bool,
    ) -> Result<Vec<DisclosedSkill>, HostError> {
        let mut skills = workspace.skills()?.skills;
        skills.retain(wanted);
        if skills.is_empty() {
            return Ok(Vec::new());
        }
        let approvals = Approvals::of(workspace, Some(&self.options.config_dir));
        // Fail closed: an approval that cannot be verified does not count.
        let approvals = approvals.unwrap_or_default();
        let trusted = self.trusted_skills();
        let screeners = Screeners::default();
        let mut disclosed = Vec::new();
        for (number, skill) in skills.into_iter().enumerate() {
            let mut shown = DisclosedSkill {
                approval: "not approved yet",
                verdict: None,
                files: Vec::new(),
                problem: None,
                name: skill.name.clone(),
                path: skill.body.path.clone(),
            };
            match workspace.whole_skill(&skill) {
                Ok(files) => {
                    shown.approval = approval(&approvals, &trusted, &skill, &files);
                    shown.verdict =
                        (number < MAX_SCREENED).then(|| screened(&screeners, &skill, &files));
                    shown.files = beside(&skill, &files);
                }
                Err(error) => shown.problem = Some(error.to_string()),
            }
            disclosed.push(shown);
        }
        Ok(disclosed)
    }
}

type SkillFiles = BTreeMap<String, Vec<u8>>;

/// Who stands for a skill with these files.
fn approval(
    approvals: &Approvals,
    trusted: &BTreeMap<String, GovernedFile>,
    skill: &Skill,
    files: &SkillFiles,
) -> &'static str {
    let mut digests: BTreeMap<String, [u8; 32]> =
        files.iter().map(|(path, bytes)| (path.clone(), blake3::hash(bytes).into())).collect();
    let is_trusted =
        digests.iter().all(|(p, digest)| trusted.get(p).is_some_and(|t| t.digest == *digest));
    let own = digests.remove(&skill.body.path).unwrap_or_default();
    match approvals.standing(&skill.body.path, &own, || Some(digests)) {
        SkillStanding::Approved { by, .. } if by == SCREENING => "approved by screening",
        SkillStanding::Approved { .. } => "approved by a person",
        _ if is_trusted => "trusted",
        SkillStanding::Modified { .. } | SkillStanding::Local => "not approved yet",
    }
}

/// What screening says of a skill with all its files.
fn screened(screeners: &Screeners, skill: &Skill, files: &SkillFiles) -> &'static str {
    let below = |path: &str| {
        let dir = skill.dir.as_ref().and_then(|dir| path.strip_prefix(dir)?.strip_prefix('/'));
        dir.unwrap_or("SKILL.md").to_owned()
    };
    let files = files.iter().map(|(path, bytes)| (below(path), bytes.clone())).collect();
    screeners.screen_skill(Policy::Import, &files, None).verdict.as_str()
}

fn beside(skill: &Skill, files: &SkillFiles) -> Vec<DisclosedSkillFile> {
    let Some(dir) = &skill.dir else { return Vec::new() };
    let beside = files.iter().filter(|(path, _)| **path != skill.body.path);
    let disclosed = |(path, bytes): (&String, &Vec<u8>)| DisclosedSkillFile {
        path: path.strip_prefix(dir).unwrap_or(path).trim_start_matches('/').to_owned(),
        is_binary: std::str::from_utf8(bytes).map_or(true, |text| text.contains('\0')),
    };
    beside.map(disclosed).collect()
}

fn disclosed_commands(
    workspace: &Workspace,
    review: &Review,
) -> Result<Vec<DisclosedCommand>, HostError> {
    let tools = match review.tools()? {
        Some(tools) => tools,
        None => workspace.tools()?,
    };
    let disclosed = |tool: ToolEntry| {
        let command = command_line(&tool.command?.command);
        Some(DisclosedCommand { name: tool.name, command })
    };
    Ok(tools.into_iter().filter_map(disclosed).collect())
}

/// A setting as it is shown: without keys that are written out for MCP servers.
fn shown_value(config: &Config, key: &str, value: &str) -> String {
    let name = key.strip_prefix("mcp.servers.").and_then(|rest| rest.split('.').next());
    let server = name.and_then(|name| config.mcp.servers.get(name));
    server.map_or_else(|| value.to_owned(), |server| without_written_keys(server, value))
}

fn disclosed_settings(review: &Review, config: &Config) -> Vec<DisclosedSetting> {
    let all = review.settings.0.iter().map(|entry| (entry, false));
    let all = all.chain(review.allowed.0.iter().map(|entry| (entry, true)));
    let disclosed = |((key, value), allowed): ((&String, &String), bool)| DisclosedSetting {
        key: key.clone(),
        value: shown_value(config, key, value),
        concern: Concern::of(key, value).map(what_it_gives_away),
        allowed_by_settings: allowed,
    };
    let mut settings: Vec<DisclosedSetting> = all.map(disclosed).collect();
    settings.sort_by(|a, b| a.key.cmp(&b.key));
    settings
}

/// What a setting gives away, in a few words.
pub fn what_it_gives_away(concern: Concern) -> &'static str {
    match concern {
        Concern::ModelServer => "receives prompts and messages",
        Concern::EmbeddingServer => "receives tasks, skills and memories",
        Concern::Key => "uses one of your keys",
        Concern::WeakerSandbox => "weaker than the default, the strongest sandbox available",
        Concern::WeakerProfile => "weaker than the default, balanced",
        Concern::WebHosts => "agents may fetch from there",
        Concern::OutsideDirectory => "a directory outside the workspace",
        Concern::Permissions => "agents may do this without asking",
        Concern::McpServer => "an MCP server whose tools agents may call",
    }
}
