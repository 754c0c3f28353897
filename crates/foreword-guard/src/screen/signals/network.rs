//! What reaches the network, and what goes out over it.

use crate::screen::scan::{Pattern, Signal};

/// Reaches the network, in code or as a command.
pub(crate) const NETWORK: Signal = Signal("network");
/// Sends data out.
pub(crate) const SEND: Signal = Signal("send");
/// Sends a file.
pub(crate) const SEND_FILE: Signal = Signal("send-file");
/// Looks up a name that is made from data.
pub(crate) const DNS_LEAK: Signal = Signal("dns-leak");
/// An order, in words, to send something somewhere.
pub(crate) const SEND_ORDER: Signal = Signal("send-order");

pub(crate) const PATTERNS: &[Pattern] = &[
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["fetch(", "fetch ("],
        regex: r"(?:^|[^.\w]|\b(?:window|globalThis|self)\.)fetch\s?\(",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["xmlhttprequest", "new websocket", "eventsource", "sendbeacon", "websocket("],
        regex: r"\bXMLHttpRequest\b|\bWebSocket\s?\(|\bnew EventSource\s?\(|\bsendBeacon\s?\(",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["axios", "got(", "got.", "superagent", "node-fetch", "undici", "ky."],
        regex: r"\baxios(?:\.\w+)?\s?\(|\bgot(?:\.(?:get|post|put|stream))?\s?\(\s*['\x22`]|\bsuperagent\b|['\x22](?:node-fetch|undici|axios)['\x22]",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["http.get", "https.get", "http.request", "https.request"],
        regex: r"\bhttps?\.(?:get|request)\s?\(",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &[
            "requests.",
            "httpx.",
            "aiohttp",
            "urllib",
            "urlopen",
            "http.client",
            "smtplib",
            "ftplib",
            "paramiko",
            "telnetlib",
        ],
        regex: r"\b(?:requests|httpx)\.(?:get|post|put|patch|delete|head|request|Session|Client|AsyncClient|stream)\b|\baiohttp\.\w+|\burllib\d?(?:\.(?:request|parse|error))?\.(?:urlopen|urlretrieve|Request|PoolManager|request)|\burlopen\s?\(|\bhttp\.client\.|\b(?:import|from)\s+(?:urllib|requests|httpx|aiohttp|smtplib|ftplib|paramiko|telnetlib)\b",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["curl", "wget"],
        regex: r"(?:^|[\s`$(;&|\x22'])(?:curl|wget)(?:\.exe)?\s+(?:-{1,2}[a-z]|['\x22]?(?:https?://|ftp://|\$|<|[\w.-]+\.[a-z]{2,}))|\b(?:run|use|using|call|execute|invoke|via)\s+[`\x22']?(?:curl|wget)\b",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &[
            "invoke-webrequest",
            "invoke-restmethod",
            "net.webclient",
            "start-bitstransfer",
            "iwr ",
            "irm ",
        ],
        regex: r"\bInvoke-(?:WebRequest|RestMethod)\b|\bNet\.WebClient\b|\bStart-BitsTransfer\b|(?:^|[\s`|;(])i(?:wr|rm)\s+(?:-|['\x22]?https?:)",
    },
    Pattern {
        signal: NETWORK,
        needs: &[],
        cues: &["nc ", "ncat", "netcat", "socat", "telnet ", "/dev/tcp", "/dev/udp"],
        regex: r"(?:^|[\s`$(;&|])(?:nc|ncat|netcat)\s+(?:-\w+\s+)*[\w.$<{-]+\s+[\d$<{]|(?:^|[\s`|;])(?:nc|ncat|netcat)\s+-\w*[lep]|\bsocat\s+\S+|/dev/(?:tcp|udp)/",
    },
    // Sending
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["curl"],
        regex: r"\bcurl\b[^\n]*?\s(?-i:-d|--data(?:-\w+)?|-F|--form(?:-string)?|-T|--upload-file|--json)(?:[\s='\x22@]|$)|\bcurl\b[^\n]*?\s-X\s*['\x22]?(?:POST|PUT|PATCH)\b",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["curl"],
        regex: r"\bcurl\b[^\n]*?\?[^\s\x22']*=\s*(?:\$\(|`|\$\{?[A-Z_]*(?:TOKEN|KEY|SECRET|PASS))",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["wget"],
        regex: r"\bwget\b[^\n]*?--(?:post-data|post-file|body-data|body-file|method=POST)",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &[".post(", ".put(", ".patch(", "urlopen(", ".post ("],
        regex: r"\b(?:requests|httpx|axios|session|client|http|got|aiohttp|superagent|\$)\.(?:post|put|patch)\s?\(|\burlopen\s?\([^\n]*?data\s*=",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["method"],
        regex: r"\bmethod['\x22]?\s*[:=]\s*['\x22](?:POST|PUT|PATCH)['\x22]|-Method\s+['\x22]?(?:Post|Put)\b",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["sendbeacon", "smtplib", ".sendmail", "send_message(", "websocket"],
        regex: r"\bsendBeacon\s?\(|\.sendmail\s?\(|\bsmtplib\.SMTP|\.send_message\s?\(",
    },
    Pattern {
        signal: SEND,
        needs: &[],
        cues: &["nc ", "ncat ", "netcat ", "/dev/tcp/"],
        regex: r"\|\s*(?:nc|ncat|netcat)\s+(?:-\w+\s+)*[\w.$-]+\s+\d|\b(?:nc|ncat|netcat)\s+(?:-\w+\s+)*[\w.-]+\s+\d+\s*<|>\s*/dev/tcp/",
    },
    Pattern {
        signal: SEND_FILE,
        needs: &[],
        cues: &["curl", "wget"],
        regex: r"\bcurl\b[^\n]*?\s(?-i:-F|--form|-d|--data(?:-\w+)?|-T|--upload-file)\s*['\x22]?(?:[\w.-]+=)?@?[^\s'\x22]*@|\bcurl\b[^\n]*?\s(?-i:-T|--upload-file)\s+\S|\bwget\b[^\n]*?--(?:post-file|body-file)",
    },
    Pattern {
        signal: SEND_FILE,
        needs: &[],
        cues: &["files="],
        regex: r"\b(?:requests|httpx|session)\.(?:post|put)\s?\([^\n]*?\bfiles\s*=",
    },
    Pattern {
        signal: SEND_FILE,
        needs: &[],
        cues: &["scp ", "rsync "],
        regex: r"(?:^|[\s`;&|])(?:scp|rsync)\s+[^\n]*?\s[\w.-]+@[\w.-]+:",
    },
    Pattern {
        signal: DNS_LEAK,
        needs: &[],
        cues: &[
            "nslookup",
            "dig ",
            "host ",
            "ping ",
            "gethostbyname",
            "dns.resolve",
            "resolve-dnsname",
            "dns.lookup",
        ],
        regex: r"(?:^|[^-\w])(?:nslookup|dig|host|ping|resolve-dnsname)\b[^\n]*?(?:\$\(|\$\{?\w+\}?\.|`[^`\n]+`\.)[^\n]*?\.[a-z]{2,}|\b(?:gethostbyname|getaddrinfo|dns\.(?:resolve|lookup)\w*)\s?\(\s*(?:f['\x22][^'\x22\n]*\{[^'\x22\n]*\}|`[^`\n]*\$\{[^`\n]*\}|\w+\s*\+\s*['\x22]\.)",
    },
    // In words
    Pattern {
        signal: SEND_ORDER,
        needs: &[],
        cues: &[
            "send",
            "upload",
            "post",
            "forward",
            "transmit",
            "exfiltrat",
            "submit",
            "deliver",
            "relay",
            "stream",
            "beacon",
            "phone",
            "mirror",
        ],
        regex: r"\b(?:send|upload|post|forward|transmit|exfiltrate|submit|deliver|relay|stream|beacon|phone|mirror)(?:s|ed|ing)?\b.*?\b(?:to|via|at|through|with)\b.*?(?:https?://|\b(?:servers?|endpoints?|collectors?|webhooks?|urls?|address(?:es)?|hosts?|remote|api|bots?|channels?|e-?mail|drives?|buckets?|domains?)\b)",
    },
];
