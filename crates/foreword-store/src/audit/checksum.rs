//! A checksum of bytes that are kept in the database: finds damage, not intent.

/// How many bytes a checksum has.
pub(crate) const BYTES: usize = 8;

fn of(bytes: &[u8]) -> [u8; BYTES] {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| {
        let x = (sum ^ word).wrapping_mul(ODD);
        x ^ (x >> 29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    // Four sums side by side: a processor multiplies them at the same time.
    let mut sums = [1_u64, 2, 3, 4];
    let (fours, more) = words.as_chunks::<4>();
    for four in fours {
        for (sum, word) in sums.iter_mut().zip(four) {
            *sum = mix(*sum, u64::from_le_bytes(*word));
        }
    }
    let mut sum = bytes.len() as u64;
    for word in more {
        sum = mix(sum, u64::from_le_bytes(*word));
    }
    for byte in rest {
        sum = mix(sum, u64::from(*byte));
    }
    sums.into_iter().fold(sum, mix).to_le_bytes()
}

/// Puts the checksum behind the bytes.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = of(&bytes);
    bytes.extend_from_slice(&sum);
    bytes
}

/// The bytes without their checksum, if it fits.
pub(crate) fn open(sealed: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = sealed.split_last_chunk::<BYTES>()?;
    (of(bytes) == *sum).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_changed_byte_is_found() {
        let bytes: Vec<u8> = (0..=200).collect();
        let sealed = seal(bytes.clone());
        assert_eq!(open(&sealed), Some(&bytes[..]));
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(open(&changed), None, "{place}");
            assert_eq!(open(&sealed[..place]), None, "{place}");
        }
        assert_eq!(open(b"short"), None);
    }
}
