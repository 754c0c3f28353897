//! What the documents of a skill say about its programs: which hosts they name, what they set up.

use std::cell::OnceCell;

use super::ways_out::registered;

/// The documents of a skill.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    /// All of them, in lower case.
    text: String,
    /// The names, descriptions and headings, in lower case: what a skill says it is.
    titles: String,
    /// The names and descriptions as they are written.
    headers: String,
    claims_offline: OnceCell<bool>,
}

/// How far a verb may stand from what it sets up, in bytes.
const MAX_DISTANCE: usize = 80;

/// Shorter words name no vendor.
pub(super) const MIN_VENDOR: usize = 5;

impl Documents {
    pub(crate) fn add(&mut self, document: &str) {
        let lower = document.to_lowercase();
        add_titles(&lower, &mut self.titles, true);
        add_titles(document, &mut self.headers, false);
        self.text.push_str(&lower);
        self.text.push('\n');
    }

    /// Whether a file is named.
    pub(super) fn name_file(&self, name: &str) -> bool {
        self.text.contains(name)
    }

    /// Whether a host is named: by itself, or by an address or a mail box there.
    pub(super) fn name_host(&self, host: &str) -> bool {
        // `acme.com` is not named by `notacme.com`, nor by `acme.com.example`.
        self.text.match_indices(host).any(|(at, _)| {
            let before = self.text.get(..at).and_then(|t| t.chars().next_back());
            let mut after = self.text.get(at + host.len()..).unwrap_or_default().chars();
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
            let goes_on = match after.next() {
                Some('.') => after.next().is_some_and(is_name),
                Some(c) => is_name(c),
                None => false,
            };
            !before.is_some_and(is_name) && !goes_on
        })
    }

    /// Whether the skill says by its name, its description or a heading whom it works with, or asks
    /// for a key of theirs.
    pub(super) fn name_vendor(&self, vendor: &str) -> bool {
        let name: Vec<String> = vendor.split('-').map(capitalised).collect();
        let variable = vendor.replace('-', "_");
        let is_key = |at: usize| {
            let rest = self.text.get(at + variable.len()..).unwrap_or_default();
            ["_api_key", "_key", "_token", "_secret"].iter().any(|end| rest.starts_with(end))
        };
        words(&self.titles, vendor).next().is_some()
            || name.len() > 1 && words(&self.headers, &name.join(" ")).next().is_some()
            || self.text.match_indices(&variable).any(|(at, _)| {
                is_key(at)
                    && !self.text.get(..at).is_some_and(|t| t.ends_with(char::is_alphanumeric))
            })
    }

    /// Whether a title names the host of an address or of a mail box, or whose it is.
    pub(crate) fn name_address(&self, address: &str) -> bool {
        let host = address.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
        let domain = registered(&host);
        let vendor = domain.split('.').next().unwrap_or_default();
        words(&self.titles, domain).next().is_some()
            || vendor.len() >= MIN_VENDOR && self.name_vendor(vendor)
    }

    /// Whether they say that nothing leaves the machine.
    pub(super) fn claim_offline(&self) -> bool {
        let claims = [
            "works offline",
            "fully offline",
            "completely offline",
            "no network access",
            "no network calls",
            "no data leaves",
            "nothing leaves your",
            "never leaves your",
            "never sends",
            "doesn't send",
            "does not send",
            "100% local",
            "runs entirely locally",
            "without network access",
            "no external requests",
            "no internet",
        ];
        *self.claims_offline.get_or_init(|| claims.iter().any(|claim| self.text.contains(claim)))
    }

    /// Whether they say that something of this kind is set up: in a title, or beside a verb for it.
    pub(super) fn announce(&self, what: &str) -> bool {
        let names: &[&str] = match what {
            "git hook" => &["hook", "hooks"],
            "cron job" | "job" => &[
                "cron",
                "crontab",
                "cronjob",
                "schedule",
                "schedules",
                "scheduled",
                "scheduler",
                "timer",
                "timers",
            ],
            "service" => &["systemd", "timer", "daemon"],
            "launch agent" => &["launchd", "launch agent", "launchagent", "launchctl"],
            "autostart entry" => &["autostart", "at login", "on login", "startup"],
            "SSH login key" => &["ssh"],
            "mirror" => &["mirror", "mirrors"],
            "account" => &["account", "accounts", "user", "users", "admin", "administrator"],
            "sudo rule" => &["sudo", "sudoers"],
            _ => &[],
        };
        names.iter().any(|name| {
            words(&self.titles, name).next().is_some()
                || words(&self.text, name).any(|at| self.is_set_up(at, name.len()))
        })
    }

    /// Whether a verb for setting up stands near a word, in the same line.
    fn is_set_up(&self, at: usize, length: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let start = before.floor_char_boundary(at.saturating_sub(MAX_DISTANCE));
        let before = before.get(start..).and_then(|t| t.rsplit('\n').next()).unwrap_or_default();
        let after = self.text.get(at + length..).unwrap_or_default();
        let end = after.floor_char_boundary(MAX_DISTANCE);
        let after = after.get(..end).and_then(|t| t.split('\n').next()).unwrap_or_default();
        SET_UP.iter().any(|verb| [before, after].iter().any(|t| words(t, verb).next().is_some()))
    }
}

const SET_UP: [&str; 26] = [
    "install",
    "installs",
    "set up",
    "sets up",
    "setup",
    "create",
    "creates",
    "add",
    "adds",
    "register",
    "registers",
    "schedule",
    "schedules",
    "enable",
    "enables",
    "configure",
    "configures",
    "write",
    "writes",
    "copy",
    "copies",
    "append",
    "appends",
    "make",
    "makes",
    "runs",
];

/// Where a word stands on its own in a text.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        is_edge(text.get(..*at).and_then(|t| t.chars().next_back()))
            && is_edge(text.get(at + word.len()..).and_then(|t| t.chars().next()))
    })
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The name and the description in the header of a document, and if wanted its headings.
fn add_titles(document: &str, titles: &mut String, headings: bool) {
    let mut lines = document.trim_start_matches('\u{feff}').lines().peekable();
    if lines.next_if(|line| line.trim_end() == "---").is_some() {
        let mut is_title = false;
        for line in lines.by_ref().take_while(|line| line.trim_end() != "---") {
            if !line.starts_with([' ', '\t', '-']) && line.contains(':') {
                is_title = line.starts_with("name:") || line.starts_with("description:");
            }
            if is_title {
                titles.push_str(line);
                titles.push('\n');
            }
        }
    }
    if !headings {
        return;
    }
    let mut in_fence = false;
    for line in lines {
        in_fence ^= ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        if !in_fence && line.starts_with('#') {
            titles.push_str(line);
            titles.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Documents;

    fn documents(text: &str) -> Documents {
        let mut documents = Documents::default();
        documents.add(text);
        documents
    }

    #[test]
    fn a_host_is_named_by_itself() {
        let told = documents("Sends to https://api.acme.com/v1, or asks help@acme.com.");
        assert!(told.name_host("acme.com"));
        assert!(!told.name_host("cme.com"));
        assert!(!documents("See notacme.com and acme.com.example.").name_host("acme.com"));
    }

    #[test]
    fn a_vendor_is_named_by_a_title() {
        let told = documents(
            "---\nname: sync\ndescription: >\n  Keeps Acme\n  in step.\nauthor: zenith\n---\n\n# With Globex\n\nInitech too.\n\n```\n# hooli\n```\n",
        );
        let named = ["acme", "globex"].map(|vendor| told.name_vendor(vendor));
        let unnamed = ["zenith", "initech", "hooli", "glob"].map(|v| told.name_vendor(v));
        assert_eq!((named, unnamed), ([true; 2], [false; 4]));
    }

    #[test]
    fn words_that_stand_side_by_side_name_no_vendor() {
        let told = documents("# Tidy\n\nSets the table format of a report.\n");
        assert!(!told.name_vendor("table-format"));
        let told = documents("---\nname: a\ndescription: Sends it to Table Format.\n---\n");
        assert!(told.name_vendor("table-format"));
    }

    #[test]
    fn a_key_names_whose_it_is() {
        let told = documents("Set `ACME_API_KEY` first, or `MYGLOBEX_TOKEN`.");
        assert!(told.name_vendor("acme") && !told.name_vendor("globex"));
    }

    #[test]
    fn a_job_is_announced_by_a_title_or_beside_a_verb() {
        for text in [
            "# Reports on a schedule",
            "---\nname: a\ndescription: Checks the site with a cron job.\n---\n",
            "Run `setup.sh`: it installs a timer for the check.",
        ] {
            assert!(documents(text).announce("job"), "{text}");
        }
        for text in [
            "The schedule of trains is printed below.",
            "Reschedules meetings.\nInstalls nothing.",
            "# Scheduling",
            "Installs the formatter.\n\nSet no timer.",
        ] {
            assert!(!documents(text).announce("job"), "{text}");
        }
    }
}
