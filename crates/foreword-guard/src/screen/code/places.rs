//! Paths that matter: where secrets lie, what starts on its own, what agents read at every start.

use std::sync::LazyLock;

use super::value::HOLE;

/// Texts to look for in a path or a name, by how each of them begins.
struct Parts {
    /// A bit for the first two bytes of each.
    beginnings: [u64; 64],
    /// Those with one first byte, and the place of each in the list.
    by_first: [Vec<(usize, &'static str)>; 64],
}

impl Parts {
    fn new(parts: impl Iterator<Item = &'static str>) -> Self {
        let mut beginnings = [0; 64];
        let mut by_first = [const { Vec::new() }; 64];
        for (place, part) in parts.enumerate() {
            if let &[first, second, ..] = part.as_bytes()
                && let Some(bits) = beginnings.get_mut(usize::from(first & 63))
                && let Some(list) = by_first.get_mut(usize::from(first & 63))
            {
                *bits |= 1 << (second & 63);
                list.push((place, part));
            }
        }
        Self { beginnings, by_first }
    }

    /// The first in the list that stands in `text`. Each has two bytes or more.
    fn first_in(&self, text: &str) -> Option<usize> {
        let text = text.as_bytes();
        let mut found = None;
        for (at, pair) in text.windows(2).enumerate() {
            let &[first, second] = pair else { continue };
            let row = usize::from(first & 63);
            let bits = self.beginnings.get(row).copied().unwrap_or_default();
            if bits >> (second & 63) & 1 == 0 {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            let list = self.by_first.get(row).into_iter().flatten();
            let mut before = list.take_while(|(place, _)| found.is_none_or(|known| *place < known));
            let one = before.find(|(_, part)| {
                part.as_bytes().get(1) == Some(&second) && rest.starts_with(part.as_bytes())
            });
            found = one.map(|(place, _)| *place).or(found);
        }
        found
    }
}

/// A path in lower case with slashes.
fn plain(path: &str) -> String {
    let mut plain = path.to_ascii_lowercase();
    if plain.contains('\\') {
        plain = plain.replace('\\', "/");
    }
    plain
}

/// What a path holds that must not leave the machine.
pub(crate) fn secret_at(path: &str) -> Option<&'static str> {
    static PARTS: LazyLock<Parts> = LazyLock::new(|| Parts::new(SECRETS.iter().map(|s| s.0)));
    let lower = plain(path);
    // The public half of a key is there to be handed out.
    if lower.ends_with(".pub") {
        return None;
    }
    let found = PARTS.first_in(&lower).and_then(|at| SECRETS.get(at)).map(|(_, what)| *what);
    found.or_else(|| {
        let name = lower.rsplit('/').next().unwrap_or_default();
        let is_dotenv = name == ".env" || name.starts_with(".env.") && !is_sample(name);
        is_dotenv.then_some(DOTENV)
    })
}

/// What a directory holds, for programs that read all of it.
pub(crate) fn secret_directory(path: &str) -> Option<&'static str> {
    let lower = plain(path);
    let bare = lower.trim_end_matches(['/', '*']);
    let held = [
        (".ssh", "SSH keys"),
        (".aws", "AWS credentials"),
        (".kube", "Kubernetes credentials"),
        (".docker", "Docker credentials"),
        (".azure", "Azure credentials"),
        (".config/gh", "GitHub credentials"),
        (".password-store", "the password store"),
    ];
    let is_whole = |end: &str| {
        bare.strip_suffix(end).is_some_and(|front| front.is_empty() || front.ends_with('/'))
    };
    held.iter().find(|(end, _)| is_whole(end)).map(|(_, what)| *what)
}

/// Whether a pattern finds key files wherever they lie.
pub(crate) fn is_key_pattern(pattern: &str) -> bool {
    let name = pattern.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let ends = [".pem", ".key", ".ppk", ".kdbx", ".p12", ".pfx", ".keystore", ".jks", ".asc"];
    let names = ["id_rsa", "id_ed25519", "id_ecdsa", "wallet", "mnemonic", "seed", "keystore"];
    name.contains('*')
        && (ends.iter().any(|end| name.ends_with(end)) || names.iter().any(|n| name.contains(n)))
}

/// The kind of secret whose place a text names, for texts that are paths or parts of one.
pub(crate) fn names_secret(text: &str) -> Option<&'static str> {
    if text.len() < 4 || text.len() > 120 || text.contains(['\n', '(', '[']) {
        return None;
    }
    let is_path = text.contains(['/', '\\', '.', '_']) || text.contains("Data");
    let found = is_path.then(|| secret_at(text).or_else(|| secret_directory(text))).flatten();
    found.filter(|what| !matches!(*what, DOTENV | "the list of users" | "credentials"))
}

/// What [`secret_at`] says of a dotenv file, which a program may read for its own settings.
pub(crate) const DOTENV: &str = "a .env file";

fn is_sample(name: &str) -> bool {
    ["example", "sample", "template", "dist"].iter().any(|end| name.ends_with(end))
}

const SECRETS: [(&str, &str); 154] = [
    ("telegramdesktop/tdata", "messages"),
    ("discord/leveldb", "messages"),
    ("discordptb/local storage", "messages"),
    ("discordcanary/local storage", "messages"),
    ("signal/sql", "messages"),
    ("signal/config.json", "messages"),
    ("whatsapp/local", "messages"),
    ("steam/config/loginusers", "saved passwords"),
    ("steam/ssfn", "saved passwords"),
    ("microsoft/teams/cookies", "messages"),
    ("postfix/sasl_passwd", "saved passwords"),
    ("dovecot/users", "password hashes"),
    ("wp-config.php", "database passwords"),
    (".snowflake/", "Snowflake credentials"),
    (".dbt/profiles", "database passwords"),
    (".config/filezilla", "saved passwords"),
    ("filezilla/sitemanager", "saved passwords"),
    ("winscp.ini", "saved passwords"),
    (".claude/projects", "conversations with an agent"),
    (".claude/history", "conversations with an agent"),
    (".codex/sessions", "conversations with an agent"),
    (".codex/history", "conversations with an agent"),
    (".gemini/tmp", "conversations with an agent"),
    ("state.vscdb", "conversations with an agent"),
    ("addressbook", "contacts"),
    ("group.com.apple.notes", "notes"),
    (".ssh/id_", "SSH keys"),
    (".ssh/*", "SSH keys"),
    ("/.ssh/identity", "SSH keys"),
    ("id_rsa", "SSH keys"),
    ("id_ed25519", "SSH keys"),
    (".aws/credentials", "AWS credentials"),
    (".aws/config", "AWS credentials"),
    (".aws/sso", "AWS credentials"),
    (".kube/config", "Kubernetes credentials"),
    (".docker/config.json", "Docker credentials"),
    (".config/gcloud", "Google Cloud credentials"),
    ("application_default_credentials", "Google Cloud credentials"),
    (".azure/", "Azure credentials"),
    (".netrc", "saved passwords"),
    (".git-credentials", "git credentials"),
    (".config/gh/hosts", "GitHub credentials"),
    (".npmrc", "npm credentials"),
    (".pypirc", "PyPI credentials"),
    (".gnupg", "GnuPG keys"),
    (".pgpass", "database passwords"),
    (".my.cnf", "database passwords"),
    (".vault-token", "Vault token"),
    (".terraform.d/credentials", "Terraform credentials"),
    ("/etc/shadow", "password hashes"),
    ("/etc/passwd", "the list of users"),
    ("/etc/secrets", "secrets of the system"),
    ("/run/secrets", "secrets of the system"),
    ("/etc/ssl/private", "private keys"),
    (".bash_history", "shell history"),
    (".zsh_history", "shell history"),
    (".python_history", "shell history"),
    ("consolehost_history", "shell history"),
    ("/proc/self/environ", "environment variables"),
    ("login.keychain", "the keychain"),
    ("library/keychains", "the keychain"),
    ("keyrings/", "the keyring"),
    ("login data", "saved passwords of a browser"),
    ("logins.json", "saved passwords of a browser"),
    ("key4.db", "saved passwords of a browser"),
    ("cookies.sqlite", "cookies of a browser"),
    ("default/cookies", "cookies of a browser"),
    ("network/cookies", "cookies of a browser"),
    ("google/chrome", "data of a browser"),
    ("google-chrome", "data of a browser"),
    ("bravesoftware", "data of a browser"),
    ("firefox/profiles", "data of a browser"),
    (".mozilla/firefox", "data of a browser"),
    ("microsoft/edge/user data", "data of a browser"),
    ("library/messages/chat.db", "messages"),
    ("wallet.dat", "a wallet"),
    (".ethereum", "a wallet"),
    (".bitcoin", "a wallet"),
    (".electrum", "a wallet"),
    ("exodus.wallet", "a wallet"),
    ("/exodus/", "a wallet"),
    ("solana/id.json", "a wallet"),
    (".config/solana", "a wallet"),
    ("atomic/local storage", "a wallet"),
    ("ledger live", "a wallet"),
    ("metamask", "a wallet"),
    ("nkbihfbeogaeaoehlefnkodbefgpgknn", "a wallet"),
    (".claude/.credentials", "credentials of an agent"),
    (".claude.json", "credentials of an agent"),
    (".codex/auth.json", "credentials of an agent"),
    (".openclaw/openclaw.json", "credentials of an agent"),
    (".openclaw/credentials", "credentials of an agent"),
    (".clawdbot/clawdbot.json", "credentials of an agent"),
    ("auth-profiles.json", "credentials of an agent"),
    ("credentials.json", "credentials"),
    ("service-account.json", "credentials"),
    ("telegram desktop/tdata", "messages"),
    (".gem/credentials", "gem credentials"),
    ("gem/credentials", "gem credentials"),
    (".bundle/config", "gem credentials"),
    (".cargo/credentials", "crates.io credentials"),
    (".m2/settings", "Maven credentials"),
    (".gradle/gradle.properties", "Gradle credentials"),
    ("composer/auth.json", "Composer credentials"),
    (".config/rclone", "rclone credentials"),
    ("rclone.conf", "rclone credentials"),
    (".config/glab", "GitLab credentials"),
    (".config/hub", "GitHub credentials"),
    (".oci/config", "Oracle Cloud credentials"),
    (".databrickscfg", "Databricks credentials"),
    (".snowsql", "Snowflake credentials"),
    (".kaggle/kaggle.json", "Kaggle credentials"),
    ("huggingface/token", "Hugging Face token"),
    (".config/doctl", "DigitalOcean credentials"),
    (".fly/config", "Fly.io credentials"),
    (".config/op/", "the password manager"),
    ("accesstokens.json", "Azure credentials"),
    (".password-store", "the password store"),
    (".kdbx", "the password store"),
    (".foundry/keystores", "a wallet"),
    ("ethereum/keystore", "a wallet"),
    ("local extension settings", "a wallet"),
    ("keystore/utc--", "a wallet"),
    ("chromium/default", "data of a browser"),
    ("brave-browser", "data of a browser"),
    ("microsoft-edge", "data of a browser"),
    ("application support/firefox", "data of a browser"),
    ("discord/local storage", "messages"),
    ("slack/local storage", "messages"),
    (".config/slack", "messages"),
    (".thunderbird", "messages"),
    ("library/mail/", "messages"),
    ("fish_history", "shell history"),
    (".mysql_history", "shell history"),
    (".psql_history", "shell history"),
    (".node_repl_history", "shell history"),
    (".zhistory", "shell history"),
    ("id_ecdsa", "SSH keys"),
    ("id_dsa", "SSH keys"),
    ("var/run/secrets/", "secrets of the system"),
    ("microsoft/credentials", "secrets of Windows"),
    ("microsoft/protect", "secrets of Windows"),
    ("config/sam", "secrets of Windows"),
    (".terraformrc", "Terraform credentials"),
    ("terraform.tfstate", "Terraform credentials"),
    (".boto", "Google Cloud credentials"),
    (".s3cfg", "S3 credentials"),
    (".wrangler/config", "Cloudflare credentials"),
    ("github-copilot/hosts", "GitHub credentials"),
    ("github-copilot/apps", "GitHub credentials"),
    ("user data/local state", "data of a browser"),
    ("default/web data", "data of a browser"),
    ("/proc/*/environ", "environment variables"),
    ("/proc/1/environ", "environment variables"),
];

/// What a path makes start on its own.
pub(crate) fn starts_on_its_own(path: &str) -> Option<&'static str> {
    static PARTS: LazyLock<Parts> = LazyLock::new(|| Parts::new(STARTERS.iter().map(|s| s.0)));
    let plain = plain(path);
    // A copy below another directory starts nothing: `$out/home/me/.bashrc`.
    if plain.starts_with(HOLE) && ["/home/", "/etc/", "/root/"].iter().any(|d| plain.contains(d)) {
        return None;
    }
    let found = PARTS.first_in(&plain).and_then(|at| STARTERS.get(at)).map(|(_, what)| *what);
    found.or_else(|| plain.ends_with(".pth").then_some("Python start-up file"))
}

const STARTERS: [(&str, &str); 46] = [
    (".bash_aliases", "shell start-up file"),
    ("fish/conf.d", "shell start-up file"),
    (".zlogin", "shell start-up file"),
    (".ssh/config", "SSH settings"),
    (".config/nvim/init", "editor start-up file"),
    (".bashrc", "shell start-up file"),
    (".zshrc", "shell start-up file"),
    (".zprofile", "shell start-up file"),
    (".zshenv", "shell start-up file"),
    (".bash_profile", "shell start-up file"),
    (".bash_login", "shell start-up file"),
    ("/.profile", "shell start-up file"),
    ("~/.profile", "shell start-up file"),
    ("config.fish", "shell start-up file"),
    ("/etc/profile", "shell start-up file"),
    ("$profile", "shell start-up file"),
    ("/etc/cron", "cron job"),
    ("/var/spool/cron", "cron job"),
    ("launchagents", "launch agent"),
    ("launchdaemons", "launch agent"),
    ("systemd/user", "service"),
    ("/etc/systemd", "service"),
    ("/etc/init.d", "service"),
    ("/etc/rc.local", "service"),
    (".config/autostart", "autostart entry"),
    ("start menu/programs/startup", "autostart entry"),
    ("authorized_keys", "SSH login key"),
    (".git/hooks", "git hook"),
    ("/etc/sudoers", "sudo rule"),
    ("/etc/ld.so.preload", "preloaded library"),
    ("sitecustomize.py", "Python start-up file"),
    ("usercustomize.py", "Python start-up file"),
    (".vscode/tasks.json", "editor task"),
    ("/etc/hosts", "name resolution"),
    ("/hooks/pre-", "git hook"),
    ("/hooks/post-", "git hook"),
    ("/hooks/commit-msg", "git hook"),
    ("/hooks/prepare-commit-msg", "git hook"),
    (".xprofile", "shell start-up file"),
    (".xinitrc", "shell start-up file"),
    (".xsessionrc", "shell start-up file"),
    ("/etc/environment", "shell start-up file"),
    ("microsoft.powershell_profile", "shell start-up file"),
    ("systemd/system", "service"),
    ("/etc/pam.d", "login rule"),
    (".ssh/rc", "SSH login key"),
];

/// Files that tell agents what to do, or what they may.
pub(crate) fn is_agent_file(path: &str) -> bool {
    let lower = plain(path);
    let name = lower.rsplit('/').next().unwrap_or_default();
    let named = [
        "claude.md",
        "claude.local.md",
        "agents.md",
        "soul.md",
        "identity.md",
        "gemini.md",
        ".cursorrules",
        ".windsurfrules",
        "copilot-instructions.md",
    ];
    named.contains(&name)
        || [".claude/settings", ".mcp.json", "claude_desktop_config.json", ".cursor/mcp.json"]
            .iter()
            .any(|part| lower.contains(part))
}

/// Deleting there destroys more than the program's own files.
pub(crate) fn is_precious(path: &str) -> bool {
    let path = path.trim().trim_matches(['"', '\'']);
    let bare = path.trim_end_matches(['*', '/', '.']);
    let system =
        ["/etc", "/usr", "/bin", "/var", "/home", "/boot", "/lib", "/root", "/Users", "C:"];
    path.starts_with('/') && bare.is_empty()
        || matches!(bare, "~" | "$HOME" | "${HOME}")
        || system.contains(&bare)
        || ["~/Documents", "~/Desktop", "~/Pictures", "~/.ssh"].contains(&bare)
}

/// Files of a person, wherever below the home: what no program of a skill works on unasked.
pub(crate) fn is_personal(path: &str) -> bool {
    let Some(below) = path.strip_prefix("files below ").unwrap_or(path).strip_prefix('~') else {
        return false;
    };
    let first = below.trim_start_matches('/').split('/').next().unwrap_or_default();
    first.is_empty()
        || first.contains('*')
        || ["Documents", "Desktop", "Pictures", "Downloads", "OneDrive", "Dropbox"].contains(&first)
}

/// What a cloud's metadata service hands out.
pub(crate) const METADATA: &str = "the cloud's credentials";

/// Whether an address is a cloud's metadata service.
pub(crate) fn is_metadata(address: &str) -> bool {
    ["169.254.169.254", "metadata.google.internal", "169.254.170.2", "100.100.100.200"]
        .iter()
        .any(|host| address.contains(host))
}

/// A name that a secret's variable has.
pub(crate) fn is_secret_name(name: &str) -> bool {
    static PARTS: LazyLock<Parts> = LazyLock::new(|| Parts::new(SECRET_NAMES.into_iter()));
    let upper = name.to_ascii_uppercase();
    PARTS.first_in(&upper).is_some()
        && !["PUBLIC", "KEYBOARD", "MAX_TOKEN", "TOKENIZER", "TOKENS"]
            .iter()
            .any(|part| upper.contains(part))
}

const SECRET_NAMES: [&str; 13] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
    "CREDENTIAL",
    "_KEY",
    "MNEMONIC",
    "SEED_PHRASE",
    "DATABASE_URL",
];
