//! Texts with places to fill: `"%s" % x`, `"{}".format(x)`, `'{0}' -f x`, `sprintf("%s", x)`.

use std::sync::Arc;

use crate::screen::code::value::Value;

/// Places that are filled in one text.
const MAX_PLACES: usize = 32;

/// A template with its places filled, as far as that can be told.
pub(in crate::screen::code) fn filled(
    template: &Value,
    args: &[Value],
    named: &[(Arc<str>, Value)],
) -> Value {
    let args = match args {
        // `"%s %s" % (a, b)`
        [one] if one.items.is_some() && one.text.is_none() => {
            one.items.as_ref().map(|items| items.to_vec()).unwrap_or_default()
        }
        args => args.to_vec(),
    };
    let Some(text) = template.as_text() else {
        let mut out = Value::marked(template.all_marks());
        for arg in args.iter().chain(named.iter().map(|(_, value)| value)) {
            out.marks.add(&arg.all_marks());
        }
        return out;
    };
    let by_name = |name: &str| {
        let given = named.iter().find(|(key, _)| key.as_ref() == name).map(|(_, value)| value);
        given.or_else(|| args.iter().find_map(|arg| arg.field(name)))
    };
    let mut parts = Vec::new();
    let (mut rest, mut next) = (text, 0);
    while let Some(at) = rest.find(['%', '{']).filter(|_| parts.len() < MAX_PLACES) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let place = if from.starts_with('%') { percent(from) } else { braces(from) };
        let Some((name, length)) = place else {
            // Two stand for one.
            let doubled = from.starts_with("%%") || from.starts_with("{{");
            parts.push(Value::text(format!("{before}{}", from.get(..1).unwrap_or_default())));
            rest = from.get(1 + usize::from(doubled)..).unwrap_or_default();
            continue;
        };
        parts.push(Value::text(before));
        let value = match name.parse::<usize>() {
            Ok(place) => args.get(place),
            Err(_) if name.is_empty() => {
                next += 1;
                args.get(next - 1)
            }
            Err(_) => by_name(name),
        };
        parts.push(value.cloned().unwrap_or_default());
        rest = from.get(length..).unwrap_or_default();
    }
    parts.push(Value::text(rest));
    let mut out = Value::joined(&parts, "");
    out.disguised |= template.disguised;
    out.marks.add(&template.marks);
    // What found no place is not lost.
    for arg in args.iter().chain(named.iter().map(|(_, value)| value)) {
        out.marks.add(&arg.all_marks());
    }
    out
}

/// `%s`, `%-10d`, `%(name)s`: the name of the place, and its length.
fn percent(from: &str) -> Option<(&str, usize)> {
    let inner = from.get(1..)?;
    let (name, after) = match inner.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((name, _)) => (name, name.len() + 3),
        None => ("", 1),
    };
    let flags = from.get(after..)?;
    let end = flags.bytes().take(12).position(|b| b.is_ascii_alphabetic())?;
    let plain = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'#');
    let is_place = flags.bytes().take(end).all(plain);
    is_place.then_some((name, after + end + 1))
}

/// `{}`, `{0}`, `{name}`, `{0:x}`: the name of the place, and its length.
fn braces(from: &str) -> Option<(&str, usize)> {
    let end = from.bytes().take(48).position(|byte| byte == b'}')?;
    let inner = from.get(1..end)?;
    let name = inner.split([':', '!', '.', '[']).next().unwrap_or_default();
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (plain && !inner.contains('"')).then_some((name, end + 1))
}
