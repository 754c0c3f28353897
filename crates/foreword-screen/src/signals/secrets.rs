//! What a stranger must not get: keys, tokens, histories, wallets.

use crate::scan::{Pattern, Signal};

/// A file or store that holds secrets.
pub(crate) const SECRET_STORE: Signal = Signal("secret-store");
/// The whole environment, taken at once.
pub(crate) const ENVIRONMENT_DUMP: Signal = Signal("environment-dump");
/// A variable that holds a secret.
pub(crate) const SECRET_VARIABLE: Signal = Signal("secret-variable");
/// Secrets, in words.
pub(crate) const SECRET_WORDS: Signal = Signal("secret-words");
/// An order, in words, to gather secrets.
pub(crate) const GATHER_ORDER: Signal = Signal("gather-order");

pub(crate) const PATTERNS: &[Pattern] = &[
    Pattern {
        signal: SECRET_STORE,
        cues: &[".ssh/", "id_rsa", "id_ed25519", "id_ecdsa", ".ssh\\", ".ssh"],
        regex: r"(?:~|\$HOME|\$\{HOME\}|/root|/home/\S+|%USERPROFILE%|homedir\(\)|expanduser|\.)[/\\\x22',)( ]*\.ssh(?:[/\\](?:id_|\*|identity|config)|[\s/'\x22)]|$)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &[
            ".aws/",
            ".netrc",
            ".git-credentials",
            ".pypirc",
            ".docker/config",
            ".kube/config",
            "gcloud",
            ".azure/",
            ".gnupg",
            ".npmrc",
            ".config/gh",
            ".vault-token",
        ],
        regex: r"\.aws/(?:credentials|config)|\.netrc\b|\.git-credentials\b|\.pypirc\b|\.docker/config\.json|\.kube/config\b|(?:\.config/)?gcloud/(?:credentials|application_default|access_tokens|legacy)|\.azure/(?:accessTokens|msal|azureProfile)|\.gnupg\b|(?:~|HOME\}?)/\.npmrc\b|\.config/gh/hosts|\.vault-token\b",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &[
            "/etc/shadow",
            "/etc/passwd",
            "/etc/sudoers",
            "sam\\",
            "lsass",
            "/proc/self/environ",
            "security find-",
            "dump-keychain",
            "keychain",
            "credential manager",
            "secretsdump",
            "mimikatz",
        ],
        regex: r"/etc/(?:shadow|passwd|master\.passwd)\b|\blsass\b|/proc/(?:self|\d+)/environ|\bsecurity\s+(?:find-(?:generic|internet)-password|dump-keychain)|login\.keychain|Library/Keychains|\bmimikatz\b|\bsecretsdump\b",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &[
            "login data",
            "cookies.sqlite",
            "logins.json",
            "key4.db",
            "local state",
            "user data/default",
            "user data\\default",
            "cookies",
            "keystore",
            "wallet",
            "solana/id.json",
            "exodus",
            "electrum",
            "metamask",
            "telegram desktop",
            "leveldb",
        ],
        regex: r"\bLogin Data\b|\bcookies\.sqlite\b|\blogins\.json\b|\bkey4\.db\b|(?:Chrome|Chromium|BraveSoftware|Edge|Firefox|google-chrome)[^\n]{0,60}(?:Cookies|Local State|Local Storage|Profiles?|Default)|\bwallet\.dat\b|\.ethereum/keystore|\.config/solana/id\.json|\b(?:Exodus|Electrum|MetaMask)[/\\][^\n]{0,40}|Telegram Desktop[/\\]tdata",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &[".env"],
        regex: r"\b(?:cat|less|head|tail|grep|base64|source|cp|xxd|open|read(?:File(?:Sync)?|_text)?|type|Get-Content|gc|curl|tar|zip)\b[^\n]{0,60}[\s('\x22/@\\]\.env(?:\.\w+)?(?:[\s'\x22)|;]|$)",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &[
            "_history",
            "history |",
            "pbpaste",
            "get-clipboard",
            "xclip -o",
            "consolehost_history",
            "clipboard",
        ],
        regex: r"\.(?:bash|zsh|python|mysql|psql|node_repl)_history\b|\bConsoleHost_history\b|\bpbpaste\b|\bGet-Clipboard\b|\bxclip\b[^\n]{0,30}-o\b|\bpyperclip\.paste\b",
    },
    Pattern {
        signal: SECRET_STORE,
        cues: &["169.254.169.254", "metadata.google.internal", "latest/meta-data"],
        regex: r"169\.254\.169\.254|metadata\.google\.internal|latest/meta-data",
    },
    Pattern {
        signal: ENVIRONMENT_DUMP,
        cues: &["os.environ", "environ"],
        regex: r"\b(?:dict|list|str|repr|dumps|json\.dumps|print|urlencode|b64encode|items|encode)\s?\(\s*(?:dict\(|str\()?\s*os\.environ\s*[),]|\{\s*\w+\s*:\s*\w+\s+for\s+\w+\s*,\s*\w+\s+in\s+os\.environ\.items|\bfor\s+\w+\s*,\s*\w+\s+in\s+os\.environ\.items|\b(?:json|data|params|body)\s*=\s*(?:dict\()?os\.environ\b(?:\)|\s*[,)])",
    },
    Pattern {
        signal: ENVIRONMENT_DUMP,
        cues: &["process.env"],
        regex: r"JSON\.stringify\(\s*process\.env\s*[,)]|Object\.(?:entries|keys|values|assign)\([^)]{0,20}process\.env\s*\)|\{\s*\.\.\.process\.env\s*\}|\b(?:body|data|env)\s*:\s*process\.env\s*[,}\n]",
    },
    Pattern {
        signal: ENVIRONMENT_DUMP,
        cues: &[
            "printenv",
            "env |",
            "env|",
            "$(env)",
            "env >",
            "`env`",
            "export -p",
            "set |",
            "env:",
            "env -0",
            "declare -x",
        ],
        regex: r"\bprintenv\s*(?:$|[|>)`;&\n])|(?:^|[\s`$(;&|])env\s*(?:\||>|\))|`env`|\bexport\s+-p\s*[|>]|(?:^|[\s;])set\s*\|\s*(?:curl|nc|base64)|\b(?:Get-ChildItem|gci|dir|ls)\s+env:(?:\s|\||$|\*)|\bdeclare\s+-x\s*\|",
    },
    Pattern {
        signal: SECRET_VARIABLE,
        cues: &["key", "token", "secret", "passw", "credential", "_pat", "database_url", "private"],
        regex: r"(?-i:(?:\$\{?|\$\(|\$env:|process\.env\.|process\.env\[['\x22]|os\.environ(?:\.get\(|\[)\s*['\x22]|os\.getenv\(\s*['\x22]|getenv\(['\x22]|ENV\[['\x22]|%)[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|_PAT\b|DATABASE_URL|PRIVATE)[A-Z0-9_]*)",
    },
    Pattern {
        signal: SECRET_WORDS,
        cues: &[
            "key",
            "token",
            "secret",
            "credential",
            "password",
            "passphrase",
            "seed phrase",
            "mnemonic",
            ".env",
            "cookie",
            "environment variable",
            "env var",
            "wallet",
            "authorization header",
            "session",
        ],
        regex: r"\b(?:api[ _-]?keys?|access (?:keys?|tokens?)|(?:private|ssh|gpg|signing|encryption|secret) keys?|(?:auth(?:entication|orization)?|session|bearer|refresh|api|oauth|bot|user) tokens?|tokens?|secrets?|credentials?|passwords?|passphrases?|seed phrases?|mnemonics?|recovery phrases?|(?:session |browser |auth )?cookies|environment variables?|env(?:ironment)? vars?|authorization headers?|wallets?|keychains?|ssh config|\.env files?)\b|\.env\b",
    },
    Pattern {
        signal: GATHER_ORDER,
        cues: &[
            "collect",
            "gather",
            "harvest",
            "extract",
            "steal",
            "grab",
            "read",
            "dump",
            "copy",
            "scan",
            "search",
            "include",
            "capture",
            "retrieve",
            "enumerate",
            "find",
            "locate",
            "obtain",
            "fetch",
            "export",
            "echo",
            "print",
            "list",
            "attach",
            "append",
            "embed",
        ],
        regex: r"\b(?:collect|gather|harvest|extract|steal|grab|read|dump|copy|scan for|search for|include|capture|retrieve|enumerate|find|locate|obtain|export|attach|append|embed|exfiltrate|intercept)(?:s|es|ed|ing)?\b.{0,90}?\b(?:(?:all|any|every|the user'?s?|users'?|their|your|these|found|stored|available|sensitive|local|his|her|its|system|environment|browser|saved|session|auth\w*)\b[ ,/a-z_-]{0,50}?)(?:api[ _-]?keys?|access (?:keys?|tokens?)|(?:private|ssh|gpg|secret) keys?|tokens?|secrets?|credentials?|passwords?|passphrases?|seed phrases?|mnemonics?|cookies|environment variables?|env(?:ironment)? vars?|keychains?|wallets?|authorization headers?|\.env\b)",
    },
];
