//! Permissions: the rules that apply in a session, and asking the person.
//!
//! A call that is asked about waits while the person decides, if somebody sits at the terminal of the
//! turn. Where nobody does, it is refused with the command that allows it. Taint gates come after this.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use foreword_guard::{
    DeadRule, LayeredRule, Permission, PermissionDecision, PermissionRule, PermissionTable,
    RuleLayer, ToolUse, default_rules, files_shown, rule_for,
};
use foreword_protocol::{CommandTool, ErrorCode, Failure, FileRules};
use foreword_store::{Event, Outcome, SessionId};
use foreword_workspace::{
    AlwaysAllowed, CONFIG_FILE, Config, Consent, PermissionSettings, SETTINGS_FILE, Settings,
};
use serde_json::{Value, json};

use crate::error::HostError;
use crate::host::Host;
use crate::tools::CallableTools;
use crate::turn::active_session::ActiveSession;

/// How often a waiting call looks whether its turn was cancelled.
const LOOK: Duration = Duration::from_millis(100);

/// A call that a person decides about.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionQuestion {
    pub agent: Option<String>,
    pub tool: String,
    /// Everything it is called with.
    pub arguments: Value,
    /// Why it is asked about.
    pub reason: String,
    /// The rule that "this session" and "always" would add.
    pub rule: String,
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    Once,
    Session,
    Always,
    No,
}

/// Questions of the agents of one message, and whether anybody answers them.
#[derive(Debug, Default)]
pub(crate) struct QuestionBoard {
    state: Mutex<Board>,
}

#[derive(Debug, Default)]
struct Board {
    is_attended: bool,
    waiting: VecDeque<(PermissionQuestion, Sender<PermissionAnswer>)>,
}

impl QuestionBoard {
    fn state(&self) -> std::sync::MutexGuard<'_, Board> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that somebody answers from now on.
    pub(crate) fn attend(&self) {
        self.state().is_attended = true;
    }

    /// Has the waiting questions answered.
    pub(crate) fn answer(&self, answer: &mut dyn FnMut(&PermissionQuestion) -> PermissionAnswer) {
        loop {
            let next = self.state().waiting.pop_front();
            let Some((question, reply)) = next else { return };
            let _ = reply.send(answer(&question));
        }
    }

    /// Asks and waits; `None` if nobody answers here.
    fn ask(
        &self,
        question: PermissionQuestion,
        is_over: &dyn Fn() -> bool,
    ) -> Option<PermissionAnswer> {
        let (reply, answer) = mpsc::channel();
        {
            let mut state = self.state();
            if !state.is_attended {
                return None;
            }
            state.waiting.push_back((question, reply));
        }
        loop {
            match answer.recv_timeout(LOOK) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !is_over() => {}
                Err(_) => return Some(PermissionAnswer::No),
            }
        }
    }
}

impl Host {
    /// All rules that apply in the workspace now, for `foreword permissions`.
    pub fn permissions(&self) -> Result<PermissionTable, HostError> {
        let workspace = self.workspace()?;
        let mut table = self.permission_table(workspace.config(), &self.settings()?)?;
        for (name, known) in self.known_servers()? {
            if known.is_outside() {
                let rule = format!("mcp__{name}");
                add(&mut table, RuleLayer::Default, Permission::Ask, &[rule], "")?;
            }
        }
        for tool in workspace.tools()?.into_iter().filter(|tool| tool.command.is_some()) {
            add(&mut table, RuleLayer::Default, Permission::Allow, &[tool.name], "")?;
        }
        Ok(table)
    }

    /// Allows a rule for good in this workspace; `false` if it was allowed already.
    pub fn always_allow(&self, rule: &str) -> Result<bool, HostError> {
        let rule = parsed(rule, "the command line")?.to_string();
        let added = AlwaysAllowed::open(&self.options.config_dir, &self.root)?.add(&rule)?;
        if added {
            let event = Event::new(&self.options.person, "permission.allow", &rule, Outcome::Done);
            self.record_durably(event)?;
        }
        Ok(added)
    }

    /// Why a rule would never apply in this workspace.
    pub fn dead_rule(&self, rule: &str) -> Result<Option<DeadRule>, HostError> {
        let workspace = self.workspace()?;
        let mut known: BTreeSet<String> =
            workspace.tools()?.into_iter().map(|it| it.name).collect();
        let own = default_rules().rules;
        let own = own.iter().map(|it| it.rule.tool()).filter(|tool| !tool.ends_with('*'));
        known.extend(own.map(str::to_owned));
        let servers = workspace.mcp_servers()?.into_keys().chain(self.known_servers()?.into_keys());
        known.extend(servers.map(|name| format!("mcp__{name}")));
        Ok(parsed(rule, "the command line")?.dead_end(&known))
    }

    /// Takes back a rule that was allowed for good; `false` if there is none.
    pub fn forget_permission(&self, rule: &str) -> Result<bool, HostError> {
        let rule = parsed(rule, "the command line")?.to_string();
        let removed = AlwaysAllowed::open(&self.options.config_dir, &self.root)?.remove(&rule)?;
        if removed {
            let event = Event::new(&self.options.person, "permission.forget", &rule, Outcome::Done);
            self.record_durably(event)?;
        }
        Ok(removed)
    }

    /// Allows a rule in a session, as long as this host runs.
    fn allow_in_session(&self, session: &SessionId, rule: &str) {
        let mut rules = self.session_rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.entry(session.clone()).or_default().push(rule.to_owned());
    }

    /// The rules for a turn: those of the workspace, with its tools, and what was answered before.
    pub(crate) fn turn_permissions(
        &self,
        config: &Config,
        settings: &Settings,
        tools: &CallableTools,
        session: Option<&SessionId>,
    ) -> Result<PermissionTable, HostError> {
        let mut table = self.permission_table(config, settings)?;
        let commands: Vec<String> = tools.commands.keys().cloned().collect();
        add(&mut table, RuleLayer::Default, Permission::Allow, &commands, "")?;
        // What a server outside the sandbox does cannot be undone.
        let outside = tools.known_servers.iter().filter(|(_, known)| known.is_outside());
        let outside: Vec<String> = outside.map(|(name, _)| format!("mcp__{name}")).collect();
        add(&mut table, RuleLayer::Default, Permission::Ask, &outside, "")?;
        let answered = session.and_then(|session| {
            let rules = self.session_rules.lock().unwrap_or_else(PoisonError::into_inner);
            rules.get(session).cloned()
        });
        let answered = answered.unwrap_or_default();
        add(&mut table, RuleLayer::Session, Permission::Allow, &answered, "your answers")?;
        Ok(table)
    }

    /// Whether the workspace allows calls that the person has not accepted yet. Until they do, these are
    /// asked about.
    pub fn has_unaccepted_allow_rules(&self) -> Result<bool, HostError> {
        Ok(!self.accepts_allow_rules(self.workspace()?.config())?)
    }

    fn accepts_allow_rules(&self, config: &Config) -> Result<bool, HostError> {
        const KEY: &str = "permissions.allow";
        if config.permissions.allow.is_empty() {
            return Ok(true);
        }
        let sensitive = config.sensitive();
        let Some(value) = sensitive.0.get(KEY) else { return Ok(true) };
        Ok(Consent::of(&self.options.config_dir, &self.root)?.covers(config, KEY, value))
    }

    /// The rules of files and answers. A rule that cannot be read fails: it may be a deny.
    pub(crate) fn permission_table(
        &self,
        config: &Config,
        settings: &Settings,
    ) -> Result<PermissionTable, HostError> {
        let mut table = default_rules();
        let allow_of_workspace = match self.accepts_allow_rules(config)? {
            true => Permission::Allow,
            false => Permission::Ask,
        };
        let mut layer = |layer: RuleLayer, rules: &PermissionSettings, file: &str| {
            let allow = match layer {
                RuleLayer::Workspace => allow_of_workspace,
                _ => Permission::Allow,
            };
            add(&mut table, layer, allow, &rules.allow, file)?;
            add(&mut table, layer, Permission::Ask, &rules.ask, file)?;
            add(&mut table, layer, Permission::Deny, &rules.deny, file)
        };
        layer(RuleLayer::Workspace, &config.permissions, CONFIG_FILE)?;
        layer(RuleLayer::Personal, &settings.permissions, SETTINGS_FILE)?;
        let always = AlwaysAllowed::open(&self.options.config_dir, &self.root)?.load()?;
        add(&mut table, RuleLayer::Always, Permission::Allow, &always, "your answers")?;
        Ok(table)
    }
}

fn parsed(rule: &str, file: &str) -> Result<PermissionRule, HostError> {
    PermissionRule::parse(rule)
        .map_err(|fault| HostError::InvalidRule { file: file.to_owned(), fault })
}

fn add(
    table: &mut PermissionTable,
    layer: RuleLayer,
    permission: Permission,
    rules: &[String],
    file: &str,
) -> Result<(), HostError> {
    let rules: Result<Vec<_>, _> = rules.iter().map(|rule| parsed(rule, file)).collect();
    table.add(layer, permission, rules?);
    Ok(())
}

/// The words of a tool's command with the arguments of a call in them.
fn filled(tool: &CommandTool, arguments: &Value) -> Vec<String> {
    let given = arguments.as_object().into_iter().flatten();
    let values = given.chain(&tool.defaults).map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (format!("{{{name}}}"), text)
    });
    let values: Vec<(String, String)> = values.collect();
    let fill = |word: &String| {
        values.iter().fold(word.clone(), |word, (name, value)| word.replace(name, value))
    };
    tool.command.iter().map(fill).collect()
}

/// The tools that a rule without a pattern is also about.
fn siblings(rule: &PermissionRule) -> &'static [&'static str] {
    match (rule.tool(), rule.pattern()) {
        ("read", None) => &["search", "list"],
        ("write", None) => &["edit"],
        ("edit", None) => &["write"],
        _ => &[],
    }
}

/// The rules for tools inside the sandbox that a program of somebody else has to be told of.
pub(crate) fn restrictions(table: &PermissionTable) -> Vec<String> {
    let is_overruled = |it: &LayeredRule| {
        it.permission == Permission::Ask
            && table.rules.iter().any(|other| {
                other.permission == Permission::Allow
                    && other.layer > it.layer
                    && other.rule == it.rule
            })
    };
    let restricting = table.rules.iter().filter(|it| it.permission != Permission::Allow);
    let told = restricting.filter(|it| !is_overruled(it)).flat_map(|it| {
        let others = siblings(&it.rule).iter().map(ToString::to_string);
        std::iter::once(it.rule.to_string()).chain(others)
    });
    told.collect()
}

/// The rules that `search` and `list` follow inside the sandbox.
pub(crate) fn file_rules(table: &PermissionTable, root: &Path) -> FileRules {
    let rules = table.on_files().rules;
    let of = |permission: Permission| {
        let these = rules.iter().filter(|it| it.permission == permission);
        these.map(|it| it.rule.to_string()).collect()
    };
    FileRules {
        root: root.to_path_buf(),
        deny: of(Permission::Deny),
        ask: of(Permission::Ask),
        allow: of(Permission::Allow),
    }
}

/// What the rules say of a call. A path that leads through links is judged by its name and by where it
/// leads, and the stricter decision counts.
#[must_use]
pub fn decide_call(table: &PermissionTable, call: &ToolUse<'_>) -> PermissionDecision {
    let named = linked_files(table, call, table.decide(call));
    let path = call.arguments.get("path").and_then(Value::as_str);
    let real = path.and_then(|path| real_path(&call.cwd.join(path)));
    let Some(real) = real else { return named };
    // Where the workspace itself lies behind a link, that is not a link of the path.
    let root = call.root.canonicalize().unwrap_or_else(|_| call.root.to_path_buf());
    let real = match real.strip_prefix(&root) {
        Ok(inside) => call.root.join(inside),
        Err(_) => real,
    };
    let mut arguments = call.arguments.clone();
    if let Some(fields) = arguments.as_object_mut() {
        fields.insert("path".to_owned(), json!(real.display().to_string()));
    }
    let led = table.decide(&ToolUse { arguments: &arguments, ..*call });
    if led.permission > named.permission { led } else { named }
}

/// The stricter of a decision and what a rule on `read` says of files that a command shows through links.
fn linked_files(
    table: &PermissionTable,
    call: &ToolUse<'_>,
    decision: PermissionDecision,
) -> PermissionDecision {
    let rules = table.on_files();
    if rules.rules.is_empty() {
        return decision;
    }
    let root = call.root.canonicalize().unwrap_or_else(|_| call.root.to_path_buf());
    files_shown(call).iter().fold(decision, |decision, file| {
        let Some(real) = real_path(&call.root.join(file)) else { return decision };
        let inside = real.strip_prefix(&root).map_or_else(|_| real.clone(), Path::to_path_buf);
        let command = format!("cat '{}'", inside.display());
        if inside.display().to_string() == *file || command.matches('\'').count() != 2 {
            return decision;
        }
        let arguments = json!({ "command": command });
        let led = rules.decide(&ToolUse {
            tool: "bash",
            arguments: &arguments,
            root: call.root,
            cwd: call.root,
        });
        if led.rule.is_some() && led.permission > decision.permission { led } else { decision }
    })
}

/// Where a path leads, also if its last names do not exist yet.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    for there in path.ancestors() {
        if let Ok(mut real) = there.canonicalize() {
            real.extend(missing.into_iter().rev());
            return Some(real);
        }
        missing.push(there.file_name()?);
    }
    None
}

impl ActiveSession {
    /// Fails unless the rules allow a call, or the person does.
    pub(crate) fn check_permission(&self, tool: &str, arguments: &Value) -> Result<(), Failure> {
        let call = ToolUse { tool, arguments, root: &self.host.root, cwd: &self.identity.cwd };
        let mut decision = decide_call(&self.permissions(), &call);
        if let Some(command) = self.prompt.tools.commands.get(tool)
            && let Some(rule) =
                self.permissions().denied_program(&filled(command, arguments), call.root)
        {
            let (permission, rule) = (Permission::Deny, Some(rule.clone()));
            decision = PermissionDecision { permission, rule, unclear: None };
        }
        let by = |rule: &LayeredRule| format!("`{}` ({})", rule.rule, rule.layer.as_str());
        let refuse = |message: String| Err(Failure::new(ErrorCode::Refused, message));
        match decision.permission {
            Permission::Allow => Ok(()),
            Permission::Deny => {
                let rule = decision.rule.as_ref().map(by).unwrap_or_default();
                self.note_permission(tool, Outcome::Refused, &format!("denied by {rule}"));
                refuse(format!("`{tool}` is denied by the permission rule {rule}"))
            }
            Permission::Ask => {
                let reason = match (&decision.rule, decision.unclear) {
                    (Some(rule), _) => format!("the rule {} asks about it", by(rule)),
                    (None, Some(unclear)) => unclear.to_owned(),
                    (None, None) => "no permission rule allows it".to_owned(),
                };
                let rule = rule_for(&call).to_string();
                let question = PermissionQuestion {
                    agent: self.identity.agent.clone(),
                    tool: tool.to_owned(),
                    arguments: arguments.clone(),
                    reason: reason.clone(),
                    rule: rule.clone(),
                };
                let over = || self.tree.is_cancelled();
                match self.tree.questions().ask(question, &over) {
                    Some(PermissionAnswer::No) => {
                        self.note_permission(tool, Outcome::Refused, "the person said no");
                        refuse(format!("the person did not allow this call of `{tool}`"))
                    }
                    Some(answer) => self.allowed(tool, &rule, answer),
                    None => {
                        self.note_permission(tool, Outcome::Refused, &reason);
                        refuse(format!(
                            "`{tool}` needs permission ({reason}) and nobody can be asked here; a person can \
                             allow it with `foreword permissions allow '{rule}'`, or answer in `foreword chat`"
                        ))
                    }
                }
            }
        }
    }

    /// Fails if the rules deny a call now whose result somebody wants to read again.
    pub(crate) fn check_not_denied(&self, tool: &str, arguments: &Value) -> Result<(), Failure> {
        let call = ToolUse { tool, arguments, root: &self.host.root, cwd: &self.identity.cwd };
        let decision = decide_call(&self.permissions(), &call);
        match decision.rule.filter(|_| decision.permission == Permission::Deny) {
            Some(rule) => {
                let rule = format!("`{}` ({})", rule.rule, rule.layer.as_str());
                self.note_permission(tool, Outcome::Refused, &format!("denied by {rule}"));
                let message = format!(
                    "`{tool}` is denied by the permission rule {rule} now, and so is its result"
                );
                Err(Failure::new(ErrorCode::Refused, message))
            }
            None => Ok(()),
        }
    }

    fn allowed(&self, tool: &str, rule: &str, answer: PermissionAnswer) -> Result<(), Failure> {
        match answer {
            PermissionAnswer::Always => _ = self.host.always_allow(rule)?,
            PermissionAnswer::Session => self.host.allow_in_session(&self.identity.session, rule),
            PermissionAnswer::Once | PermissionAnswer::No => {}
        }
        if matches!(answer, PermissionAnswer::Always | PermissionAnswer::Session) {
            self.learn(rule, answer);
        }
        self.note_permission(tool, Outcome::Done, "the person allowed it");
        Ok(())
    }

    /// Adds a rule that the person gave to those of this turn.
    fn learn(&self, rule: &str, answer: PermissionAnswer) {
        let layer = match answer {
            PermissionAnswer::Always => RuleLayer::Always,
            _ => RuleLayer::Session,
        };
        if let Ok(rule) = PermissionRule::parse(rule) {
            self.permissions().add(layer, Permission::Allow, vec![rule]);
        }
    }

    fn note_permission(&self, tool: &str, outcome: Outcome, reason: &str) {
        let event = self.event_with_text("permission.ask", outcome, json!({ "reason": reason }));
        self.host.record(event.with_detail(json!({ "tool": tool })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foreword_guard::{ToolUse, default_rules};
    use foreword_protocol::{actions, local_tools};

    #[test]
    fn a_path_counts_by_its_name_and_by_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("w");
        for directory in ["docs", "private"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::write(root.join("private/key"), "s").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link("private/key", "plain.txt");
        link("private", "open");
        link("../private", "docs/in");
        link("w", "../behind");
        let mut table = default_rules();
        let rule = |text: &str| vec![PermissionRule::parse(text).unwrap()];
        table.add(RuleLayer::Personal, Permission::Deny, rule("read(private/**)"));
        table.add(RuleLayer::Personal, Permission::Deny, rule("write(private/**)"));
        for (tool, path, permission) in [
            ("read", "private/key", Permission::Deny),
            ("read", "plain.txt", Permission::Deny),
            ("read", "open/key", Permission::Deny),
            ("read", "open/absent/x", Permission::Deny),
            ("write", "docs/in/new", Permission::Deny),
            ("write", "docs/new", Permission::Allow),
            ("read", "docs/absent/x", Permission::Allow),
        ] {
            for root in [&root, &dir.path().join("behind")] {
                let arguments = json!({ "path": path });
                let call = ToolUse { tool, arguments: &arguments, root, cwd: root };
                assert_eq!(decide_call(&table, &call).permission, permission, "{tool} {path}");
            }
        }
        for (command, permission) in [
            ("cat plain.txt", Permission::Deny),
            ("head open/key", Permission::Deny),
            ("cat docs/in/key", Permission::Deny),
            ("cat docs/a", Permission::Allow),
        ] {
            let arguments = json!({ "command": command });
            let call = ToolUse { tool: "bash", arguments: &arguments, root: &root, cwd: &root };
            assert_eq!(decide_call(&table, &call).permission, permission, "{command}");
        }
    }

    #[test]
    fn another_program_is_told_of_the_siblings_of_a_tool() {
        let mut table = PermissionTable::default();
        let rules = ["read", "write", "read(a)"].map(|it| PermissionRule::parse(it).unwrap());
        table.add(RuleLayer::Personal, Permission::Deny, rules.to_vec());
        assert_eq!(restrictions(&table), ["read", "search", "list", "write", "edit", "read(a)"]);
    }

    #[test]
    fn arguments_take_their_places_in_a_command() {
        let tool = CommandTool {
            command: ["git", "push", "{remote}", "-n{count}"].map(str::to_owned).to_vec(),
            defaults: [("remote".to_owned(), json!("b")), ("count".to_owned(), json!(3))].into(),
            cwd: PathBuf::new(),
            seconds: 1,
            max_output_bytes: 1,
        };
        assert_eq!(filled(&tool, &json!({"remote": "a"})), ["git", "push", "a", "-n3"]);
    }

    /// A new tool without a rule would be refused wherever nobody can be asked.
    #[test]
    fn every_tool_of_ours_has_a_rule() {
        let (rules, root) = (default_rules(), Path::new("/w"));
        let actions = actions().iter().filter(|action| action.is_tool()).map(|action| action.name);
        let local = local_tools().map(|tool| tool.name);
        for tool in actions.map(str::to_owned).chain(local) {
            let call = ToolUse { tool: &tool, arguments: &json!({}), root, cwd: root };
            assert!(rules.decide(&call).rule.is_some(), "{tool}");
        }
    }
}
