//! Finds words that make a closer look worthwhile, in one pass over the text.
//!
//! A cue begins at the beginning of a word, or holds such a word, or is not ASCII. So it is enough to
//! look, at the start of each word and at each character outside ASCII, whether a cue may begin
//! there. Building the index takes a fraction of what an automaton over all cues takes, and most
//! words are dismissed by one bit.

/// The meaning of a cue: an index into the caller's list.
pub(crate) type CueId = u16;

#[derive(Debug)]
struct Cue {
    text: Vec<u8>,
    /// Bytes of the cue before the word by which it is found.
    lead: usize,
    /// The first bytes of that word, and which of them the cue has.
    head: u32,
    mask: u32,
    id: CueId,
}

/// All cues, by the first letters of the word by which each is found.
#[derive(Debug)]
pub(crate) struct CueIndex {
    cues: Vec<Cue>,
    /// Where the cues of each slot start and end in `cues`.
    slots: Vec<(u32, u32)>,
    /// One bit per beginning of three bytes: whether any cue has it.
    beginnings: Vec<u64>,
}

const SLOTS: usize = 4096;

/// The place of a beginning of three bytes in the table of bits.
fn beginning(a: u8, b: u8, c: u8) -> (usize, u32) {
    let key = usize::from(a & 0x3F) << 10 | usize::from(b & 0x1F) << 5 | usize::from(c & 0x1F);
    (key / 64, u32::try_from(key % 64).unwrap_or_default())
}

const BEGINNINGS: usize = 1 << 10;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// The slot of a word: its first two letters for ASCII, its first three bytes else.
///
/// Two letters, because a cue may be no longer than that.
fn slot(word: &[u8]) -> usize {
    let a = usize::from(word.first().copied().unwrap_or_default());
    let b = usize::from(word.get(1).copied().unwrap_or_default());
    if a < 0x80 {
        (a & 63) * 64 + if is_word(u8::try_from(b).unwrap_or_default()) { b & 63 } else { 0 }
    } else {
        let c = usize::from(word.get(2).copied().unwrap_or_default());
        (a * 31 + b * 7 + c) % SLOTS
    }
}

/// The first four bytes as a number; missing ones are zero.
fn four(word: &[u8]) -> u32 {
    match word.first_chunk::<4>() {
        Some(bytes) => u32::from_le_bytes(*bytes),
        None => word.iter().rev().fold(0, |n, b| (n << 8) | u32::from(*b)),
    }
}

impl CueIndex {
    /// Builds the index from lower-case cues.
    pub(crate) fn new(cues: impl IntoIterator<Item = (String, CueId)>) -> Self {
        let mut keyed: Vec<(usize, Cue)> = cues
            .into_iter()
            .filter_map(|(text, id)| {
                let text = text.into_bytes();
                let lead = text.iter().position(|b| is_word(*b) || *b >= 0x80)?;
                let word = text.get(lead..)?;
                let (slot, head) = (slot(word), four(word));
                let mask = four(&word.iter().map(|_| 0xFF).collect::<Vec<u8>>());
                Some((slot, Cue { text, lead, head, mask, id }))
            })
            .collect();
        keyed.sort_by_key(|(slot, _)| *slot);
        let mut beginnings = vec![0u64; BEGINNINGS];
        for (_, cue) in &keyed {
            let word = cue.text.get(cue.lead..).unwrap_or_default();
            let (a, b) = (word.first().copied().unwrap_or_default(), word.get(1).copied());
            // A cue that ends here goes on with anything.
            let second = b.map_or(0..=0x1F, |b| b..=b);
            for b in second {
                let third = word.get(2).map_or(0..=0x1F, |c| *c..=*c);
                for c in third {
                    let (index, bit) = beginning(a, b, c);
                    if let Some(bits) = beginnings.get_mut(index) {
                        *bits |= 1 << bit;
                    }
                }
            }
        }
        let mut slots = vec![(0, 0); SLOTS];
        for (index, (slot, _)) in (0u32..).zip(&keyed) {
            if let Some(entry) = slots.get_mut(*slot) {
                if entry.1 == 0 {
                    entry.0 = index;
                }
                entry.1 = index + 1;
            }
        }
        Self { cues: keyed.into_iter().map(|(_, cue)| cue).collect(), slots, beginnings }
    }

    /// Calls `found` with id, start and end of each cue in `text`, which is in lower case.
    ///
    /// Starts do not decrease by more than the lead of a cue.
    pub(crate) fn each(&self, text: &[u8], mut found: impl FnMut(CueId, usize, usize)) {
        let mut inside = false;
        for (at, &byte) in text.iter().enumerate() {
            let word = is_word(byte);
            let starts = if word { !inside } else { byte >= 0xC0 };
            inside = word;
            if !starts {
                continue;
            }
            let rest = text.get(at..).unwrap_or_default();
            let next = |i: usize| rest.get(i).copied().unwrap_or_default();
            let (index, bit) = beginning(byte, next(1), next(2));
            if self.beginnings.get(index).is_none_or(|bits| bits >> bit & 1 == 0) {
                continue;
            }
            let Some(&(first, end)) = self.slots.get(slot(rest)) else { continue };
            let (Ok(first), Ok(end)) = (usize::try_from(first), usize::try_from(end)) else {
                continue;
            };
            let head = four(rest);
            for cue in self.cues.get(first..end).unwrap_or_default() {
                if head & cue.mask != cue.head {
                    continue;
                }
                let Some(start) = at.checked_sub(cue.lead) else { continue };
                let stop = start + cue.text.len();
                if text.get(start..stop) == Some(cue.text.as_slice()) {
                    found(cue.id, start, stop);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(cues: &[&str], text: &str) -> Vec<String> {
        let index = CueIndex::new((0..).zip(cues).map(|(id, c)| ((*c).to_owned(), id)));
        let mut found = Vec::new();
        index.each(text.as_bytes(), |id, start, end| {
            let cue = text.get(start..end).unwrap();
            assert_eq!(cue, cues[usize::from(id)]);
            found.push(cue.to_owned());
        });
        found
    }

    #[test]
    fn finds_words_stems_and_cues_that_start_with_marks() {
        let cues = ["curl", "exfiltrat", "| sh", ".env", "rm ", "$(curl", "忽略", "игнорир", "sh"];
        assert_eq!(find(&cues, "exfiltrate .env | sh"), ["exfiltrat", ".env", "| sh", "sh"]);
        assert_eq!(find(&cues, "x=$(curl y); rm z"), ["curl", "$(curl", "rm "]);
        assert_eq!(find(&cues, "请忽略 игнорируй"), ["忽略", "игнорир"]);
        assert_eq!(find(&cues, "mycurl farm "), Vec::<String>::new());
    }
}
