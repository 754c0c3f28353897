//! Which screeners judge a skill, by where it comes from.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use foreword_guard::{
    InjectionScreener, PatternScreener, Policy, Scanner, Screener, Screening, SecondOpinion,
    SkillFile, screen_folder, with_second_opinion,
};

use crate::format::draft::remark;
use crate::format::{HeaderCommand, SkillDocument};

/// The screeners of each policy, in the order in which they run.
pub struct Screeners {
    agent: Vec<Box<dyn Screener + Send + Sync>>,
    import: Vec<Box<dyn Screener + Send + Sync>>,
    opinion: Option<Opinion>,
}

/// Somebody who is asked about what the screeners leave open.
pub type Opinion = Box<dyn SecondOpinion + Send + Sync>;

/// Loaded once; its tables are part of the program.
static INJECTION: LazyLock<InjectionScreener> =
    LazyLock::new(|| InjectionScreener::new(Scanner::embedded()));

/// The rules of each policy, and the injection scanner behind them.
impl Default for Screeners {
    fn default() -> Self {
        let mut screeners = Self {
            agent: vec![Box::new(PatternScreener::new(Policy::Agent))],
            import: vec![Box::new(PatternScreener::new(Policy::Import))],
            opinion: None,
        };
        for policy in [Policy::Agent, Policy::Import] {
            screeners.push(policy, Box::new(INJECTION.clone()));
        }
        screeners
    }
}

impl std::fmt::Debug for Screeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} for agents, {} for imports", self.agent.len(), self.import.len())
    }
}

impl Screeners {
    /// Adds a screener behind those of a policy. The strictest verdict wins, so it can only add to
    /// what is found.
    pub fn push(&mut self, policy: Policy, screener: Box<dyn Screener + Send + Sync>) {
        match policy {
            Policy::Agent => self.agent.push(screener),
            Policy::Import => self.import.push(screener),
        }
    }

    /// Asks for a second opinion from now on.
    pub fn ask(&mut self, opinion: Opinion) {
        self.opinion = Some(opinion);
    }

    /// Adds the second opinion to what the screeners say of a skill, if one is to be asked for.
    #[must_use]
    pub fn with_opinion(
        &self,
        screening: Screening,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Screening {
        match &self.opinion {
            Some(opinion) => with_second_opinion(screening, files, opinion.as_ref()),
            None => screening,
        }
    }

    /// What all screeners of a policy say of a text.
    #[must_use]
    pub fn screen(&self, policy: Policy, content: &str, permissions: &[String]) -> Screening {
        let file = SkillFile { path: "SKILL.md", content: content.as_bytes() };
        screen_folder(policy, &self.of(policy), &[file], permissions)
    }

    /// What they say of a whole skill, with the files it brings along and the commands in its header.
    ///
    /// Paths are below the folder of the skill. Bytes that are no text are a reason to look, not a way
    /// past the screeners: what can be read of them is screened.
    #[must_use]
    pub fn screen_skill(
        &self,
        policy: Policy,
        files: &BTreeMap<String, Vec<u8>>,
        folder: Option<&str>,
    ) -> Screening {
        let main = files.iter().find(|(path, _)| path.eq_ignore_ascii_case("SKILL.md"));
        let main = main.map(|(_, content)| String::from_utf8_lossy(content)).unwrap_or_default();
        // Standard input has no name to compare with.
        let document = SkillDocument::parse(&main, folder.filter(|name| !name.is_empty()));
        let hooks: Vec<&HeaderCommand> =
            document.commands.iter().filter(|command| command.field != "install").collect();
        let script: String = hooks.iter().map(|hook| format!("{}\n", hook.text)).collect();
        let mut list: Vec<SkillFile<'_>> =
            files.iter().map(|(path, content)| SkillFile { path, content }).collect();
        if !script.is_empty() {
            list.push(SkillFile { path: HEADER_COMMANDS, content: script.as_bytes() });
        }
        let mut screening = screen_folder(policy, &self.of(policy), &list, &document.allowed_tools);
        for command in &document.commands {
            let HeaderCommand { field, text, .. } = command;
            let shown = foreword::visible_start(text, 80);
            screening.capabilities.starts.insert(format!("{field}: {shown}"));
        }
        if folder.is_some() {
            screening = screening.with(document.faults.iter().map(remark));
        }
        screening
    }

    /// What they say of a skill's file as it lies on disk, its form included.
    #[must_use]
    pub fn screen_file(&self, policy: Policy, bytes: &[u8], folder: Option<&str>) -> Screening {
        let files = BTreeMap::from([("SKILL.md".to_owned(), bytes.to_vec())]);
        self.screen_skill(policy, &files, Some(folder.unwrap_or_default()))
    }

    fn of(&self, policy: Policy) -> Vec<&dyn Screener> {
        let screeners = match policy {
            Policy::Agent => &self.agent,
            Policy::Import => &self.import,
        };
        screeners.iter().map(|screener| screener.as_ref() as &dyn Screener).collect()
    }
}

/// How the commands of a header are named among the files of a skill.
const HEADER_COMMANDS: &str = "SKILL.md header.sh";
