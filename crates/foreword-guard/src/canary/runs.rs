//! Finds the longest run of a text that is a part of one of several words.
//!
//! A suffix automaton of all words, with a mark between them that no text holds. Once it is complete, every
//! failing step is followed to its end and stored, so reading a character is one look into a table. The
//! state knows at any moment how many of the last characters are in a row in some word: exactly that has
//! to be held back.

use crate::canary::alphabet::NONE as NO_SYMBOL;

/// Letters, then digits; case is ignored.
const SYMBOLS: usize = 36;
/// Between two words.
const MARK: usize = SYMBOLS;
const ROOT: u32 = 0;
const NONE: u32 = u32::MAX;

/// The letters and digits a word is made of, as small numbers. Letters that a canary does not have
/// because they look like digits count as those digits.
pub(crate) fn symbol(b: u8) -> Option<usize> {
    match SYMBOL.get(usize::from(b)) {
        Some(&value) if value != NO_SYMBOL => Some(usize::from(value)),
        _ => None,
    }
}

static SYMBOL: [u8; 256] = symbols();

#[expect(clippy::indexing_slicing, reason = "at compile time")]
const fn symbols() -> [u8; 256] {
    let mut table = [NO_SYMBOL; 256];
    let mut nth = 0;
    while nth < 26 {
        table[(b'a' + nth) as usize] = nth;
        table[(b'A' + nth) as usize] = nth;
        nth += 1;
    }
    nth = 0;
    while nth < 10 {
        table[(b'0' + nth) as usize] = 26 + nth;
        nth += 1;
    }
    table[b'o' as usize] = 26;
    table[b'O' as usize] = 26;
    table[b'i' as usize] = 27;
    table[b'I' as usize] = 27;
    table[b'l' as usize] = 27;
    table[b'L' as usize] = 27;
    table
}

/// All runs of some words.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    /// For each state a row with the step for each symbol.
    steps: Vec<Step>,
    /// For each state, where its runs first end in all words one after the other.
    ends: Vec<usize>,
}

/// What a symbol leads to.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Where the row of the next state starts.
    row: u32,
    /// How long the run is then; [`Step::LONGER`] if it grows by one.
    length: u32,
}

impl Step {
    const LONGER: u32 = u32::MAX;
}

/// How much of the text just read is a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Run {
    row: u32,
    /// In characters.
    pub(crate) length: u32,
}

impl Runs {
    /// The runs of these words; characters other than ASCII letters and digits are left out.
    pub(crate) fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        Self::of(words.into_iter().map(|word| word.bytes().filter_map(symbol).collect()))
    }

    /// The runs of words that are symbols already.
    pub(crate) fn of(words: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let mut automaton = Automaton { states: vec![State::new(0, 0)] };
        let mut last = ROOT;
        let mut read = 0;
        for word in words {
            for symbol in word.into_iter().chain([MARK]) {
                last = automaton.extend(last, symbol, read);
                read += 1;
            }
        }
        automaton.complete()
    }

    /// Are there no words?
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.len() <= 1
    }

    /// The run after one more character.
    pub(crate) fn read(&self, run: Run, symbol: usize) -> Run {
        match self.steps.get(run.row as usize + symbol) {
            Some(step) if step.length == Step::LONGER => {
                Run { row: step.row, length: run.length + 1 }
            }
            Some(step) => Run { row: step.row, length: step.length },
            None => Run::default(),
        }
    }

    /// Where this run first ends in all words one after the other, each with a mark behind it.
    pub(crate) fn end(&self, run: Run) -> usize {
        self.ends.get(run.row as usize / SYMBOLS).copied().unwrap_or_default()
    }
}

#[derive(Debug, Clone)]
struct State {
    next: [u32; SYMBOLS + 1],
    /// The state of the longest end of this one's runs that goes on in more ways.
    link: u32,
    /// The longest run that leads here.
    longest: u32,
    /// Where such a run first ends, in all words one after the other.
    end: usize,
}

impl State {
    fn new(longest: u32, end: usize) -> Self {
        Self { next: [NONE; SYMBOLS + 1], link: NONE, longest, end }
    }
}

/// The automaton while it grows.
#[derive(Debug)]
struct Automaton {
    states: Vec<State>,
}

impl Automaton {
    /// Stores for each state and symbol where the run goes on, however short.
    fn complete(&self) -> Runs {
        const NOWHERE: Step = Step { row: ROOT, length: 0 };
        let mut steps = vec![NOWHERE; self.states.len() * SYMBOLS];
        // A link leads to a state of shorter runs, so that one is complete already.
        let mut order: Vec<usize> = (0..self.states.len()).collect();
        order.sort_by_key(|at| self.states.get(*at).map(|state| state.longest));
        for at in order {
            let Some(state) = self.states.get(at) else { continue };
            let shorter = self.get(state.link).map(|shorter| shorter.longest + 1);
            for (symbol, next) in state.next.iter().take(SYMBOLS).enumerate() {
                let step = match shorter {
                    _ if *next != NONE => Step { row: next * SYMBOLS as u32, length: Step::LONGER },
                    None => NOWHERE,
                    Some(longer) => {
                        let step = steps.get(state.link as usize * SYMBOLS + symbol);
                        let step = step.copied().unwrap_or(NOWHERE);
                        let grows = step.length == Step::LONGER;
                        Step { length: if grows { longer } else { step.length }, ..step }
                    }
                };
                if let Some(slot) = steps.get_mut(at * SYMBOLS + symbol) {
                    *slot = step;
                }
            }
        }
        Runs { steps, ends: self.states.iter().map(|state| state.end).collect() }
    }

    fn get(&self, state: u32) -> Option<&State> {
        self.states.get(usize::try_from(state).ok()?)
    }

    fn get_mut(&mut self, state: u32) -> Option<&mut State> {
        self.states.get_mut(usize::try_from(state).ok()?)
    }

    fn next(&self, state: u32, symbol: usize) -> u32 {
        self.get(state).and_then(|state| state.next.get(symbol)).copied().unwrap_or(NONE)
    }

    fn set_next(&mut self, state: u32, symbol: usize, to: u32) {
        if let Some(slot) = self.get_mut(state).and_then(|state| state.next.get_mut(symbol)) {
            *slot = to;
        }
    }

    fn push(&mut self, state: State) -> u32 {
        let name = u32::try_from(self.states.len()).unwrap_or(NONE);
        self.states.push(state);
        name
    }

    fn link(&self, state: u32) -> u32 {
        self.get(state).map_or(NONE, |state| state.link)
    }

    fn longest(&self, state: u32) -> u32 {
        self.get(state).map_or(0, |state| state.longest)
    }

    /// One more character of the words; the usual construction, a step at a time.
    fn extend(&mut self, last: u32, symbol: usize, end: usize) -> u32 {
        let new = self.push(State::new(self.longest(last) + 1, end));
        let mut at = last;
        while at != NONE && self.next(at, symbol) == NONE {
            self.set_next(at, symbol, new);
            at = self.link(at);
        }
        let link = if at == NONE { ROOT } else { self.split(at, symbol) };
        if let Some(state) = self.get_mut(new) {
            state.link = link;
        }
        new
    }

    /// The state of exactly the runs that follow `at` by `symbol`, created if needed.
    fn split(&mut self, at: u32, symbol: usize) -> u32 {
        let found = self.next(at, symbol);
        let longest = self.longest(at) + 1;
        let Some(state) = self.get(found).filter(|state| state.longest != longest) else {
            return found;
        };
        let copy = State { longest, ..state.clone() };
        let copy = self.push(copy);
        let mut from = at;
        while from != NONE && self.next(from, symbol) == found {
            self.set_next(from, symbol, copy);
            from = self.link(from);
        }
        if let Some(state) = self.get_mut(found) {
            state.link = copy;
        }
        copy
    }
}

#[cfg(test)]
#[allow(clippy::string_slice, reason = "texts of tests are ASCII")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_run_is_the_longest_end_of_the_text_that_is_in_a_word(
            words in prop::collection::vec("[abc]{1,9}", 0..4),
            text in "[abcd]{0,40}",
        ) {
            let runs = Runs::new(words.iter().map(String::as_str));
            let mut run = Run::default();
            for end in 1..=text.len() {
                run = runs.read(run, symbol(text.as_bytes()[end - 1]).unwrap());
                let seen = &text[..end];
                let expected = (0..=end)
                    .find(|start| words.iter().any(|word| word.contains(&seen[*start..])))
                    .map_or(0, |start| end - start);
                prop_assert_eq!(run.length as usize, expected, "{} in {:?}", seen, words);
                if run.length > 0 {
                    let all: String = words.iter().flat_map(|word| [word.as_str(), "|"]).collect();
                    let length = run.length as usize;
                    let from = runs.end(run) + 1 - length;
                    prop_assert_eq!(&all[from..=runs.end(run)], &seen[end - length..]);
                }
            }
        }
    }
}
