//! What runs a command or code.

use crate::screen::scan::{Pattern, Signal};

/// Hands something to a shell or starts a process.
pub(crate) const SHELL: Signal = Signal("shell");
/// Evaluates text as code.
pub(crate) const EVAL: Signal = Signal("eval");
/// Pipes something into a shell or interpreter.
pub(crate) const PIPE_TO_SHELL: Signal = Signal("pipe-to-shell");
/// Fetches something and runs it, in one command.
pub(crate) const FETCH_AND_RUN: Signal = Signal("fetch-and-run");
/// Turns an encoded text back.
pub(crate) const DECODE: Signal = Signal("decode");
/// Decodes and runs, in one command.
pub(crate) const DECODE_AND_RUN: Signal = Signal("decode-and-run");

pub(crate) const PATTERNS: &[Pattern] = &[
    // JavaScript
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["exec(", "execsync", "execfile", "exec ("],
        regex: r"(?:^|[^.\w]|\b(?:shell|cp|sh|proc|childprocess|child_process)\.)exec(?:Sync|File|FileSync|Async)?\s?\(",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["spawn(", "spawnsync", "spawn ("],
        regex: r"(?:^|[^:\w])spawn(?:Sync)?\s?\(",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["deno.run", "deno.command", "bun.spawn", "bun.$", "execa", "shelljs", "zx"],
        regex: r"\bDeno\.(?:run|Command)\b|\bBun\.(?:spawn|\$)|\bexeca(?:Sync|Command)?\(|require\(['\x22](?:shelljs|execa|zx)",
    },
    // Python
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn", "pty.spawn"],
        regex: r"\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn)|pty\.spawn)\s?\(",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["subprocess", "popen("],
        regex: r"\bsubprocess\.(?:run|call|Popen|check_call|check_output|getoutput|getstatusoutput)\b|\b(?:asyncio\.create_subprocess_\w+|Popen)\s?\(|\bpopen\(",
    },
    // Other languages
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &[
            "shell_exec",
            "passthru(",
            "proc_open",
            "getruntime",
            "processbuilder",
            "exec.command",
            "command::new",
        ],
        regex: r"\b(?:shell_exec|passthru|proc_open)\s?\(|getRuntime\(\)\.exec|\bnew ProcessBuilder|\bexec\.Command\(|\bCommand::new\(",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["system("],
        regex: r"(?:^|[^\w.])system\(\s*['\x22$]",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["%x(", "%x{", "%x["],
        regex: r"(?:^|[\s=(])%x[({\[]",
    },
    // Shells
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &[
            "sh -c", "bash -c", "zsh -c", "dash -c", "ksh -c", "sh -lc", "bash -lc", "zsh -lc",
            "bash -ic", "bash -xc", "fish -c",
        ],
        regex: r"\b(?:ba|z|da|k|fi)?sh\s+-[a-z]*c\b\s*\S",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["cmd /c", "cmd.exe", "cmd /k"],
        regex: r"\bcmd(?:\.exe)?\s+/[ck]\b",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["invoke-expression", "start-process", "invoke-command", "iex"],
        regex: r"\b(?:Invoke-Expression|Start-Process|Invoke-Command)\b|(?:^|[|;&({\s\x22'`])iex\s*[\s(]\s*[($'\x22&]|\|\s*iex\b",
    },
    Pattern {
        signal: SHELL,
        needs: &[],
        cues: &["powershell", "pwsh"],
        regex: r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s-(?:c|command|e|ec|enc|encodedcommand|f|file|w|windowstyle)\b",
    },
    // Code from text
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["eval(", "eval ("],
        regex: r"(?:^|[^.\w-])eval\s?\(",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["globalthis", "window[", "window.eval", "self.eval", "global.eval", "global["],
        regex: r"\b(?:globalThis|window|global|self)(?:\.eval\s?\(|\s?\[\s*['\x22](?:eval|Function)['\x22]\s*\])",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["eval \"", "eval $", "eval '", "eval `"],
        regex: r"(?:^|[\s;&|(`])eval\s+[\x22'`]?[$`(]",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["function("],
        regex: r"(?-i:(?:^|[^\w.])(?:new\s+)?Function\s?\()",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["function ("],
        regex: r"(?-i:new\s+Function\s*\()",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["runinnewcontext", "runinthiscontext", "runincontext", "vm.script", "vm.compile"],
        regex: r"\b(?:vm\.)?runIn(?:New|This)?Context\s?\(|\bvm\.(?:Script|compileFunction)\b",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["compile(", "__import__", "importlib", "exec_module", "getattr("],
        regex: r"(?:^|[^.\w])compile\s?\([^)\n]*['\x22](?:exec|eval|single)['\x22]|__import__\s?\(|\bimportlib\.(?:import_module|util|machinery)|\.exec_module\(|getattr\(\s*__builtins__",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["settimeout(", "setinterval("],
        regex: r"\bset(?:Timeout|Interval)\s?\(\s*['\x22`]",
    },
    Pattern {
        signal: EVAL,
        needs: &[],
        cues: &["add-type", "scriptblock"],
        regex: r"\bAdd-Type\s+-TypeDefinition|\[scriptblock\]::create",
    },
    // Pipes
    Pattern {
        signal: PIPE_TO_SHELL,
        needs: &[],
        cues: &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "iex", "invoke-expression"],
        regex: r"\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\S+=\S+\s+)*)?(?:/(?:usr/)?(?:local/)?bin/)?(?:ba|z|da|k|fi|a)?sh(?:\s+-\S*|\s+/dev/stdin)*\s*(?:$|[\s;&\x22'`)|<>])|\|\s*(?:iex|invoke-expression)\b",
    },
    Pattern {
        signal: PIPE_TO_SHELL,
        needs: &[],
        cues: &["python", "node", "perl", "ruby", "php"],
        regex: r"\|\s*(?:sudo\s+)?(?:python[0-9.]*|node|perl|ruby|php)\s*(?:-\s*)?(?:$|[\n;&\x22'`)])",
    },
    Pattern {
        signal: FETCH_AND_RUN,
        needs: &[],
        cues: &["curl", "wget", "invoke-webrequest", "invoke-restmethod", "iwr", "irm", "fetch -"],
        regex: r"\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod|fetch)\b[^\n]*?\|\s*(?:[^|\n]*?\|\s*){0,2}(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+(?:\S+=\S+\s+)*)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k|fi|a)?sh|iex|invoke-expression)(?:$|[\s;&\x22'`)|<>-])",
    },
    Pattern {
        signal: FETCH_AND_RUN,
        needs: &[],
        cues: &["curl", "wget"],
        regex: r"\b(?:curl|wget)\b[^\n|]*?\|\s*(?:sudo\s+)?(?:python[0-9.]*|node|perl|ruby|php)\s*(?:-\s*)?(?:$|[\n;&\x22'`)])",
    },
    Pattern {
        signal: FETCH_AND_RUN,
        needs: &[],
        cues: &["<(curl", "<(wget", "< <(curl", "$(curl", "$(wget", "`curl", "`wget", "<( curl"],
        regex: r"(?:\b(?:ba|z|da|k)?sh|\bsource|\beval|\bpython[0-9.]*|\bnode|(?:^|\s)\.)\s+(?:-\S+\s+)*[\x22']?(?:<\s*)?(?:<\(|\$\(|`)\s*(?:curl|wget)\b",
    },
    Pattern {
        signal: FETCH_AND_RUN,
        needs: &[],
        cues: &["exec(", "eval(", "iex"],
        regex: r"\b(?:exec|eval)\s?\(\s*(?:requests\.get|urllib|urlopen|httpx\.get|await\s+\(?\s*await\s+fetch|await\s+fetch|fetch)|\biex\s*[\s(&]*\(?\s*(?:\(?new-object\s+(?:system\.)?net\.webclient|irm|iwr|invoke-webrequest|invoke-restmethod|curl|wget)",
    },
    Pattern {
        signal: FETCH_AND_RUN,
        needs: &[],
        cues: &[
            "downloadstring",
            "downloadfile",
            "mshta",
            "bitsadmin",
            "regsvr32",
            "rundll32",
            "certutil",
        ],
        regex: r"\.download(?:string|file)\s*\(|\bmshta(?:\.exe)?\s+(?:https?:|javascript:|vbscript:)|\bbitsadmin\s+/transfer|\bregsvr32\b[^\n]*?https?:|\brundll32\b[^\n]*?javascript:|\bcertutil\b[^\n]*?-urlcache",
    },
    // Decoding
    Pattern { signal: DECODE, needs: &[], cues: &["atob(", "atob ("], regex: r"\batob\s?\(" },
    Pattern {
        signal: DECODE,
        needs: &[],
        cues: &["buffer.from", "new buffer"],
        regex: r"\b(?:Buffer\.from|new Buffer)\s?\([^\n]*?['\x22`](?:base64|base64url|hex)['\x22`]",
    },
    Pattern {
        signal: DECODE,
        needs: &[],
        cues: &[
            "b64decode",
            "b32decode",
            "a85decode",
            "unhexlify",
            "bytes.fromhex",
            "codecs.decode",
            "base64_decode",
            "decode64",
        ],
        regex: r"\b(?:urlsafe_|standard_)?(?:b64|b32|b85|a85)decode\b|\bunhexlify\b|\bbytes\.fromhex\s?\(|\bcodecs\.decode\s?\(|\bbase64_decode\s?\(|\bBase64\.(?:strict_|urlsafe_)?decode64",
    },
    Pattern {
        signal: DECODE,
        needs: &[],
        cues: &[
            "base64 -d",
            "base64 --d",
            "base64 -D",
            "base64 -i",
            "xxd -r",
            "openssl enc",
            "openssl base64",
            "base32 -d",
            "certutil",
        ],
        regex: r"\bbase(?:64|32)\s+(?:-\w+\s+)*(?:-d\b|-di\b|--decode\b)|\bxxd\s+(?:-\w+\s+)*-r|\bopenssl\s+(?:enc\s+|base64\s+)(?:\S+\s+)*-d\b|\bcertutil(?:\.exe)?\s+-decode",
    },
    Pattern {
        signal: DECODE,
        needs: &[],
        cues: &["frombase64string", "-encodedcommand", "-enc ", "-ec ", "-e "],
        regex: r"\bFromBase64String\b|\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s-e(?:nc|c|ncodedcommand)?\s+[A-Za-z0-9+/=]{16,}|\s-EncodedCommand\b",
    },
    Pattern {
        signal: DECODE_AND_RUN,
        needs: &[],
        cues: &["base64", "base32", "xxd", "rev", "tr ", "gunzip", "openssl"],
        regex: r"\b(?:base(?:64|32)\s+(?:-\w+\s+)*(?:-d\b|-di\b|--decode\b)|xxd\s+(?:-\w+\s+)*-r|openssl\s+(?:enc|base64)\s[^|\n]*-d\b|\brev\b|gunzip|zcat)[^\n]*?\|\s*(?:sudo\s+)?(?:\S*/)?(?:(?:ba|z|da|k)?sh|python[0-9.]*|perl|node|ruby|php)(?:$|[\s;&\x22'`)-])",
    },
    Pattern {
        signal: DECODE_AND_RUN,
        needs: &[],
        cues: &["base64 -d", "base64 --d", "xxd -r", "base64 -D"],
        regex: r"(?:\b(?:ba|z|da|k)?sh\s+(?:-c\s+)?|\beval\s+|\bsource\s+|\bpython[0-9.]*\s+-c\s+)[\x22'`]?(?:<\(|\$\(|`)[^\n]*?(?:base64\s+(?:-\w+\s+)*(?:-d|--decode)|xxd\s+(?:-\w+\s+)*-r)",
    },
    Pattern {
        signal: DECODE_AND_RUN,
        needs: &[],
        cues: &[
            "eval(",
            "exec(",
            "function(",
            "iex",
            "loads(",
            "invoke-expression",
            "system(",
            "popen(",
            "execsync(",
        ],
        regex: r"\b(?:eval|exec|Function|execSync|system|popen|marshal\.loads|pickle\.loads|iex|Invoke-Expression|runInThisContext)\s*\(?[^\n]*?(?:\batob\s?\(|b64decode|b32decode|b85decode|a85decode|unhexlify|fromhex\s?\(|codecs\.decode|zlib\.decompress|FromBase64String|base64_decode|Buffer\.from\([^\n]*?['\x22](?:base64|hex)['\x22])",
    },
    Pattern {
        signal: DECODE_AND_RUN,
        needs: &[],
        cues: &["powershell", "pwsh"],
        regex: r"\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s-e(?:nc|c|ncodedcommand)?\s+[A-Za-z0-9+/=]{16,}",
    },
];
