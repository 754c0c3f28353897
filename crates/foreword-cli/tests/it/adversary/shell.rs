//! Shell scripts of the agent: names that are hard to quote, and the ways to write a file.

use super::random::Random;

/// A word for bash, whatever is in it. A text with `\xFF` written out stays that byte.
pub(super) fn quoted(word: &str) -> String {
    let mut out = String::from("$'");
    for c in word.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A private character stands for a byte that is no text.
            '\u{E0FF}' => out.push_str("\\xff"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Directories that an attacker may choose, from plain to hard to name.
const DIRECTORIES: [&str; 18] = [
    "",
    "sub/",
    "src/",
    "a b/",
    "deep/1/2/3/4/5/",
    ".hidden/",
    "node_modules/x/",
    "target/debug/",
    "ünï/ç/",
    "new\nline/",
    "-dash/",
    "quo'te\"/",
    "\u{202e}rtl/",
    "ＷＩＤＥ/",
    "$(id)/",
    "*/",
    "bad\u{E0FF}byte/",
    "team/inner/",
];

pub(super) fn directory(random: &mut Random) -> String {
    if random.chance(3) {
        return format!("{}/", "long".repeat(50));
    }
    random.pick(&DIRECTORIES).to_owned()
}

/// The same path, written in another way.
pub(super) fn respelled(random: &mut Random, workspace: &str, path: &str) -> String {
    match random.below(7) {
        0 => format!("./{path}"),
        1 => format!("src/../{path}"),
        2 => format!("{workspace}/{path}"),
        3 => path.replace('/', "//"),
        4 => format!("/proc/self/cwd/{path}"),
        5 => format!("./././{path}"),
        _ => path.to_owned(),
    }
}

/// A script that gets a text to a path in one of many ways. It goes on whatever fails.
pub(super) fn put(random: &mut Random, path: &str, content: &str) -> String {
    let (at, text) = (quoted(path), quoted(content));
    let outer = path.rsplit_once('/').map_or(".", |(outer, _)| outer);
    let outer = if outer.is_empty() { "/".to_owned() } else { quoted(outer) };
    let made = format!("mkdir -p {outer}\n");
    let own = format!("planted-{}", random.below(1000));
    let way = match random.below(17) {
        0 | 1 => format!("printf %s {text} > {at}"),
        2 => format!("printf %s {text} >> {at}"),
        3 => format!("printf %s {text} > src/{own}; mv -f src/{own} {at}"),
        4 => format!("rm -rf {at}; printf %s {text} > {at}"),
        5 => format!("ln -f {at} src/{own} && printf %s {text} > src/{own}"),
        6 => format!("printf %s {text} > src/{own}; ln -sfn \"$PWD/src/{own}\" {at}"),
        7 => format!("printf %s {text} > src/{own}; cp --remove-destination src/{own} {at}"),
        8 => format!("printf %s {text} | dd of={at} conv=notrunc"),
        9 => format!(
            "mv {outer} src/{own}-away; mkdir -p {outer}; cp -r src/{own}-away/. {outer}; printf %s {text} > {at}"
        ),
        10 => format!("perl -e 'open F, \">\", $ARGV[0]; print F $ARGV[1]' {at} {text}"),
        11 => format!("truncate -s 0 {at}; printf %s {text} >> {at}"),
        12 => format!("exec 3<>{at} && printf %s {text} >&3; exec 3>&-"),
        13 => format!("printf %s {text} > src/{own}; install -m 755 src/{own} {at}"),
        14 => format!("printf %s {text} > src/{own}; ln -f src/{own} {at}"),
        15 => format!(
            "setsid sh -c 'sleep 0.0{}; printf %s \"$1\" > \"$2\"' - {text} {at} > /dev/null 2>&1 &",
            random.below(9)
        ),
        _ => format!(
            "mkdir -p src/{own}-d; printf %s {text} > src/{own}-d/x; chmod 755 src/{own}-d/x; mv -fT src/{own}-d/x {at}"
        ),
    };
    let closed = match random.below(12) {
        0 => format!("\nchmod 000 {outer}"),
        1 => format!("\nchmod 555 {outer}"),
        _ => String::new(),
    };
    let mode = if random.chance(60) { format!("\nchmod 777 {at}") } else { String::new() };
    // Whoever closes the root or leaves it ends all attacks that follow.
    let closed = if path.contains('/') && !path.starts_with('/') { closed } else { String::new() };
    format!("{{ {made}{way}\n{mode}{closed}\n}} 2>/dev/null\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_reads_quoted_words_back() {
        for word in ["a b", "q'\"", "new\nline", "$(id)", "*", "\\n", "ünï", "\u{202e}x", "-e"] {
            let script = format!("printf %s {}", quoted(word));
            let said = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(said.stdout).unwrap(), word);
        }
    }
}
