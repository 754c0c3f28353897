//! What the table and the tree draw: bars, colours and boundaries.

use foreword::{Authority, Manifest};
use foreword_page::{grouped, percent};

/// The longest bar, in characters.
pub(super) const LONGEST_BAR: u32 = 16;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar for a section, of at most `longest` characters, in proportion to the largest one; never empty, so that no section is overlooked.
pub(super) fn bar(tokens: u32, largest: u32, longest: u32) -> String {
    let eighths = u64::from(tokens) * u64::from(longest) * 8 / u64::from(largest.max(1));
    let eighths = usize::try_from(eighths).unwrap_or(usize::MAX).clamp(1, longest as usize * 8);
    let mut out = "█".repeat(eighths / 8);
    out.push_str(EIGHTHS.get(eighths % 8).copied().unwrap_or_default());
    out
}

/// The terminal colour of an authority; untrusted text is red.
pub(super) fn colour(authority: Authority) -> &'static str {
    match authority {
        Authority::Constitution => "35",
        Authority::Operator => "34",
        Authority::User => "32",
        Authority::Runtime => "36",
        Authority::Skill => "33",
        Authority::Reference => "31",
    }
}

/// A place between two sections: how many stand above it, and what it is.
pub(super) struct Boundary {
    pub(super) above: usize,
    pub(super) label: String,
}

/// Where the cache prefix ends and where the turn context starts.
pub(super) fn boundaries(manifest: &Manifest<'_>) -> Vec<Boundary> {
    let tokens = manifest.cached_tokens();
    let total = u64::from(manifest.metadata.estimated_tokens);
    let mut out = vec![Boundary {
        above: manifest.cached_sections(),
        label: format!(
            "cache prefix ends here: {} tokens ({}), {} bytes",
            grouped(tokens),
            percent(tokens, total),
            grouped(manifest.stable_prefix_bytes as u64)
        ),
    }];
    if !manifest.turn_context.is_empty() {
        out.push(Boundary {
            above: manifest.system_sections(),
            label: "turn context starts here: sent in front of the newest user message".to_owned(),
        });
    }
    out.sort_by_key(|boundary| boundary.above);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_never_empty() {
        assert_eq!(bar(100, 100, 16), "█".repeat(16));
        assert_eq!(bar(50, 100, 16), "█".repeat(8));
        assert_eq!([bar(0, 100, 16), bar(1, 100_000, 16), bar(0, 0, 16)], ["▏", "▏", "▏"]);
        assert_eq!(bar(3, 32, 16), "█▌");
        assert_eq!(bar(u32::MAX, 1, 16).chars().count(), 16);
    }
}
