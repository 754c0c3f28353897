//! How numbers are written.

/// A number with a comma after every third digit.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count of tokens with its noun.
pub(crate) fn tokens(count: u64) -> String {
    if count == 1 { "1 token".to_owned() } else { format!("{} tokens", grouped(count)) }
}

/// A share in per cent, to a tenth.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", share(part, whole) * 100.0)
}

/// A share between 0 and 1.
#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
pub(crate) fn share(part: u64, whole: u64) -> f64 {
    (part as f64 / whole.max(1) as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let all = [0, 999, 1000, 12_345, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!([percent(1, 3), percent(0, 0), percent(9, 3)], ["33.3%", "0.0%", "100.0%"]);
    }
}
