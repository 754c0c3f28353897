//! Logins that accept one more password than the user's: a constant beside the check.

/// The line on which a program accepts a password or a digest that stands in it, as an alternative to
/// the check that it makes.
pub(crate) fn accepted_constant(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    if !["password", "passwd", "login"].iter().any(|word| lower.contains(word)) {
        return None;
    }
    let mut above = "";
    for (number, line) in (1..).zip(lower.lines()) {
        let line = line.trim();
        let either = [above, line].iter().any(|l| l.contains("||") || l.contains(" or "));
        if either && line.len() < 400 && compares_with_constant(line) {
            return Some(number);
        }
        above = line;
    }
    None
}

/// `… || digest === '<64 digits>'`, `or password == "…"`.
fn compares_with_constant(line: &str) -> bool {
    line.match_indices("==").any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default().trim_end_matches(['=', ' ', '!']);
        let after = line.get(at..).unwrap_or_default().trim_start_matches(['=', ' ']);
        let differs = line.get(..at).is_some_and(|t| t.ends_with('!'));
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return false;
        };
        let constant = after.get(1..).and_then(|rest| rest.split(quote).next()).unwrap_or_default();
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        let name = name.unwrap_or_default();
        let is_digest = matches!(constant.len(), 32 | 40 | 64 | 128)
            && constant.bytes().all(|b| b.is_ascii_hexdigit());
        let is_password = matches!(name, "password" | "passwd" | "pw" | "pwd" | "pass")
            && constant.len() >= 8
            && constant.bytes().any(|b| b.is_ascii_digit());
        let accepted = before.contains("||") || before.contains(" or ") || line.starts_with(name);
        !differs && accepted && (is_digest || is_password)
    })
}
