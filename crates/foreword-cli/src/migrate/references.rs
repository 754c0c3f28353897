//! References to files in a line of prose: `@path` of Claude Code and `[x](mdc:path)` of Cursor.

/// How a link of Cursor to a file of the project begins.
pub(super) const MDC_LINK: &str = "](mdc:";

/// `docs/a.md` of `docs/a.md#section`.
pub(super) fn without_section(path: &str) -> &str {
    path.split_once('#').map_or(path, |(path, _)| path)
}

/// The fence that a line opens.
pub(super) fn fence_of(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let info = line.trim_start_matches(mark);
    (length >= 3 && !(mark == '`' && info.contains('`'))).then(|| mark.to_string().repeat(length))
}

/// The references in a line, without those in code spans. An address with `@` in it is none.
pub(super) fn references(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').step_by(2).flat_map(|prose| {
        prose.match_indices('@').filter_map(|(at, _)| {
            let before = prose.get(..at)?.chars().next_back();
            let free = before.is_none_or(|c| c.is_whitespace() || "([\"'".contains(c));
            let rest = prose.get(at + 1..)?;
            let end = rest.find(|c: char| "\"'<>[](){}".contains(c)).unwrap_or(rest.len());
            let end = end.min(name_length(rest));
            rest.get(..end).filter(|name| free && !name.is_empty())
        })
    })
}

/// The files that links of Cursor in a line lead to: `[x](mdc:docs/a.md)`.
pub(super) fn mdc_links(line: &str) -> impl Iterator<Item = &str> {
    line.split(MDC_LINK).skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once(')')?;
        Some(name.trim().trim_start_matches('/')).filter(|name| !name.is_empty())
    })
}

/// The length of the path that a text begins with: to the first blank without a backslash before it.
pub(super) fn name_length(text: &str) -> usize {
    let is_end = |(at, c): &(usize, char)| {
        let before = text.get(..*at).unwrap_or_default();
        c.is_whitespace() && !(*c == ' ' && before.ends_with('\\'))
    };
    text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at)
}

/// A path whose blanks are written with a backslash.
pub(super) fn unescaped(name: &str) -> String {
    name.replace("\\ ", " ")
}

/// A path below the project, from the directory of the file that names it.
pub(super) fn resolve(directory: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
