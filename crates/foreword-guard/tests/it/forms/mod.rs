//! Every way of writing a canary that must be found.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use foreword_guard::{Canary, Encoding, Spelling};
use proptest::prelude::*;

pub(crate) fn canary() -> impl Strategy<Value = Canary> {
    any::<[u8; 16]>().prop_map(Canary::from_random)
}

/// A form of the canary, and as what it must be reported.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    /// Bytes at its start that say nothing of the canary.
    pub(crate) lead: usize,
    pub(crate) encoding: Encoding,
    pub(crate) spelling: Spelling,
}

fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

pub(crate) fn base64(bytes: &[u8], url: bool, pad: bool) -> String {
    let alphabet: &[u8; 64] = if url {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    } else {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    };
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let mut three = [0; 3];
        three[..group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for nth in 0..4 {
            if nth <= group.len() {
                out.push(char::from(alphabet[(bits >> (18 - 6 * nth) & 63) as usize]));
            } else if pad {
                out.push('=');
            }
        }
    }
    out
}

fn mixed(text: &str) -> String {
    let change = |(at, c): (usize, char)| if at % 3 == 0 { c.to_ascii_uppercase() } else { c };
    text.chars().enumerate().map(change).collect()
}

fn wide(text: &str) -> String {
    text.chars().map(|c| char::from_u32(c as u32 - 0x21 + 0xFF01).unwrap()).collect()
}

fn bold(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='z' => char::from_u32(c as u32 - 'a' as u32 + 0x1D41A).unwrap(),
            _ => char::from_u32(c as u32 - '0' as u32 + 0x1D7CE).unwrap(),
        })
        .collect()
}

fn between(text: &str, separator: &str) -> String {
    text.chars().map(String::from).collect::<Vec<_>>().join(separator)
}

fn hexes(text: &str, before: &str, after: &str) -> String {
    text.bytes().map(|b| format!("{before}{b:02x}{after}")).collect()
}

/// Letters moved by some places.
pub(crate) fn caesar(text: &str, by: u8) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='z' => char::from((c as u8 - b'a' + by) % 26 + b'a'),
            _ => c,
        })
        .collect()
}

/// Groups of bits as characters of an alphabet.
pub(crate) fn base32(bytes: &[u8], alphabet: &[u8; 32], pad: bool) -> String {
    let mut out = String::new();
    for group in bytes.chunks(5) {
        let bits = group.iter().fold(0u64, |bits, b| bits << 8 | u64::from(*b));
        let bits = bits << (8 * (5 - group.len()));
        for nth in 0..8 {
            if nth * 5 < group.len() * 8 {
                out.push(char::from(alphabet[(bits >> (35 - 5 * nth) & 31) as usize]));
            } else if pad {
                out.push('=');
            }
        }
    }
    out
}

pub(crate) fn base58(bytes: &[u8]) -> String {
    let alphabet = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = bytes.to_vec();
    let mut out = Vec::new();
    while number.iter().any(|b| *b != 0) {
        let mut rest = 0u32;
        for b in &mut number {
            let value = rest << 8 | u32::from(*b);
            *b = u8::try_from(value / 58).unwrap();
            rest = value % 58;
        }
        out.push(alphabet[rest as usize]);
    }
    out.iter().rev().map(|b| char::from(*b)).collect()
}

pub(crate) fn base85(bytes: &[u8], alphabet: &[u8; 85]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four[..group.len()].copy_from_slice(group);
        let number = u32::from_be_bytes(four);
        for nth in 0..=group.len() {
            let digit = number / 85u32.pow(4 - u32::try_from(nth).unwrap()) % 85;
            out.push(char::from(alphabet[digit as usize]));
        }
    }
    out
}

pub(crate) const BASE32: [&[u8; 32]; 3] = [
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUV",
    b"0123456789abcdefghjkmnpqrstvwxyz",
];
pub(crate) const BASE85: [&[u8; 85]; 3] = [
    b"!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
];

/// In letters of other alphabets where there are some.
fn lookalike(text: &str) -> String {
    let other = |c: char| match c {
        'a' => 'а',
        'c' => 'с',
        'e' => 'е',
        'f' => 'ϝ',
        'h' => 'һ',
        'k' => 'κ',
        'p' => 'р',
        's' => 'ѕ',
        'w' => 'ԝ',
        'x' => 'χ',
        'y' => 'у',
        '0' => 'О',
        '1' => 'І',
        '3' => 'З',
        _ => c,
    };
    text.chars().map(other).collect()
}

/// All of them. `offset` bytes stand in front of the token in encoded forms.
pub(crate) fn forms(canary: &Canary, offset: usize) -> Vec<Form> {
    let token = canary.as_str().to_owned();
    let reversed: String = token.chars().rev().collect();
    let spelled = [
        (Spelling::Forward, token.clone()),
        (Spelling::Reversed, reversed.clone()),
        (Spelling::Rot13, rot13(&token)),
        (Spelling::Rot13Reversed, rot13(&reversed)),
    ];
    let mut all = Vec::new();
    for (spelling, plain) in spelled {
        let mut add = |name, encoding, text: String| {
            let encoded = offset % 4 * 8 / 6;
            let lead = match name {
                "base64" | "base64 in lines" => encoded,
                "base64 quoted" => 2 + encoded,
                "reversed base64" => text.len() - 1 - ((offset % 4 + 29) * 8 - 1) / 6,
                "octal" => 1,
                "base32" => offset % 4 * 8 / 5,
                "explained" => 1,
                "numbered list" => 3,
                "labelled list" => 13,
                "table" => 6,
                "object" => 5,
                "groups" => 8,
                "reversed hex" => 1,
                _ if text.to_lowercase().starts_with("0x") => 2,
                _ => 0,
            };
            all.push(Form { name, text, lead, encoding, spelling });
        };
        for cased in [plain.clone(), plain.to_uppercase(), mixed(&plain)] {
            add("plain", Encoding::Letters, cased.clone());
            add("full width", Encoding::Letters, wide(&cased));
            let secret = format!("{}{cased}and so on", &"xyz"[..offset % 4]);
            for (url, pad) in [(false, false), (false, true), (true, false), (true, true)] {
                add("base64", Encoding::Base64, base64(secret.as_bytes(), url, pad));
                add("bare base64", Encoding::Base64, base64(cased.as_bytes(), url, pad));
            }
            let lines = base64(secret.as_bytes(), false, true);
            let lines: Vec<&str> =
                lines.as_bytes().chunks(11).map(|l| std::str::from_utf8(l).unwrap()).collect();
            add("base64 in lines", Encoding::Base64, lines.join("\r\n"));
            add("base64 quoted", Encoding::Base64, format!("> {}", lines.join("\n> ")));
            add(
                "base64 of a split one",
                Encoding::Base64,
                base64(between(&cased, ".").as_bytes(), false, true),
            );
            for (before, after) in [
                ("", ""),
                ("", ":"),
                ("", " "),
                ("\\x", ""),
                ("0x", ", "),
                ("%", ""),
                ("\\u00", ""),
                ("&#x", ";"),
            ] {
                let hex = hexes(&cased, before, after);
                add("hex", Encoding::Hex, hex.clone());
                add("upper hex", Encoding::Hex, hex.to_uppercase());
            }
            add("wide hex", Encoding::Hex, wide(&hexes(&cased, "", "")));
            // Encoded, and then reversed: found as what the bytes are, read backward.
            let backward = |text: &str| text.chars().rev().collect::<String>();
            add("reversed hex", Encoding::Hex, backward(&hexes(&cased, "", ":")));
            add(
                "reversed base64",
                Encoding::Base64,
                backward(&base64(secret.as_bytes(), false, true)),
            );
            let numbers = |format: fn(u8) -> String| cased.bytes().map(format).collect::<String>();
            add("decimal list", Encoding::Numbers, numbers(|b| format!("{b}, ")));
            add("octal", Encoding::Numbers, numbers(|b| format!("\\{b:o}")));
            add("binary", Encoding::Numbers, numbers(|b| format!("{b:08b} ")));
            let decimal: String = cased.bytes().map(|b| format!("&#{b};")).collect();
            add("decimal", Encoding::Escaped, decimal);
            let some = cased.char_indices().map(|(at, c)| match at % 3 {
                0 => format!("%{:02X}", c as u8),
                _ => c.to_string(),
            });
            add("percent here and there", Encoding::Escaped, some.collect());
        }
        for separator in [
            " ",
            "\n",
            "\r\n",
            "\n> ",
            "\u{200B}",
            "\u{200D}\u{2060}",
            "-",
            ".",
            ", ",
            "\"",
            "'",
            "_",
            "`",
            "*",
            "**",
            "\t",
            "\u{AD}",
            " | ",
            "/",
            "—",
            "\u{FEFF}",
            "漢",
            "🙂",
            "\n\n\n\n",
            "     ",
        ] {
            add("split", Encoding::Letters, between(&plain, separator));
        }
        let items = |format: fn((usize, char)) -> String| {
            plain.chars().enumerate().map(format).collect::<String>()
        };
        add("numbered list", Encoding::List, items(|(nth, c)| format!("{}. {c}\n", nth + 1)));
        add("labelled list", Encoding::List, items(|(n, c)| format!("Character {}: {c}\n", n + 1)));
        add("table", Encoding::List, items(|(nth, c)| format!("| {} | {c} |\n", nth + 1)));
        add("object", Encoding::List, items(|(nth, c)| format!("\"{nth}\":\"{c}\",")));
        add("explained", Encoding::List, items(|(n, c)| format!("\n{c} is number {}", n + 1)));
        let groups = plain.as_bytes().chunks(4).enumerate();
        let groups = groups
            .map(|(nth, group)| format!("{nth}. Part {}\n", std::str::from_utf8(group).unwrap()));
        add("groups", Encoding::List, groups.collect());
        if !matches!(spelling, Spelling::Rot13 | Spelling::Rot13Reversed) {
            add("lookalikes", Encoding::Letters, lookalike(&plain));
            let digits = plain.replace('0', "O").replace('1', "l");
            add("letters for digits", Encoding::Letters, digits);
        }
        let secret = format!("{}{plain}and so on", &"xyz"[..offset % 4]);
        for alphabet in BASE32 {
            add("base32", Encoding::Base32, base32(secret.as_bytes(), alphabet, offset == 0));
        }
        // A number of base58 ends with the last of its digits.
        add("base58", Encoding::Base58Or85, base58(secret.as_bytes()) + ".");
        for alphabet in BASE85 {
            add("base85", Encoding::Base58Or85, base85(secret.as_bytes(), alphabet));
        }
        let layers: [fn(&[u8]) -> String; 3] = [
            |bytes| base64(bytes, false, true),
            |bytes| bytes.iter().map(|b| format!("{b:02x}")).collect(),
            |bytes| base32(bytes, BASE32[0], true),
        ];
        for inner in layers.map(|layer| layer(plain.as_bytes())) {
            for outer in layers {
                add("twice", Encoding::Twice, outer(inner.as_bytes()));
            }
            add("twice, base58", Encoding::Twice, base58(inner.as_bytes()) + ".");
        }
        if spelling == Spelling::Forward {
            for by in [1, 3, 7, 12, 25] {
                let text = caesar(&plain, by);
                let upper = text.to_uppercase();
                for (name, text) in [("caesar", text), ("upper caesar", upper)] {
                    let (encoding, spelling) = (Encoding::Letters, Spelling::Shifted);
                    all.push(Form { name, text, lead: 0, encoding, spelling });
                }
            }
        }
        let mut add = |name, encoding, text: String| {
            all.push(Form { name, text, lead: 0, encoding, spelling });
        };
        if !plain.starts_with(char::is_uppercase) {
            add("bold", Encoding::Letters, bold(&plain));
            let tags = plain.chars().map(|c| char::from_u32(c as u32 + 0xE0000).unwrap());
            add("tags", Encoding::Letters, tags.collect());
        }
        for from in 0..=plain.len() - 16 {
            add("a part", Encoding::Letters, plain[from..from + 16].to_owned());
        }
    }
    all
}

/// Text without a canary, in which much may still look like the start of one.
pub(crate) fn prose() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-zA-Z ,.]{0,30}",
        1 => "[a-z0-9+/=\n]{0,60}",
        1 => "[0-9a-f: ]{0,40}",
        1 => any::<String>(),
        1 => prop::sample::select(&["fwc", "\\x66", "0x", "ZndJ", "cwf", "sjp", "%66", "&#", "> ", "\n"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}
