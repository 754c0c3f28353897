//! The script-aware token estimate: about how many tokens a text costs,
//! without a vocabulary.
//!
//! It owns a fixed-point model of `o200k_base` and nothing else: no I/O, 16 KB
//! of table, the same answer on every platform. `docs/tokens.md` says how it
//! was fitted and how far it is off.
//!
//! A character costs the chance that a token begins at it, given the character
//! before it: `pairs` for ASCII, [`script`] for the rest. Two promises follow,
//! and are property-tested: a text fed in pieces costs exactly what it costs
//! whole, and a piece that starts a line can be measured once and added any
//! number of times.

mod pairs;
mod script;

/// Costs are counted in hundredths of a token.
const UNIT: u64 = 100;

/// ASCII characters in a row that make a stretch of ASCII.
const LONG_ASCII: u32 = 4;

/// What the cost of the next character depends on: the character before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Before {
    /// That character, or what stands for it in the table of pairs.
    symbol: u8,
    /// Its script, 0 for ASCII.
    script: u8,
}

impl Before {
    /// After a line break, and at the start of a text.
    const LINE_START: Self = Self { symbol: b'\n', script: 0 };
}

/// Running estimate over text fed in pieces.
///
/// Feeding a text cut at any character boundary gives exactly the total of
/// feeding it whole.
///
/// ```
/// let mut meter = foreword::Meter::new();
/// meter.feed("You are a care");
/// meter.feed("ful assistant.\n");
/// assert_eq!(meter.tokens(), foreword::estimate("You are a careful assistant.\n"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    before: Before,
    cost: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Meter {
    /// A meter that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { before: Before::LINE_START, cost: 0 }
    }

    /// Adds the next piece of the text.
    pub fn feed(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = self.feed_ascii(rest.as_bytes());
            let mut chars = rest.get(ascii..).unwrap_or_default().chars();
            // Blanks and marks between words of another script stay in this
            // loop; a longer stretch of ASCII goes back to the fast one.
            let mut ascii = 0;
            while ascii < LONG_ASCII
                && let Some(c) = chars.next()
            {
                if c.is_ascii() {
                    ascii += 1;
                    let byte = c as u8;
                    self.cost += pairs::cost(self.before.symbol, byte);
                    self.before = Before { symbol: byte, script: 0 };
                } else {
                    ascii = 0;
                    self.feed_wide(c);
                }
            }
            rest = chars.as_str();
        }
    }

    /// Adds the ASCII at the start of `bytes` and says how long it is.
    #[inline]
    fn feed_ascii(&mut self, bytes: &[u8]) -> usize {
        let ascii = match bytes.is_ascii() {
            true => bytes,
            false => {
                let len = bytes.iter().take_while(|byte| byte.is_ascii()).count();
                bytes.get(..len).unwrap_or_default()
            }
        };
        if let (Some(&first), Some(&last)) = (ascii.first(), ascii.last()) {
            self.cost += pairs::cost(self.before.symbol, first) + pairs::cost_after_first(ascii);
            self.before = Before { symbol: last, script: 0 };
        }
        ascii.len()
    }

    /// Adds one character outside ASCII.
    #[inline]
    fn feed_wide(&mut self, c: char) {
        let kind = script::kind(c);
        self.cost += u64::from(if self.before.script == kind.id {
            kind.inside
        } else if self.before.symbol == b' ' {
            kind.after_space
        } else {
            kind.first
        });
        self.before = Before { symbol: kind.symbol, script: kind.id };
    }

    /// Adds a piece measured before, which must start a line: nothing was fed
    /// yet, or the last thing fed ended in `\n`. Then the total is exactly
    /// that of feeding the piece's text.
    pub fn absorb(&mut self, piece: &Measured) {
        self.cost += piece.cost;
        self.before = piece.end;
    }

    /// Tokens so far, rounded up; 0 for nothing fed.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        tokens(self.cost)
    }
}

/// A piece of text measured once, to be added to a [`Meter`] at a line start
/// any number of times.
///
/// ```
/// use foreword::{Measured, Meter};
///
/// let measured = Measured::of("Measured once.\n");
/// let mut meter = Meter::new();
/// meter.absorb(&measured);
/// assert_eq!(meter.tokens(), measured.tokens());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    end: Before,
    cost: u64,
}

impl Measured {
    /// Measures a piece that starts a line.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut meter = Meter::new();
        meter.feed(text);
        Self { end: meter.before, cost: meter.cost }
    }

    /// The piece's own tokens, rounded up.
    #[must_use]
    pub fn tokens(&self) -> u32 {
        tokens(self.cost)
    }
}

/// About how many `o200k_base` tokens `text` costs.
#[must_use]
pub fn estimate(text: &str) -> u32 {
    let mut meter = Meter::new();
    meter.feed(text);
    meter.tokens()
}

fn tokens(cost: u64) -> u32 {
    u32::try_from(cost.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
