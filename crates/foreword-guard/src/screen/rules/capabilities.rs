//! Capabilities of text that an agent wrote. None is wrong in itself; a person has to agree to each.

use super::{AGENT, Rule};
use crate::screen::document::Place;
use crate::screen::page::{Page, Sighting};
use crate::screen::report::Report;
use crate::screen::scan::{Pattern, Signal};
use crate::screen::signals::secrets::{ENVIRONMENT_DUMP, SECRET_VARIABLE};
use crate::screen::verdict::Verdict;

const WRITE: Signal = Signal("filesystem-write");
const SHELL_WRITE: Signal = Signal("shell-write");
const ENVIRONMENT: Signal = Signal("environment");
const PROCESS: Signal = Signal("process-control");
const SHELL_PROCESS: Signal = Signal("shell-process-control");
const CRYPTO: Signal = Signal("cryptography");

/// Writes, moves or deletes files.
pub(super) static FILESYSTEM_WRITE: Rule = Rule {
    name: "filesystem-write",
    policies: AGENT,
    patterns: &[
        Pattern {
            signal: WRITE,
            needs: &[],
            cues: &[
                "fs.",
                "fsp.",
                "fspromises",
                "writefile",
                "appendfile",
                "createwritestream",
                "'fs'",
                "\"fs\"",
                "node:fs",
                "fs/promises",
                "fs-extra",
            ],
            regex: r"\b(?:fs|fsp|fsPromises|promises)\.(?:write\w*|append\w*|mkdir\w*|rm\w*|unlink\w*|rename\w*|copyFile\w*|cp\w*|createWriteStream|chmod\w*|chown\w*|truncate\w*|symlink\w*|link\w*|open\w*)\s?\(|\b(?:writeFile|appendFile|createWriteStream|unlink|rmdir|mkdir)(?:Sync)?\s?\(|(?:require\s*\(\s*|from\s+)['\x22](?:node:)?(?:fs|fs/promises|fs-extra)['\x22]",
        },
        Pattern {
            signal: WRITE,
            needs: &[],
            cues: &[
                "open(",
                "write_text",
                "write_bytes",
                "shutil",
                "os.remove",
                "os.unlink",
                "os.rename",
                "os.mkdir",
                "os.makedirs",
                "os.rmdir",
                "os.replace",
                "os.chmod",
                ".unlink(",
                ".mkdir(",
                ".touch(",
            ],
            regex: r"\bopen\s?\([^)\n]*,\s*(?:mode\s*=\s*)?['\x22](?:[wax]|r\+)[bt+]*['\x22]|\.write_(?:text|bytes)\s?\(|\bshutil\.\w+|\bos\.(?:remove|unlink|rename|mkdir|makedirs|rmdir|replace|chmod|chown|symlink|truncate)\s?\(|\.(?:unlink|rmdir|touch)\s?\(\s*\)|\.mkdir\s?\(",
        },
        Pattern {
            signal: WRITE,
            needs: &[],
            cues: &[
                "out-file",
                "set-content",
                "add-content",
                "new-item",
                "remove-item",
                "copy-item",
                "move-item",
                "export-csv",
            ],
            regex: r"\b(?:Out-File|Set-Content|Add-Content|New-Item|Remove-Item|Copy-Item|Move-Item|Rename-Item|Export-Csv)\b",
        },
        Pattern {
            signal: SHELL_WRITE,
            needs: &[],
            cues: &[
                "rm ",
                "mv ",
                "tee ",
                "cp ",
                "mkdir",
                "touch ",
                "chmod",
                "chown",
                "sed -i",
                "truncate ",
                "ln -s",
                "dd ",
                "install -",
                "unlink ",
                "rmdir",
                "rsync ",
            ],
            regex: r"(?:^|[;&|`\n(]\s*|\$\s+|\bsudo\s+|\b(?:run|then|do|using)\s+)(?:rm|mv|tee|cp|mkdir|touch|chmod|chown|truncate|ln|dd|unlink|rmdir|rsync)\s+[-\w/.$~<{\x22'*+]|\bsed\s+-i",
        },
    ],
    check: |page, report| {
        let message = "Writes, moves or deletes files.";
        each(page, report, WRITE, message, |_, _| true);
        each(page, report, SHELL_WRITE, message, |page, s| {
            in_code(page, s) && !page.matched(s).contains("/dev/null")
        });
        for (unit, language) in page.code_units() {
            let shell = ["", "bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "pwsh"];
            let line = page.text().get(unit.start..unit.end).unwrap_or_default();
            if shell.contains(&language) && redirects(line) {
                report.add_line(Verdict::NeedsReview, unit.line, message);
            }
        }
    },
};

/// Reads the environment, where secrets live.
pub(super) static ENVIRONMENT_ACCESS: Rule = Rule {
    name: "environment-access",
    policies: AGENT,
    patterns: &[Pattern {
        signal: ENVIRONMENT,
        needs: &[],
        cues: &[
            "process.env",
            "os.environ",
            "getenv",
            "$env:",
            "printenv",
            "deno.env",
            "import.meta.env",
            "env::var",
            "getenvironmentvariable",
            "env[",
            "export ",
            "bun.env",
            "dotenv",
        ],
        regex: r"\bprocess\.env\b|\bos\.environ\b|\bgetenv\s?\(|\$env:\w|\bprintenv\b|\b(?:Deno|Bun)\.env\b|\bimport\.meta\.env\b|\benv::vars?\b|GetEnvironmentVariable|(?-i:\bENV\[)|(?:^|[;&\n`]\s*)export\s+[A-Z_][A-Z0-9_]*=|\bload_dotenv\b|require\(['\x22]dotenv",
    }],
    check: |page, report| {
        let message = "Reads or changes environment variables.";
        for signal in [ENVIRONMENT, ENVIRONMENT_DUMP] {
            each(page, report, signal, message, |_, _| true);
        }
        each(page, report, SECRET_VARIABLE, message, in_code);
    },
};

/// Ends or signals processes, stops services.
pub(super) static PROCESS_CONTROL: Rule = Rule {
    name: "process-control",
    policies: AGENT,
    patterns: &[
        Pattern {
            signal: PROCESS,
            needs: &[],
            cues: &[
                "process.exit",
                "process.kill",
                "process.abort",
                "sys.exit",
                "os._exit",
                "os.kill",
                "os.abort",
                "stop-process",
                "taskkill",
                "restart-service",
                "stop-service",
                "process.chdir",
                "signal.signal",
                "os.fork",
            ],
            regex: r"\bprocess\.(?:exit|kill|abort|chdir|reallyExit)\b|\bsys\.exit\b|\bos\.(?:_exit|kill|killpg|abort|fork)\b|\b(?:Stop-Process|Stop-Service|Restart-Service|Restart-Computer|Stop-Computer)\b|\btaskkill\b|\bsignal\.signal\b",
        },
        Pattern {
            signal: SHELL_PROCESS,
            needs: &[],
            cues: &[
                "kill ",
                "pkill",
                "killall",
                "systemctl",
                "shutdown",
                "reboot",
                "nohup",
                "launchctl",
                "exit ",
            ],
            regex: r"(?:^|[;&|`\n(]\s*|\$\s+|\bsudo\s+)(?:kill\s+-?[\w$%]|pkill\s|killall\s|shutdown\s|reboot\b|nohup\s|systemctl\s+(?:stop|restart|disable|kill|mask|start|enable)|launchctl\s|service\s+\S+\s+(?:stop|restart|start))",
        },
    ],
    check: |page, report| {
        let message = "Stops, signals or controls processes.";
        each(page, report, PROCESS, message, |_, _| true);
        each(page, report, SHELL_PROCESS, message, in_code);
    },
};

/// Uses cryptography: keys, signatures, hashes.
pub(super) static CRYPTOGRAPHY: Rule = Rule {
    name: "cryptography",
    policies: AGENT,
    patterns: &[Pattern {
        signal: CRYPTO,
        needs: &[],
        cues: &[
            "crypto",
            "hashlib",
            "hmac",
            "openssl",
            "gpg ",
            "ssh-keygen",
            "securestring",
            "bcrypt",
            "argon2",
            "secrets.token",
            "nacl",
            "md5sum",
            "sha256sum",
        ],
        regex: r"(?:require\s*\(\s*|from\s+|import\s+|import\s*\(\s*)['\x22](?:node:)?(?:crypto|crypto-js|bcrypt|argon2)['\x22]|\bcrypto\.(?:create\w+|random\w+|subtle|sign|verify|pbkdf2\w*|scrypt\w*|publicEncrypt|privateDecrypt|getRandomValues|generateKey\w*|hash|webcrypto)|(?:\bimport|\bfrom)\s+(?:hashlib|hmac|cryptography|Crypto|nacl|bcrypt|secrets)\b|\b(?:hashlib|hmac)\.\w+\s?\(|(?:^|[\s`;&|(])openssl\s+(?:enc|dgst|genrsa|genpkey|req|x509|rand|rsa|pkcs\w+|aes\S*|sha\d+|passwd|s_client)|(?:^|[\s`;&|])gpg\s+-|\bssh-keygen\b|ConvertTo-SecureString|\bmd5sum\b|\bsha256sum\b|Security\.Cryptography",
    }],
    check: |page, report| each(page, report, CRYPTO, "Uses cryptography.", |_, _| true),
};

fn each(
    page: &Page,
    report: &mut Report<'_>,
    signal: Signal,
    message: &str,
    accept: fn(&Page, &Sighting) -> bool,
) {
    for sighting in page.uses(signal).filter(|s| accept(page, s)) {
        report.add(Verdict::NeedsReview, sighting, message);
    }
}

/// In a fence, between backticks, or alone on a line without hidden text.
fn in_code(page: &Page, sighting: &Sighting) -> bool {
    matches!(sighting.place, Place::Code | Place::Comment | Place::Decoded)
        || page.is_quoted(sighting)
        || page.before(sighting).is_empty()
}

/// Whether a line of shell writes its output to a file.
fn redirects(line: &str) -> bool {
    line.match_indices('>').any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let after = line.get(at + 1..).unwrap_or_default();
        let target = after.trim_start_matches('>').trim_start();
        let arrow = before.ends_with(['-', '=', '<', '|', '&']) || before.trim_start().is_empty();
        let file = target.starts_with(|c: char| c.is_ascii_alphanumeric() || "~$./\"'".contains(c));
        !arrow
            && file
            && before.ends_with([' ', '>', '1', '"', '\''])
            && !target.starts_with("/dev/null")
    })
}
