//! Makes a name fit: what people call their skills, as a name that can be written.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::format::name::{MAX_NAME_CHARS, SkillName};

/// The name that is nearest to `given`, else to the name of its folder, else made of a digest of its
/// text. Always the same for the same skill.
pub(crate) fn fit_name(given: Option<&str>, folder: &str, text: &[u8]) -> Option<SkillName> {
    let digest = || format!("skill-{}", blake3::hash(text).to_hex().get(..8).unwrap_or_default());
    let candidates = [given.unwrap_or_default().to_owned(), folder.to_owned(), digest()];
    candidates.iter().find_map(|name| {
        let plain = plain(name);
        SkillName::new(&plain).or_else(|_| SkillName::new(&format!("{plain}-skill"))).ok()
    })
}

/// Another name for a skill whose name another one of the same import has.
pub(crate) fn numbered(name: &SkillName, number: usize) -> Option<SkillName> {
    let suffix = format!("-{number}");
    let kept: String = name.as_str().chars().take(MAX_NAME_CHARS - suffix.len()).collect();
    SkillName::new(&format!("{}{suffix}", kept.trim_end_matches('-'))).ok()
}

/// Lower case, without accents, and with a hyphen for everything else.
fn plain(name: &str) -> String {
    let mut out = String::new();
    let letters = name.trim().chars().take(4 * MAX_NAME_CHARS).nfkd();
    for c in letters.filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() == MAX_NAME_CHARS {
            break;
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_to_fit() {
        for (given, folder, expected) in [
            (Some("Tea_Time"), "x", "tea-time"),
            (Some("  Better Polymarket!  "), "x", "better-polymarket"),
            (Some("Caf\u{e9} \u{2014} d\u{e9}j\u{e0} vu"), "x", "cafe-deja-vu"),
            (Some("\u{8336}"), "Tea Room", "tea-room"),
            (Some("con"), "x", "con-skill"),
            (Some("../../etc"), "x", "etc"),
            (None, "MySkill", "myskill"),
            (Some("ok-name"), "x", "ok-name"),
        ] {
            let name = fit_name(given, folder, b"t").unwrap();
            assert_eq!(name.as_str(), expected, "{given:?}");
        }
        let made = fit_name(Some("\u{8336}"), "\u{8336}", b"t").unwrap();
        assert!(made.as_str().starts_with("skill-") && made.as_str().len() == 14, "{made}");
        let long = fit_name(Some(&"a b".repeat(60)), "x", b"t").unwrap();
        assert!(long.as_str().len() <= MAX_NAME_CHARS);
        let second = numbered(&long, 2).unwrap();
        assert!(second.as_str().ends_with("-2") && second.as_str().len() <= MAX_NAME_CHARS);
    }
}
