//! The days that a text speaks of: "on 8 May 2023", "in June", "last Tuesday", "há duas semanas".
//!
//! Days are counted from 1970. What is relative counts from the day the text was written: a memory's
//! own date, or the day of a question.

use foreword::Date;

use crate::index::words::each_word;

/// A span of days, the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Days {
    fn one(day: i64) -> Self {
        Self { first: day, last: day }
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Spans longer than this tell nothing apart.
const MAX_SPANS: usize = 16;
/// Bytes of a text that are read.
const MAX_BYTES: usize = 16 * 1024;

/// January first, in English, Portuguese, Spanish, French, German and Italian; folded.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "janeiro", "enero", "janvier", "januar", "gennaio"],
    &["february", "feb", "fevereiro", "febrero", "fevrier", "février", "februar", "febbraio"],
    &["march", "mar", "março", "marco", "marzo", "mars", "märz"],
    &["april", "apr", "abril", "avril", "aprile"],
    &["may", "maio", "mayo", "mai", "maggio"],
    &["june", "jun", "junho", "junio", "juin", "juni", "giugno"],
    &["july", "jul", "julho", "julio", "juillet", "juli", "luglio"],
    &["august", "aug", "agosto", "août", "aout"],
    &["september", "sep", "sept", "setembro", "septiembre", "septembre", "settembre"],
    &["october", "oct", "outubro", "octubre", "octobre", "oktober", "ottobre"],
    &["november", "nov", "novembro", "noviembre", "novembre"],
    &["december", "dec", "dezembro", "diciembre", "décembre", "decembre", "dezember", "dicembre"],
];
/// Monday first, in the same languages.
const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "mondays", "segunda", "lunes", "lundi", "montag", "montags", "lunedì"],
    &["tuesday", "tuesdays", "terça", "martes", "mardi", "dienstag", "dienstags", "martedì"],
    &["wednesday", "wednesdays", "quarta", "miércoles", "mercredi", "mittwoch", "mercoledì"],
    &["thursday", "thursdays", "quinta", "jueves", "jeudi", "donnerstag", "giovedì"],
    &["friday", "fridays", "sexta", "viernes", "vendredi", "freitag", "freitags", "venerdì"],
    &["saturday", "saturdays", "sábado", "sábados", "samedi", "samstag", "sabato"],
    &["sunday", "sundays", "domingo", "domingos", "dimanche", "sonntag", "domenica"],
];
const TODAY: &[&str] = &["today", "tonight", "hoje", "hoy", "aujourd", "heute", "oggi"];
const YESTERDAY: &[&str] = &["yesterday", "ontem", "ayer", "hier", "gestern", "ieri"];
const TOMORROW: &[&str] = &["tomorrow", "amanhã", "mañana", "demain", "morgen", "domani"];
const LAST: &[&str] = &[
    "last",
    "previous",
    "passado",
    "passada",
    "pasado",
    "pasada",
    "dernier",
    "dernière",
    "letzte",
    "letzten",
    "letzter",
    "scorso",
    "scorsa",
];
const NEXT: &[&str] = &[
    "next",
    "próximo",
    "próxima",
    "prochain",
    "prochaine",
    "nächste",
    "nächsten",
    "nächster",
    "prossimo",
    "prossima",
];
const THIS: &[&str] =
    &["this", "este", "esta", "ce", "cette", "diese", "diesen", "questo", "questa"];
const AGO: &[&str] = &["ago", "atrás", "há", "hace", "vor", "fa"];
const DAY: &[&str] =
    &["day", "days", "dia", "dias", "día", "días", "jour", "jours", "tag", "tagen"];
const WEEK: &[&str] = &[
    "week",
    "weeks",
    "semana",
    "semanas",
    "semaine",
    "semaines",
    "woche",
    "wochen",
    "settimana",
    "settimane",
];
const WEEKEND: &[&str] = &["weekend", "weekends", "wochenende"];
const MONTH: &[&str] =
    &["month", "months", "mês", "meses", "mes", "mois", "monat", "monaten", "mese"];
const YEAR: &[&str] =
    &["year", "years", "ano", "anos", "año", "años", "an", "ans", "jahr", "jahren"];
const NUMBERS: [&[&str]; 10] = [
    &["one", "um", "uma", "un", "une", "ein", "einer", "a"],
    &["two", "couple", "dois", "duas", "dos", "deux", "zwei", "due"],
    &["three", "três", "tres", "trois", "drei", "tre"],
    &["four", "quatro", "cuatro", "quatre", "vier", "quattro"],
    &["five", "cinco", "cinq", "fünf", "cinque"],
    &["six", "seis", "sechs", "sei"],
    &["seven", "sete", "siete", "sept", "sieben"],
    &["eight", "oito", "ocho", "huit", "acht"],
    &["nine", "nove", "nueve", "neuf", "neun"],
    &["ten", "dez", "diez", "dix", "zehn"],
];
/// Words that ask for a time.
const ASKS_WHEN: &[&str] = &["when", "quando", "cuándo", "cuando", "quand", "wann"];
/// Words that tell a time without telling a day.
const TIMES: &[&str] = &[
    "recently",
    "lately",
    "morning",
    "evening",
    "afternoon",
    "night",
    "hour",
    "hours",
    "minute",
    "minutes",
    "daily",
    "weekly",
    "monthly",
    "yearly",
    "annual",
    "since",
    "until",
    "soon",
    "noon",
    "midnight",
    "spring",
    "summer",
    "autumn",
    "winter",
    "deadline",
    "o'clock",
    "am",
    "pm",
    "hora",
    "horas",
    "heure",
    "heures",
    "uhr",
    "tarde",
    "noite",
    "manhã",
    "matin",
    "soir",
];

fn is_in(word: &str, list: &[&str]) -> bool {
    list.contains(&word)
}

fn place(word: &str, lists: &[&[&str]]) -> Option<i64> {
    lists.iter().position(|list| is_in(word, list)).and_then(|place| i64::try_from(place).ok())
}

/// The first date in a text, as `2026-02-26`, and when it begins in milliseconds since 1970.
#[must_use]
pub fn written_date(text: &str) -> Option<(String, i64)> {
    let dates = days(text, 0).into_iter().filter(|span| span.first == span.last);
    let day = dates.map(|span| span.first).next()?;
    let Date { year, month, day: of_month } = Date::from_days(day);
    Some((format!("{year:04}-{month:02}-{of_month:02}"), day * 86_400_000))
}

/// Whether a question asks for a time.
pub(crate) fn asks_when(question: &str) -> bool {
    let mut asks = false;
    let mut before = String::new();
    each_word(head(question), |word| {
        // "What day", "which month", "what date" ask for a time as well.
        let what = matches!(before.as_str(), "what" | "which");
        asks |= is_in(word.text, ASKS_WHEN)
            || what && (word.text == "time" || word.text == "date")
            || what && [DAY, WEEK, MONTH, YEAR].iter().any(|unit| is_in(word.text, unit));
        before.clear();
        before.push_str(word.text);
    });
    asks
}

/// Whether a text says when something happens.
pub(crate) fn tells_when(text: &str) -> bool {
    let mut tells = false;
    each_word(head(text), |word| {
        let word = word.text;
        let units = [DAY, WEEK, WEEKEND, MONTH, YEAR, TODAY, YESTERDAY, TOMORROW, TIMES];
        tells |= units.iter().any(|unit| is_in(word, unit))
            || place(word, &WEEKDAYS).is_some()
            || word != "may" && word != "mar" && place(word, &MONTHS).is_some()
            || year(word).is_some();
    });
    tells
}

/// The spans of days that a question speaks of, asked on the day `today`. A weekday alone is none: it
/// may be any.
pub(crate) fn dates(question: &str, today: i64) -> Vec<Days> {
    spans(question, |words| absolute(words, today).or_else(|| relative(words, today)))
}

/// The spans of days that a text speaks of, written on the day `today`.
pub(crate) fn days(text: &str, today: i64) -> Vec<Days> {
    // People tell what happened: a weekday alone is the last one.
    let weekday = |words: &[&str]| span_of(words.first()?, -1, today).map(|span| (span, 1));
    let is_weekday =
        |words: &[&str]| words.first().and_then(|word| place(word, &WEEKDAYS)).is_some();
    spans(text, |words| {
        absolute(words, today)
            .or_else(|| relative(words, today))
            .or_else(|| weekday(words).filter(|_| is_weekday(words)))
    })
}

fn spans(text: &str, read: impl Fn(&[&str]) -> Option<(Days, usize)>) -> Vec<Days> {
    let mut words: Vec<String> = Vec::new();
    each_word(head(text), |word| words.push(word.text.to_owned()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() && found.len() < MAX_SPANS {
        let here = words.get(at..).unwrap_or_default();
        match read(here) {
            Some((span, read)) => {
                found.push(span);
                at += read;
            }
            None => at += 1,
        }
    }
    found
}

fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

/// A date at the start of these words, and how many of them it takes.
fn absolute(words: &[&str], today: i64) -> Option<(Days, usize)> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    if let Some(year) = year(word(0)) {
        // 2023-05-08, or the year alone.
        if let (Some(month), Some(day)) = (number(word(1), 12), number(word(2), 31))
            && word(1).len() == 2
            && word(2).len() == 2
        {
            return Some((Days::one(civil(year, month, day)), 3));
        }
        return Some((Days { first: civil(year, 1, 1), last: civil(year, 12, 31) }, 1));
    }
    // 8 May 2023; 8 de maio de 2023; 8th of May.
    let ordinal = word(0).trim_end_matches(|c: char| !c.is_ascii_digit());
    if let Some(day) = number(ordinal, 31) {
        let skip = 1 + usize::from(matches!(word(1), "de" | "of" | "st" | "nd" | "rd" | "th"));
        let month = place(word(skip), &MONTHS)? + 1;
        let after = skip + 1 + usize::from(matches!(word(skip + 1), "de" | "of"));
        return Some(match year(word(after)) {
            Some(year) => (Days::one(civil(year, month, day)), after + 1),
            None => (Days::one(nearest(today, month, day)), skip + 1),
        });
    }
    let month = place(word(0), &MONTHS)? + 1;
    // May 8, 2023; May 8th.
    let ordinal = word(1).trim_end_matches(|c: char| !c.is_ascii_digit());
    if let Some(day) = number(ordinal, 31) {
        let after = 2 + usize::from(matches!(word(2), "st" | "nd" | "rd" | "th"));
        return Some(match year(word(after)) {
            Some(year) => (Days::one(civil(year, month, day)), after + 1),
            None => (Days::one(nearest(today, month, day)), 2),
        });
    }
    let after = 1 + usize::from(matches!(word(1), "de" | "of"));
    if let Some(year) = year(word(after)) {
        return Some((whole_month(year, month), after + 1));
    }
    // "may" and "mar" alone are mostly other words.
    if matches!(word(0), "may" | "mar" | "mars" | "marco" | "sept" | "mai") {
        return None;
    }
    let Date { year, .. } = Date::from_days(nearest(today, month, 15));
    Some((whole_month(year, month), 1))
}

/// A day told from today, and how many words it takes.
fn relative(words: &[&str], today: i64) -> Option<(Days, usize)> {
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    for (list, offset) in [(TODAY, 0), (YESTERDAY, -1), (TOMORROW, 1)] {
        if is_in(word(0), list) {
            return Some((Days::one(today + offset), 1));
        }
    }
    let unit = |word: &str, steps: i64| span_of(word, steps, today);
    // "last week", "next Tuesday", and the order of Romance languages, "semana passada".
    for (list, steps) in [(LAST, -1), (NEXT, 1), (THIS, 0)] {
        if is_in(word(0), list)
            && let Some(span) = unit(word(1), steps)
        {
            return Some((span, 2));
        }
        if steps != 0
            && is_in(word(1), list)
            && let Some(span) = unit(word(0), steps)
        {
            return Some((span, 2));
        }
    }
    // "two weeks ago", "a few days ago"; "há duas semanas", "vor zwei Wochen".
    let count = |word: &str| number(word, 99).or_else(|| Some(place(word, &NUMBERS)? + 1));
    if let Some(steps) = count(word(0)) {
        let skip = 1 + usize::from(word(1) == "of");
        if is_in(word(skip + 1), AGO)
            && let Some(span) = unit(word(skip), -steps)
        {
            return Some((span, skip + 2));
        }
    }
    if is_in(word(0), AGO)
        && let Some(steps) = count(word(1))
        && let Some(span) = unit(word(2), -steps)
    {
        return Some((span, 3));
    }
    None
}

/// The span that a unit of time means, so many steps from today.
fn span_of(word: &str, steps: i64, today: i64) -> Option<Days> {
    let monday = today - weekday(today);
    if is_in(word, DAY) {
        return Some(Days::one(today + steps));
    }
    if is_in(word, WEEK) {
        let first = monday + 7 * steps;
        return Some(Days { first, last: first + 6 });
    }
    if is_in(word, WEEKEND) {
        let first = monday + 7 * steps + 5;
        return Some(Days { first, last: first + 1 });
    }
    if is_in(word, MONTH) {
        let Date { year, month, .. } = Date::from_days(today);
        let months = year * 12 + month - 1 + steps;
        return Some(whole_month(months.div_euclid(12), months.rem_euclid(12) + 1));
    }
    if is_in(word, YEAR) {
        let year = Date::from_days(today).year + steps;
        return Some(Days { first: civil(year, 1, 1), last: civil(year, 12, 31) });
    }
    let wanted = place(word, &WEEKDAYS)?;
    let back = (weekday(today) - wanted).rem_euclid(7);
    Some(Days::one(match steps {
        ..0 => today - if back == 0 { 7 } else { back },
        0 => today - weekday(today) + wanted,
        _ => today + if back == 0 { 7 } else { 7 - back },
    }))
}

/// Of the days with this month and day, the one nearest to today.
fn nearest(today: i64, month: i64, day: i64) -> i64 {
    let Date { year, .. } = Date::from_days(today);
    let candidates = [year - 1, year, year + 1].map(|year| civil(year, month, day));
    candidates.into_iter().min_by_key(|day| (day - today).abs()).unwrap_or(today)
}

fn civil(year: i64, month: i64, day: i64) -> i64 {
    Date { year, month, day }.days()
}

fn whole_month(year: i64, month: i64) -> Days {
    let next = if month == 12 { civil(year + 1, 1, 1) } else { civil(year, month + 1, 1) };
    Days { first: civil(year, month, 1), last: next - 1 }
}

fn number(word: &str, most: i64) -> Option<i64> {
    if word.is_empty() || word.len() > 2 || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    word.parse().ok().filter(|number| (1..=most).contains(number))
}

fn year(word: &str) -> Option<i64> {
    let digits = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|year| digits && (1900..2100).contains(year))
}

/// Monday is 0; the first of January 1970 was a Thursday.
fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Monday 8 May 2023.
    const TODAY_IS: (i64, i64, i64) = (2023, 5, 8);

    fn shown(text: &str) -> Vec<String> {
        let (year, month, day) = TODAY_IS;
        let date = |day: i64| {
            let Date { year, month, day } = Date::from_days(day);
            format!("{year}-{month:02}-{day:02}")
        };
        let spans = days(text, civil(year, month, day));
        let one = |span: &Days| match span.first == span.last {
            true => date(span.first),
            false => format!("{}..{}", date(span.first), date(span.last)),
        };
        spans.iter().map(one).collect()
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, expected) in [
            ("on 3 May, 2023 we met", "2023-05-03"),
            ("dinner on May 3, 2023?", "2023-05-03"),
            ("due 2023-12-31", "2023-12-31"),
            ("1:56 pm on 8 May, 2023", "2023-05-08"),
            ("no dia 8 de maio de 2023", "2023-05-08"),
            ("am 3. Oktober 2022", "2022-10-03"),
            ("in June 2023", "2023-06-01..2023-06-30"),
            ("in June", "2023-06-01..2023-06-30"),
            ("the summer of 2022", "2022-01-01..2022-12-31"),
            ("the 3rd of July", "2023-07-03"),
            ("February 29, 2024", "2024-02-29"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }

    #[test]
    fn relative_days_count_from_the_day_of_the_text() {
        for (text, expected) in [
            ("I went there yesterday", "2023-05-07"),
            ("see you tomorrow", "2023-05-09"),
            ("last Tuesday", "2023-05-02"),
            ("last Monday", "2023-05-01"),
            ("next Friday", "2023-05-12"),
            ("on Sunday", "2023-05-07"),
            ("last week", "2023-05-01..2023-05-07"),
            ("two weeks ago", "2023-04-24..2023-04-30"),
            ("two weekends ago", "2023-04-29..2023-04-30"),
            ("last month", "2023-04-01..2023-04-30"),
            ("this year", "2023-01-01..2023-12-31"),
            ("na semana passada", "2023-05-01..2023-05-07"),
            ("há duas semanas", "2023-04-24..2023-04-30"),
            ("vor zwei Wochen", "2023-04-24..2023-04-30"),
            ("hier soir", "2023-05-07"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_written_date_is_a_day() {
        let expected = Some(("2023-05-08".to_owned(), 1_683_504_000_000));
        assert_eq!(written_date("1:56 pm on 8 May, 2023"), expected);
        assert_eq!(written_date("2023-05-08T13:56:00Z"), expected);
        assert_eq!(written_date("some day"), None);
    }

    #[test]
    fn other_words_are_no_dates() {
        for text in ["you may go", "12 apples", "version 3", "", "1234567", "at 5"] {
            assert_eq!(shown(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn questions_for_a_time_and_texts_with_one() {
        for question in ["When do we ship?", "what day is it", "Quando é a festa?", "Wann?"] {
            assert!(asks_when(question), "{question}");
        }
        assert!(!asks_when("what does she paint?"));
        for text in ["Deploys happen on Tuesdays", "in 2022", "last week", "vence no dia oito"] {
            assert!(tells_when(text), "{text}");
        }
        assert!(!tells_when("Ada prefers tabs over spaces"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text: String, today in -1_000_000_i64..1_000_000) {
            for span in days(&text, today) {
                prop_assert!(span.first <= span.last);
            }
            let _ = (asks_when(&text), tells_when(&text));
        }
    }
}
