//! Addresses for payments that a program puts in the place of those it was given.

use super::Machine;
use crate::screen::code::effect::Act;
use crate::screen::code::ir::{Expr, Function, Stmt};
use crate::screen::code::value::{Origin, Value};

/// Parts of names that say who gets paid.
const PAYEES: [&str; 9] = [
    "iban",
    "recipient",
    "payee",
    "payout",
    "receiver",
    "beneficiary",
    "deposit",
    "dest",
    "account",
];

impl Machine<'_> {
    /// A name that held what the user gave gets an address that stands in the program.
    pub(super) fn note_payee(&mut self, name: &str, value: &Value) {
        let Some(address) = value.constant().filter(|text| is_payment_address(text)) else {
            return;
        };
        if self.lookup(name).is_none_or(|before| before.constant().is_some()) {
            return;
        }
        let lower = name.to_ascii_lowercase();
        if value.disguised || PAYEES.iter().any(|part| lower.contains(part)) {
            let address = address.to_owned();
            self.add_payee(&address, value.disguised);
        }
    }

    /// A function gives back what it is given, or else one of a list of addresses.
    pub(super) fn note_chooser(&mut self, function: &Function) {
        // What is returned is looked at once more: not in functions within functions.
        if !self.pays.contains(&self.file) || self.scopes.len() > 3 {
            return;
        }
        let is_given = |expr: &Expr| match expr {
            Expr::Name(name) => function.params.contains(name),
            Expr::Unknown(parts) => {
                matches!(parts.as_slice(), [Expr::Name(name)] if function.params.contains(name))
            }
            _ => false,
        };
        let returned = function.body.iter().filter_map(|statement| match statement {
            Stmt::Return(value) => Some(value),
            _ => None,
        });
        let (given, others): (Vec<&Expr>, Vec<&Expr>) = returned.partition(|value| is_given(value));
        if given.is_empty() {
            return;
        }
        for other in others.into_iter().take(4) {
            let value = self.value(other);
            let listed = value.alternatives().filter_map(|value| value.items.as_ref());
            let mut listed = listed.flat_map(|items| items.iter()).filter_map(Value::constant);
            let address = listed.find(|text| is_payment_address(text));
            if let Some(address) = address.map(str::to_owned) {
                self.add_payee(&address, true);
            }
        }
    }

    /// An address that a program puts together from pieces is there to be overlooked.
    pub(in crate::screen::code) fn note_pieces(&mut self, pieces: &[Value], whole: &Value) {
        let is_piece = |v: &Value| v.constant().is_some_and(|t| !is_payment_address(t));
        if (2..=16).contains(&pieces.len())
            && pieces.iter().all(is_piece)
            && let Some(address) = whole.constant().filter(|text| is_payment_address(text))
        {
            let address = address.to_owned();
            self.add_payee(&address, false);
        }
    }

    /// An address in a text is replaced by one that stands in the program.
    pub(in crate::screen::code) fn note_replacement(&mut self, args: &[Value], line: u32) {
        let texts = || args.iter().filter_map(Value::constant);
        let Some(address) = texts().find(|text| is_payment_address(text)) else { return };
        let address = address.to_owned();
        let seeks = texts().any(seeks_payment_addresses);
        let before = self.at_line.replace(self.at_line.unwrap_or(line));
        self.add_payee(&address, seeks);
        self.at_line = before;
    }

    fn add_payee(&mut self, address: &str, sure: bool) {
        let marks = match sure {
            true => self.mark(Origin::Decoded, "an address for payments", 0),
            false => Default::default(),
        };
        self.add(Act::Payee, address, marks, 0);
    }
}

/// Whether a program holds a pattern that finds addresses for payments.
pub(crate) fn seeks_payment_addresses(text: &str) -> bool {
    ["bc1[", "(bc1|", "[13][a-km-z", "0x[a-f", "0x[A-F", "0x[0-9a-f", "T[A-Za-z1-9]{33}"]
        .iter()
        .any(|pattern| text.contains(pattern))
}

/// A Bitcoin, Ethereum or Tron address, or the number of a bank account.
pub(crate) fn is_payment_address(word: &str) -> bool {
    if !(15..=62).contains(&word.len()) {
        return false;
    }
    let word = word.trim_matches(['"', '\'', ',']);
    let alphanumeric = word.bytes().all(|b| b.is_ascii_alphanumeric());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    alphanumeric
        && digits >= 4
        && (word.starts_with("bc1") && (26..=62).contains(&word.len())
            || word.starts_with("0x") && word.len() == 42
            || word.starts_with(['1', '3', 'T', 'L'])
                && (30..=35).contains(&word.len())
                && word.bytes().any(|b| b.is_ascii_lowercase())
                && word.bytes().any(|b| b.is_ascii_uppercase())
            || is_bank_account(word) && digits >= 10)
}

/// An IBAN: a country, two digits, the account.
fn is_bank_account(word: &str) -> bool {
    let country = word.bytes().take(2).all(|b| b.is_ascii_uppercase());
    let check = word.bytes().skip(2).take(2).all(|b| b.is_ascii_digit());
    let rest = word.bytes().skip(4).all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    country && check && rest && (15..=34).contains(&word.len())
}
