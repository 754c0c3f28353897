//! Replaces secrets in a text that comes in pieces. What it gives out is the same however the text is
//! cut: whatever a format cannot decide yet is kept, and every format decides within a bounded stretch.

use crate::secrets::formats::{Trial, starts_one, trial};
use crate::secrets::pem::{self, Step};
use crate::secrets::shapes::{Class, Tail};
use crate::secrets::{MAX_REPORTED_SECRETS, Secret, SecretKind};

/// Given secrets that are shorter are passed over.
const MIN_GIVEN: usize = 8;

#[derive(Debug)]
pub(crate) struct Redactor {
    /// The longest first.
    given: Vec<String>,
    /// Text that is not decided yet.
    pending: String,
    /// Bytes of the text before it.
    at: usize,
    /// The last two of them.
    before: [u8; 2],
    inside: Option<Tail>,
    /// Whether the last byte was one of a line of data.
    in_line: bool,
    found: Vec<Secret>,
    /// Where the secret stands that is being replaced.
    open: Option<Secret>,
}

impl Redactor {
    pub(crate) fn new(given: &[&str]) -> Self {
        let long = given.iter().filter(|secret| secret.len() >= MIN_GIVEN);
        let mut given: Vec<String> = long.map(|secret| (*secret).to_owned()).collect();
        given.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self::of(given)
    }

    /// One for another text, with the same given secrets.
    pub(crate) fn fresh(&self) -> Self {
        Self::of(self.given.clone())
    }

    fn of(given: Vec<String>) -> Self {
        Self {
            given,
            pending: String::new(),
            at: 0,
            before: [b'\n'; 2],
            inside: None,
            in_line: false,
            found: Vec::new(),
            open: None,
        }
    }

    /// Takes a piece of text and writes the part that is decided.
    pub(crate) fn push(&mut self, chunk: &str, out: &mut String) {
        if self.pending.is_empty() {
            let done = self.work(chunk, false, out);
            self.pending.push_str(chunk.get(done..).unwrap_or_default());
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.push_str(chunk);
        let done = self.work(&pending, false, out);
        self.pending = pending.get(done..).unwrap_or_default().to_owned();
    }

    /// Writes the rest; all that was replaced.
    pub(crate) fn finish(mut self, out: &mut String) -> Vec<Secret> {
        let pending = std::mem::take(&mut self.pending);
        self.work(&pending, true, out);
        self.close();
        self.found
    }

    /// How much text is not decided yet.
    pub(crate) fn pending_bytes(&self) -> usize {
        self.pending.len()
    }

    /// Processes a text as far as it can be decided; returns how far.
    fn work(&mut self, text: &str, last: bool, out: &mut String) -> usize {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            if let Some(tail) = self.inside {
                let Some((length, over)) = self.go_on(tail, rest, last) else { break };
                self.swallow(rest, length);
                at += length;
                if over {
                    self.inside = None;
                    self.close();
                }
                continue;
            }
            let plain = rest.iter().take_while(|b| !self.may_start(**b)).count();
            if plain > 0 {
                out.push_str(text.get(at..at + plain).unwrap_or_default());
                self.pass(rest, plain);
                at += plain;
                continue;
            }
            match self.given(rest, last) {
                Trial::None => match trial(rest, self.before, last) {
                    Trial::None => {
                        // A first byte is ASCII or starts a character of a given secret.
                        let length = text.get(at..).and_then(|rest| rest.chars().next());
                        let length = length.map_or(1, char::len_utf8);
                        out.push_str(text.get(at..at + length).unwrap_or_default());
                        self.pass(rest, length);
                        at += length;
                    }
                    Trial::More => break,
                    found => at += self.replace(found, text, at, out),
                },
                Trial::More => break,
                found => at += self.replace(found, text, at, out),
            }
        }
        at
    }

    fn may_start(&self, b: u8) -> bool {
        starts_one(b) || self.given.iter().any(|secret| secret.as_bytes().first() == Some(&b))
    }

    fn given(&self, rest: &[u8], last: bool) -> Trial {
        let mut waits = false;
        for secret in &self.given {
            if rest.starts_with(secret.as_bytes()) {
                let (kind, length) = (SecretKind::Given, secret.len());
                // A longer one that is not decided yet comes first.
                let found = Trial::Found { kind, lead: 0, length, tail: Tail::Ends };
                return if waits { Trial::More } else { found };
            }
            waits |= !last && secret.as_bytes().starts_with(rest);
        }
        if waits { Trial::More } else { Trial::None }
    }

    /// Writes a note in the place of a secret; how many bytes were worked through.
    fn replace(&mut self, found: Trial, text: &str, at: usize, out: &mut String) -> usize {
        let Trial::Found { kind, lead, length, tail } = found else { return 1 };
        let found = text.get(at..at + lead + length).unwrap_or_default();
        let start = self.write_lead(found, lead, out);
        self.note(kind, out);
        self.swallow(found.as_bytes().get(start..).unwrap_or_default(), lead + length - start);
        if tail == Tail::Ends {
            self.close();
        } else {
            self.inside = Some(tail);
            self.in_line = true;
        }
        lead + length
    }

    /// Writes what stands before a secret, such as the user of a URL with a password, without the given
    /// secrets in it; where the secret starts. One that runs on into the secret is a part of it.
    fn write_lead(&mut self, found: &str, lead: usize, out: &mut String) -> usize {
        let mut at = 0;
        while at < lead {
            let rest = found.get(at..).unwrap_or_default();
            let given = self
                .given
                .iter()
                .find(|secret| rest.starts_with(secret.as_str()) || secret.starts_with(rest));
            let length = match given {
                Some(secret) if at + secret.len() <= lead => {
                    let length = secret.len();
                    self.note(SecretKind::Given, out);
                    self.swallow(rest.as_bytes(), length);
                    self.close();
                    length
                }
                Some(_) => break,
                None => {
                    let next = rest.chars().next();
                    out.extend(next);
                    let length = next.map_or(1, char::len_utf8);
                    self.pass(rest.as_bytes(), length);
                    length
                }
            };
            at += length;
        }
        at
    }

    fn note(&mut self, kind: SecretKind, out: &mut String) {
        out.push_str("[redacted: ");
        out.push_str(kind.as_str());
        out.push(']');
        self.open = Some(Secret { kind, range: self.at..self.at });
    }

    /// How many more bytes belong to the secret, and whether it is complete; `None` if unknown.
    fn go_on(&mut self, tail: Tail, rest: &[u8], last: bool) -> Option<(usize, bool)> {
        let run = |class: Class| rest.iter().take_while(|b| class.has(**b)).count();
        match tail {
            Tail::Ends => Some((0, true)),
            Tail::While(class) => {
                let length = run(class);
                Some((length, length < rest.len()))
            }
            Tail::Dotted(class) => {
                let length = run(class);
                if length > 0 {
                    return Some((length, false));
                }
                match rest {
                    [b'.', next, ..] if class.has(*next) => Some((1, false)),
                    [b'.'] if !last => None,
                    _ => Some((0, true)),
                }
            }
            Tail::Pem => match pem::step(rest, self.in_line, last) {
                Step::On(length) => {
                    self.in_line = true;
                    Some((length, false))
                }
                Step::Over(length) => Some((length, true)),
                Step::More => None,
            },
        }
    }

    /// Counts processed bytes.
    fn pass(&mut self, rest: &[u8], length: usize) {
        self.at += length;
        match rest.get(..length) {
            Some([.., earlier, before]) => self.before = [*earlier, *before],
            Some([before]) => self.before = [self.before[1], *before],
            _ => {}
        }
    }

    /// The same for bytes of a secret.
    fn swallow(&mut self, rest: &[u8], length: usize) {
        self.pass(rest, length);
        if let Some(open) = &mut self.open {
            open.range.end = self.at;
        }
    }

    fn close(&mut self) {
        let noted = self.found.len() < MAX_REPORTED_SECRETS;
        self.found.extend(self.open.take().filter(|_| noted));
    }
}
