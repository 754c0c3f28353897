//! Folding of single characters: case outside ASCII, accents, typographic marks.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Appends the comparable form of `run`, a run of characters outside ASCII.
///
/// Compatibility forms become what they stand for, Latin letters lose their accents, letters of
/// other scripts become lower case, typographic quotes, dashes and spaces become the plain ones.
pub(super) fn fold_run(run: &str, out: &mut String) {
    for c in run.nfkc() {
        if c.is_ascii() {
            out.push(if c == '\n' || c == '\r' { ' ' } else { c });
            continue;
        }
        if let Some(text) = plain(c) {
            out.push_str(text);
            continue;
        }
        if is_dropped_mark(c) {
            continue;
        }
        let mut parts = std::iter::once(c).nfd();
        match parts.next() {
            Some(base) if base.is_ascii_alphabetic() && parts.all(is_combining_mark) => {
                out.push(base);
            }
            _ => out.extend(c.to_lowercase().map(same_letter)),
        }
    }
}

/// Accents on Latin letters that were written apart, and marks that Arabic is read without.
fn is_dropped_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{0640}')
}

/// Letters that are written two ways in the same word.
fn same_letter(c: char) -> char {
    match c {
        'ё' => 'е',
        'أ' | 'إ' | 'آ' => 'ا',
        'ى' => 'ي',
        'ة' => 'ه',
        'ς' => 'σ',
        other => other,
    }
}

fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        '‘' | '’' | '‚' | '‛' | '′' | '´' | 'ʼ' => "'",
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => "-",
        '\u{1680}' | '\u{2028}' | '\u{2029}' | '\u{85}' => " ",
        'ß' => "ss",
        'æ' | 'Æ' => "ae",
        'œ' | 'Œ' => "oe",
        'ø' | 'Ø' => "o",
        'đ' | 'Đ' | 'ð' | 'Ð' => "d",
        'ł' | 'Ł' => "l",
        'ı' => "i",
        'þ' | 'Þ' => "th",
        _ => return None,
    })
}
