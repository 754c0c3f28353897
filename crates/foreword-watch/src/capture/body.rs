//! A body as it is stored: whole, or as the difference to the body of an earlier call.
//!
//! Every call of a conversation repeats all that was said before. Stored whole, the bodies of a long session
//! would take its length squared.

use serde::{Deserialize, Serialize};

use crate::analysis::compare::common_prefix;

/// A body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredBody {
    /// Bytes as they were sent.
    pub(super) length: u64,
    /// The text, or what lies between the shared ends.
    pub(super) text: String,
    /// The call whose body it shares its ends with, and how many bytes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shared: Option<Shared>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shared {
    pub(super) call: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Sharing less is not worth it.
const MIN_SHARED: usize = 512;

impl StoredBody {
    pub(super) fn whole(text: String, length: u64) -> Self {
        Self { length, text, shared: None }
    }

    /// The difference to an earlier body.
    pub(super) fn after(text: &str, length: u64, call: usize, earlier: &str) -> Self {
        let start = common_prefix(earlier, text);
        let rest = |body: &str| body.get(start..).unwrap_or_default().to_owned();
        let (old, new) = (rest(earlier), rest(text));
        let end = common_suffix(&old, &new);
        if start + end < MIN_SHARED {
            return Self::whole(text.to_owned(), length);
        }
        let middle = new.get(..new.len() - end).unwrap_or_default().to_owned();
        Self { length, text: middle, shared: Some(Shared { call, start, end }) }
    }

    /// The whole text; `None` if the earlier body does not fit.
    pub(super) fn restore<'e>(&self, earlier: impl Fn(usize) -> Option<&'e str>) -> Option<String> {
        let Some(Shared { call, start, end }) = self.shared else { return Some(self.text.clone()) };
        let earlier = earlier(call)?;
        let head = earlier.get(..start)?;
        let tail = earlier.get(earlier.len().checked_sub(end)?..)?;
        Some([head, &self.text, tail].concat())
    }
}

fn common_suffix(one: &str, other: &str) -> usize {
    let same = one.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other);
    let mut count = same.count();
    while count > 0
        && !(one.is_char_boundary(one.len() - count) && other.is_char_boundary(other.len() - count))
    {
        count -= 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_restores_the_body() {
        let long = "é".repeat(600);
        let earlier = format!("{{\"messages\":[{long}],\"system\":\"{long}\"}}");
        for later in [
            format!("{{\"messages\":[{long},more],\"system\":\"{long}\"}}"),
            earlier.clone(),
            format!("{long}{long}"),
            earlier.replace('é', "è"),
            String::new(),
            format!("{earlier}{earlier}"),
        ] {
            let stored = StoredBody::after(&later, 0, 3, &earlier);
            let restored = stored.restore(|call| (call == 3).then_some(earlier.as_str()));
            assert_eq!(restored.as_deref(), Some(later.as_str()));
        }
        let stored = StoredBody::after(&format!("{earlier}!"), 0, 3, &earlier);
        assert!(stored.text.len() < 10, "{}", stored.text.len());
        assert_eq!(stored.restore(|_| None), None);
        assert_eq!(stored.restore(|_| Some("short")), None);
    }
}
