//! The ways a text is read when a canary is looked for: what the bytes of each reading are, and how
//! far back the text still matters to it.

use crate::canary::alphabet::{BASE64, HEX, value};
use crate::canary::detector::{MAX_LEAK_GAP, MIN_LEAK_CHARS};
use crate::canary::runs::{Run, Runs, symbol};

/// A place in the text: in bytes, to cut there, and in characters, to measure gaps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) byte: usize,
    pub(crate) nth: usize,
}

impl Place {
    /// Whether the reading at `earlier` can continue here.
    pub(crate) fn reaches(self, earlier: Self) -> bool {
        self.nth - earlier.nth <= MAX_LEAK_GAP + 1
    }
}

/// A run that is long enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) run: Run,
    /// Where it starts, in bytes.
    pub(crate) start: usize,
    /// Whether it is one of distances between letters.
    pub(crate) shifted: bool,
    /// Whether two encodings lay around it.
    pub(crate) twice: bool,
}

/// One sequence of bytes, held against the canaries; so many in a row are a leak.
#[derive(Debug, Clone)]
pub(crate) struct Track<const MIN: usize = MIN_LEAK_CHARS> {
    run: Run,
    /// Where each of the last bytes starts in the text.
    starts: [usize; MIN],
    count: usize,
    last: Place,
}

impl<const MIN: usize> Default for Track<MIN> {
    fn default() -> Self {
        Self { run: Run::default(), starts: [0; MIN], count: 0, last: Place::default() }
    }
}

impl<const MIN: usize> Track<MIN> {
    /// Takes one byte, whose form starts at `start` and was complete at `here`. What is no letter or
    /// digit is passed over.
    pub(crate) fn read(&mut self, runs: &Runs, b: u8, start: Place, here: Place) -> Option<Hit> {
        self.read_symbol(runs, symbol(b)?, start, here)
    }

    pub(crate) fn read_symbol(
        &mut self,
        runs: &Runs,
        symbol: usize,
        start: Place,
        here: Place,
    ) -> Option<Hit> {
        if self.run.length > 0 && !here.reaches(self.last) {
            self.run = Run::default();
        }
        self.last = here;
        self.run = runs.read(self.run, symbol);
        if let Some(slot) = self.starts.get_mut(self.count % MIN) {
            *slot = start.byte;
        }
        self.count += 1;
        if self.length() < MIN {
            return None;
        }
        let start = self.start().unwrap_or(start.byte);
        Some(Hit { run: self.run, start, shifted: false, twice: false })
    }

    /// How many of the last bytes are a run.
    fn length(&self) -> usize {
        self.run.length as usize
    }

    /// Where the run so far starts.
    fn start(&self) -> Option<usize> {
        let back = self.length().min(MIN);
        self.starts.get(self.count.checked_sub(back)? % MIN).copied()
    }

    /// Where the run starts that may still go on.
    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        if self.run.length == 0 || !here.reaches(self.last) {
            return None;
        }
        self.start()
    }
}

fn first_held<'t>(tracks: impl IntoIterator<Item = &'t Track>, here: Place) -> Option<usize> {
    tracks.into_iter().filter_map(|track| track.held_from(here)).min()
}

/// A digit that waits for the next one.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    value: u8,
    place: Place,
}

fn waits_from(waiting: Option<Waiting>, here: Place) -> Option<usize> {
    waiting.filter(|digit| here.reaches(digit.place)).map(|digit| digit.place.byte)
}

/// Two hexadecimal digits are a byte, and either digit may be the first, also where all digits were
/// written last to first. Everything else is passed over, and so is the `0x` in front of a byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hex {
    previous: Option<Waiting>,
    /// A zero that an `x` may follow.
    zero: Option<Place>,
    count: usize,
    tracks: [Track; 2],
    backward: [Track; 2],
}

impl Hex {
    pub(crate) fn read(&mut self, runs: &Runs, b: u8, here: Place) -> Option<Hit> {
        if let Some(zero) = self.zero.take() {
            if matches!(b, b'x' | b'X') {
                return None;
            }
            if let Some(hit) = self.digit(runs, 0, zero, here) {
                return Some(hit);
            }
        }
        if b == b'0' {
            self.zero = Some(here);
            return None;
        }
        let value = value(&HEX, b)?;
        self.digit(runs, value, here, here)
    }

    pub(crate) fn finish(&mut self, runs: &Runs, here: Place) -> Option<Hit> {
        let zero = self.zero.take()?;
        self.digit(runs, 0, zero, here)
    }

    fn digit(&mut self, runs: &Runs, value: u8, place: Place, here: Place) -> Option<Hit> {
        let before = self.previous.replace(Waiting { value, place });
        self.count += 1;
        let before = before.filter(|before| here.reaches(before.place))?;
        let half = self.count % 2;
        let forward = before.value << 4 | value;
        let backward = value << 4 | before.value;
        let hit = self.tracks.get_mut(half)?.read(runs, forward, before.place, here);
        hit.or(self.backward.get_mut(half)?.read(runs, backward, before.place, here))
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let zero = self.zero.map(|place| place.byte);
        let waiting = waits_from(self.previous, here);
        let tracks = first_held(self.tracks.iter().chain(&self.backward), here);
        [zero, waiting, tracks].into_iter().flatten().min()
    }
}

/// Four characters are three bytes, and any of them may be the first of four, also where all were
/// written last to first. Everything else is passed over, padding too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base64 {
    previous: Option<Waiting>,
    count: usize,
    tracks: [Track; 4],
    backward: [Track; 4],
}

impl Base64 {
    pub(crate) fn read(&mut self, runs: &Runs, b: u8, here: Place) -> Option<Hit> {
        let value = value(&BASE64, b)?;
        let before = self.previous.replace(Waiting { value, place: here });
        self.count += 1;
        let before = before.filter(|before| here.reaches(before.place))?;
        // This character and the one before as the first and second of their group, and so on.
        let mut hit = None;
        for nth in 0..3 {
            let (left, right) = (2 + 2 * nth, 4 - 2 * nth);
            if let Some(forward) = symbol(before.value << left | value >> right)
                && let Some(track) = self.tracks.get_mut((self.count + 3 - nth) % 4)
            {
                hit = hit.or(track.read_symbol(runs, forward, before.place, here));
            }
            if let Some(backward) = symbol(value << left | before.value >> right)
                && let Some(track) = self.backward.get_mut((self.count + nth) % 4)
            {
                hit = hit.or(track.read_symbol(runs, backward, before.place, here));
            }
        }
        hit
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let waiting = waits_from(self.previous, here);
        let tracks = first_held(self.tracks.iter().chain(&self.backward), here);
        [waiting, tracks].into_iter().flatten().min()
    }
}

/// Each number is a byte: in decimal (`102 119 99`), octal (`\146\167\143`) or binary (`01100110`).
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    open: Option<Number>,
    decimal: Track,
    octal: Track,
    binary: Track,
}

#[derive(Debug, Clone, Copy)]
struct Number {
    start: Place,
    digits: usize,
    decimal: u32,
    octal: Option<u32>,
    binary: Option<u32>,
}

impl Numbers {
    /// More digits are no number of a character.
    const MAX_DIGITS: usize = 8;

    pub(crate) fn read(&mut self, runs: &Runs, b: u8, here: Place) -> Option<Hit> {
        if !b.is_ascii_digit() {
            return self.finish(runs, here);
        }
        let digit = u32::from(b - b'0');
        let number = self.open.get_or_insert(Number {
            start: here,
            digits: 0,
            decimal: 0,
            octal: Some(0),
            binary: Some(0),
        });
        if number.digits < Self::MAX_DIGITS {
            let read = |value: Option<u32>, radix| {
                value.filter(|_| digit < radix).map(|value| value * radix + digit)
            };
            number.decimal = number.decimal * 10 + digit;
            number.octal = read(number.octal, 8);
            number.binary = read(number.binary, 2);
        }
        number.digits = (number.digits + 1).min(Self::MAX_DIGITS + 1);
        None
    }

    /// The number has ended.
    pub(crate) fn finish(&mut self, runs: &Runs, here: Place) -> Option<Hit> {
        let Number { start, digits, decimal, octal, binary } = self.open.take()?;
        let read = |track: &mut Track, fits: bool, value: Option<u32>| {
            let byte = value.filter(|_| fits).and_then(|value| u8::try_from(value).ok())?;
            track.read(runs, byte, start, here)
        };
        let hit = read(&mut self.decimal, (2..=3).contains(&digits), Some(decimal));
        let hit = hit.or(read(&mut self.octal, (2..=4).contains(&digits), octal));
        hit.or(read(&mut self.binary, (7..=8).contains(&digits), binary))
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let open = self.open.filter(|number| number.digits <= Self::MAX_DIGITS);
        let tracks = first_held([&self.decimal, &self.octal, &self.binary], here);
        [open.map(|number| number.start.byte), tracks].into_iter().flatten().min()
    }
}

/// Letters, of which some are escaped: `%66`, `=66`, `\x66`, `\u0066`, `\u{66}`, `&#x66;`, `&#102;`.
///
/// Without an escape this is the reading of letters. So it begins at an escape, as a copy of that reading,
/// and ends when both are the same again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Escaped {
    track: Track,
    is_active: bool,
    /// Letters that were not escaped since the last one that was.
    plain: usize,
    open: Option<Escape>,
    /// The byte before, and where it stands.
    before: (u8, Place),
}

#[derive(Debug, Clone, Copy)]
struct Escape {
    start: Place,
    radix: u32,
    /// Digits it has when no mark ends it.
    digits: usize,
    value: u32,
    /// The digits so far, in case it is not an escape.
    read: [(u8, Place); 4],
    length: usize,
}

impl Escaped {
    /// Reads on; `letters` has read all bytes before this one.
    pub(crate) fn read(&mut self, runs: &Runs, letters: &Track, b: u8, here: Place) -> Option<Hit> {
        if self.is_active && self.open.is_none() && self.track.run == letters.run {
            self.is_active = self.plain < self.track.length();
        }
        let mut before = std::mem::replace(&mut self.before, (b, here));
        if let Some(mut escape) = self.open.take() {
            if let Some(digit) = char::from(b).to_digit(escape.radix) {
                escape.push(digit, b, here);
                if escape.length < escape.digits {
                    self.open = Some(escape);
                    return None;
                }
                return self.close(runs, &escape, here);
            }
            match b {
                b'{' if escape.length == 0 => {
                    self.open = Some(escape);
                    return None;
                }
                b';' | b'}' if escape.length > 0 => return self.close(runs, &escape, here),
                _ => {}
            }
            if let Some(hit) = self.give_up(runs, &escape, here) {
                return Some(hit);
            }
            if escape.length == 0 {
                // `&#` was not the start of a number, but it may be that of `&#x`.
                before.1 = escape.start;
            }
        }
        let (radix, digits, start) = match (before.0, b) {
            (_, b'%' | b'=') => (16, 2, here),
            (b'\\', b'x' | b'X') | (b'#', b'x' | b'X') => (16, 2, before.1),
            (b'\\', b'u' | b'U') => (16, 4, before.1),
            (b'&', b'#') => (10, 3, before.1),
            _ if self.is_active => return self.read_plain(runs, b, here, here),
            _ => return None,
        };
        self.open =
            Some(Escape { start, radix, digits, value: 0, read: Default::default(), length: 0 });
        if !self.is_active {
            self.track = letters.clone();
            self.is_active = true;
            self.plain = MIN_LEAK_CHARS;
        }
        None
    }

    fn read_plain(&mut self, runs: &Runs, b: u8, place: Place, here: Place) -> Option<Hit> {
        let symbol = symbol(b)?;
        self.plain += 1;
        self.track.read_symbol(runs, symbol, place, here)
    }

    pub(crate) fn finish(&mut self, runs: &Runs, here: Place) -> Option<Hit> {
        let escape = self.open.take()?;
        self.give_up(runs, &escape, here)
    }

    fn close(&mut self, runs: &Runs, escape: &Escape, here: Place) -> Option<Hit> {
        self.plain = 0;
        let byte = u8::try_from(escape.value).ok()?;
        self.track.read(runs, byte, escape.start, here)
    }

    /// It was no escape: its digits are letters of the text. Those of decimal ones were complete.
    fn give_up(&mut self, runs: &Runs, escape: &Escape, here: Place) -> Option<Hit> {
        if escape.radix == 10 && escape.length > 1 {
            return self.close(runs, escape, here);
        }
        let mut hit = None;
        for (b, place) in escape.read.iter().take(escape.length) {
            hit = hit.or(self.read_plain(runs, *b, *place, here));
        }
        hit
    }

    pub(crate) fn held_from(&self, here: Place) -> Option<usize> {
        let open = self.open.map(|escape| escape.start.byte);
        let slash = matches!(self.before.0, b'\\' | b'&' | b'#').then_some(self.before.1.byte);
        let slash = slash.filter(|_| here.reaches(self.before.1));
        let track = if self.is_active { self.track.held_from(here) } else { None };
        [open, slash, track].into_iter().flatten().min()
    }
}

impl Escape {
    fn push(&mut self, digit: u32, b: u8, place: Place) {
        self.value = self.value * self.radix + digit;
        if let Some(slot) = self.read.get_mut(self.length) {
            *slot = (b, place);
        }
        self.length += 1;
    }
}
