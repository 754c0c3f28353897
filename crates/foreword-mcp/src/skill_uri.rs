//! Addresses of skills: `foreword://skills/NAME`.

use std::fmt::Write as _;

/// The form of all of them.
pub(crate) const TEMPLATE: &str = "foreword://skills/{name}";
const BEFORE: &str = "foreword://skills/";

/// The address of a skill.
pub(crate) fn skill_uri(name: &str) -> String {
    let mut uri = BEFORE.to_owned();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// The skill an address names; nothing if it is no such address.
pub(crate) fn skill_of(uri: &str) -> Option<String> {
    let mut rest = uri.strip_prefix(BEFORE)?.bytes();
    let mut name = Vec::new();
    while let Some(byte) = rest.next() {
        name.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let value = digit(rest.next()?)? * 16 + digit(rest.next()?)?;
                u8::try_from(value).ok()?
            }
            b'/' | b'?' | b'#' => return None,
            byte => byte,
        });
    }
    String::from_utf8(name).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for name in ["deploy-checklist", "größe", "a b", "50%", "a/b?c#d"] {
            assert_eq!(skill_of(&skill_uri(name)).as_deref(), Some(name));
        }
        assert_eq!(skill_uri("a b"), "foreword://skills/a%20b");
    }

    #[test]
    fn other_addresses_name_no_skill() {
        for uri in [
            "",
            "foreword://skills/",
            "foreword://skills/a/b",
            "foreword://skills/a?b",
            "foreword://skills/%",
            "foreword://skills/%2",
            "foreword://skills/%zz",
            "foreword://skills/%ff",
            "foreword://agents/a",
            "file:///skills/a",
        ] {
            assert_eq!(skill_of(uri), None, "{uri}");
        }
    }
}
