//! Secrets are replaced, and what only looks a little like one is left alone.

use foreword_guard::{MAX_REPORTED_SECRETS, SecretKind, redact, redact_with};

/// Letters and digits that look random and are nobody's; so no scanner of repositories minds them.
fn noise(length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 88_172_645_463_325_252u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        alphabet[usize::try_from(state % alphabet.len() as u64).unwrap()]
    };
    (0..length).map(|_| next()).collect()
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn keys() -> Vec<(SecretKind, String)> {
    use SecretKind as Kind;
    let alnum = |length| noise(length, ALNUM);
    vec![
        (Kind::Anthropic, format!("sk-ant-api03-{}-{}AA", noise(40, URL), alnum(42))),
        (Kind::Anthropic, format!("sk-ant-oat01-{}", alnum(80))),
        (Kind::OpenAi, format!("sk-{}", alnum(48))),
        (Kind::OpenAi, format!("sk-proj-{}", noise(120, URL))),
        (Kind::OpenRouter, format!("sk-or-v1-{}", noise(64, HEX))),
        (Kind::AwsKeyId, format!("AKIA{}", noise(16, UPPER))),
        (Kind::AwsKeyId, format!("ASIA{}", noise(16, UPPER))),
        (Kind::GitHub, format!("ghp_{}", alnum(36))),
        (Kind::GitHub, format!("gho_{}", alnum(36))),
        (Kind::GitHub, format!("ghs_{}", alnum(36))),
        (Kind::GitHub, format!("ghu_{}", alnum(36))),
        (Kind::GitHub, format!("github_pat_{}_{}", alnum(22), alnum(59))),
        (Kind::GitLab, format!("glpat-{}", alnum(20))),
        (
            Kind::Slack,
            format!("xoxb-{}-{}-{}", noise(12, "123456789"), noise(12, "123456789"), alnum(24)),
        ),
        (Kind::Slack, format!("xoxp-{}-{}", noise(12, "123456789"), noise(32, HEX))),
        (Kind::Google, format!("AIza{}", noise(35, URL))),
        (Kind::Stripe, format!("sk_live_{}", alnum(24))),
        (Kind::Stripe, format!("rk_live_{}", alnum(24))),
        (Kind::Npm, format!("npm_{}", alnum(36))),
        (Kind::PyPi, format!("pypi-AgEIcHlwaS5vcmc{}", noise(120, URL))),
        (Kind::HuggingFace, format!("hf_{}", alnum(34))),
        (Kind::SendGrid, format!("SG.{}.{}", alnum(22), alnum(43))),
        (Kind::Twilio, format!("SK{}", noise(32, HEX))),
        (Kind::Jwt, format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", alnum(40), noise(43, URL))),
    ]
}

#[test]
fn every_format_is_replaced_whole() {
    for (kind, key) in keys() {
        for (before, after) in [
            ("", ""),
            ("The key is ", "."),
            ("KEY=", "\nnext"),
            ("{\"key\": \"", "\"}"),
            ("`", "`"),
            ("https://x.test/?k=", "&y=1"),
            ("line\\n", "\\nline"),
            ("ключ:", "。"),
        ] {
            let text = format!("{before}{key}{after}");
            let redacted = redact(&text);
            assert_eq!(redacted.text, format!("{before}[redacted: {kind}]{after}"), "{text}");
            assert_eq!(redacted.found.len(), 1);
            assert_eq!(redacted.found[0].kind, kind);
            assert_eq!(&text[redacted.found[0].range.clone()], key);
            assert_eq!(redact(&redacted.text).text, redacted.text, "a note is no secret");
        }
    }
}

#[test]
fn values_are_replaced_where_their_names_say_what_they_are() {
    let secret = noise(40, ALNUM);
    let token = noise(30, ALNUM);
    let auth = noise(32, HEX);
    for (text, kind, value) in [
        (format!("aws_secret_access_key = {secret}\n"), "aws secret", &secret),
        (format!("AWS_SECRET_ACCESS_KEY=\"{secret}\""), "aws secret", &secret),
        (format!("{{\"SecretAccessKey\": \"{secret}\"}}"), "aws secret", &secret),
        (format!("Authorization: Bearer {token}\r\n"), "authorization", &token),
        (format!("-H 'authorization: bearer {token}'"), "authorization", &token),
        (format!("\"Authorization\": \"Basic {token}==\""), "authorization", &format!("{token}==")),
        (format!("x-api-key: {token}"), "authorization", &token),
        (format!("TWILIO_AUTH_TOKEN={auth}"), "twilio key", &auth),
        (
            "postgres://ada:tr0ub4dor&3@db.test:5432/x".to_owned(),
            "password",
            &"tr0ub4dor&3".to_owned(),
        ),
        ("redis://:hunter2@cache/0".to_owned(), "password", &"hunter2".to_owned()),
        ("amqp+ssl://u:пароль@mq/".to_owned(), "password", &"пароль".to_owned()),
        (
            "Server=db;User Id=sa;Password=S3cr€t!;Encrypt=yes".to_owned(),
            "password",
            &"S3cr€t!".to_owned(),
        ),
    ] {
        let redacted = redact(&text);
        assert_eq!(redacted.text, text.replace(value.as_str(), &format!("[redacted: {kind}]")));
        assert_eq!(redact(&redacted.text).text, redacted.text, "a note is no secret");
    }
}

fn pem(label: &str, lines: usize, line_break: &str) -> String {
    let mut out = vec![format!("-----BEGIN {label}-----")];
    out.extend((0..lines).map(|_| noise(64, ALNUM)));
    out.push("QyE5Kw==".to_owned());
    out.push(format!("-----END {label}-----"));
    out.join(line_break)
}

#[test]
fn private_keys_are_replaced_from_the_first_line_to_the_last() {
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    {
        for line_break in ["\n", "\r\n", "\\n", "\n> ", "\n    ", " "] {
            let text = format!("See:\n{}\nDone.", pem(label, 24, line_break));
            assert_eq!(redact(&text).text, "See:\n[redacted: private key]\nDone.", "{text}");
        }
    }
    let fields = pem("RSA PRIVATE KEY", 3, "\n").replacen(
        "-----\n",
        "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344\n\n",
        1,
    );
    assert_eq!(redact(&fields).text, "[redacted: private key]");
    let long = pem("PRIVATE KEY", 3_000, "\n");
    let redacted = redact(&long);
    assert_eq!(redacted.text, "[redacted: private key]");
    assert_eq!(redacted.found[0].range, 0..long.len());
}

#[test]
fn a_private_key_without_an_end_takes_no_prose_with_it() {
    let data = noise(64, ALNUM);
    let open = format!("-----BEGIN PRIVATE KEY-----\n{data}\n{data}\n");
    assert_eq!(
        redact(&format!("{open}\nThat was the key.")).text,
        "[redacted: private key]\n\nThat was the key."
    );
    assert_eq!(redact(&format!("{open}QyE5K")).text, "[redacted: private key]");
    for harmless in [
        "A file that starts with `-----BEGIN RSA PRIVATE KEY-----` must not be committed.",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQG\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n-----END PUBLIC KEY-----",
    ] {
        assert_eq!(redact(harmless).text, harmless);
    }
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let image =
        format!("data:image/png;base64,iVBORw0KGgo{}", noise(20_000, &format!("{ALNUM}+/")));
    let modules = noise(4_000, URL);
    for harmless in [
        "3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "d41d8cd98f00b204e9800998ecf8427e e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "sk-ant-... or sk-ant-YOUR-KEY-GOES-RIGHT-HERE-please",
        "export OPENAI_API_KEY=sk-your-key-here",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Bearer <token>",
        "Authorization: Bearer $GITHUB_TOKEN",
        "Authorization: Bearer YOUR_API_TOKEN_HERE",
        "The authorization token endpoint is described below; basic authentication is not.",
        "postgres://ada@db.test/x and https://example.test:8080/a@b and git@github.com:ada/x.git",
        "postgres://user:$PASSWORD@db and postgres://user:<password>@db and http://{user}:{pass}@h",
        "npm_config_registry npm_lifecycle_event hf_hub_download hf_transfer",
        "a task-force, a risk-free ask-me-anything, sk-fading-circle sk-cube-grid",
        "AKIA is a prefix. SKILL.md and SKIP. SG.1 eyJ xoxb- AIza ya29",
        "eyJhbGciOiJIUzI1NiJ9 is the header alone.",
        "const TOKEN_LENGTH: usize = 36; // ghp_ and its kin",
        "https://registry.example.test/pypi-simple-index/packages-2024",
        "漢字 и кириллица: пароль, ключ; emoji 👩‍🚀",
        "::: warning\n:// and ://x and a://b:c/d",
        &image,
        &modules,
    ] {
        assert_eq!(redact(harmless).text, harmless);
    }
}

#[test]
fn given_secrets_are_replaced_wherever_they_stand() {
    let given = ["correct horse", "correct horse battery", "short", "ключ-секрет"];
    let text = "xcorrect horse batteryx correct horse short ключ-секреты";
    assert_eq!(
        redact_with(text, &given).text,
        "x[redacted: credential]x [redacted: credential] short [redacted: credential]ы"
    );
    assert_eq!(redact_with("correct horse batt", &given).text, "[redacted: credential] batt");
}

#[test]
fn all_are_replaced_and_not_all_are_named() {
    let key = format!("ghp_{} ", noise(36, ALNUM));
    let redacted = redact(&key.repeat(MAX_REPORTED_SECRETS + 5));
    assert_eq!(redacted.found.len(), MAX_REPORTED_SECRETS);
    assert_eq!(redacted.text, "[redacted: github token] ".repeat(MAX_REPORTED_SECRETS + 5));
}

/// Starts of secrets, again and again, cost no more than other text.
#[test]
fn starts_without_an_end_take_linear_time() {
    for piece in [
        "eyJ",
        "eyJ.",
        "-----BEGIN ",
        "sk-",
        "://",
        "://a:",
        "authorization: bearer ",
        "sk-ant-sk-ant-",
        "aws_secret_access_key=",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        let start = std::time::Instant::now();
        let _ = redact(&text);
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{piece}: {took:?}");
    }
}

#[test]
fn a_given_secret_before_another_one_is_replaced_too() {
    let given = ["hunter2-hunter2"];
    for (text, shown) in [
        (
            "https://hunter2-hunter2:correcthorse@db.test/x",
            "https://[redacted: credential]:[redacted: password]@db.test/x",
        ),
        ("https://anna:correcthorse@db.test", "https://anna:[redacted: password]@db.test"),
    ] {
        assert_eq!(redact_with(text, &given).text, shown);
    }
    let over =
        redact_with("https://xhunter2-hunter2:correcthorse@db.test", &["hunter2-hunter2:correct"]);
    assert!(!over.text.contains("hunter2") && !over.text.contains("horse"), "{}", over.text);
}
