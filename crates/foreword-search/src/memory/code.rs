//! A vector in one byte a dimension, as it is stored.

/// The bytes of a vector: its largest number becomes 127.
///
/// The length of the vector is lost, and not needed: it was one.
pub(crate) fn encode(values: &[f32]) -> Vec<u8> {
    let most = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let scale = if most > 0.0 { 127.0 / most } else { 0.0 };
    values.iter().map(|x| ((x * scale).round() as i8).cast_unsigned()).collect()
}

/// The numbers of a vector; not of length one.
pub(crate) fn decode(code: &[u8]) -> Vec<f32> {
    code.iter().map(|byte| f32::from(byte.cast_signed())).collect()
}

/// A question as whole numbers, for many comparisons.
#[derive(Debug)]
pub(crate) struct Probe {
    codes: Vec<i16>,
    length: f32,
}

impl Probe {
    pub(crate) fn new(values: &[f32]) -> Self {
        // Finer than the stored codes; the products of both still fit 32 bits.
        let most = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let scale = if most > 0.0 { 2047.0 / most } else { 0.0 };
        let codes: Vec<i16> = values.iter().map(|x| (x * scale).round() as i16).collect();
        let length = codes.iter().map(|x| f32::from(*x) * f32::from(*x)).sum::<f32>().sqrt();
        Self { codes, length }
    }

    /// How many numbers it has.
    pub(crate) fn dims(&self) -> usize {
        self.codes.len()
    }

    /// The cosine with a stored vector; 0 where one of them is zero.
    pub(crate) fn cosine(&self, code: &[u8]) -> f32 {
        let (mut dot, mut square) = (0_i32, 0_i32);
        for (x, byte) in self.codes.iter().zip(code) {
            let y = i32::from(byte.cast_signed());
            dot += i32::from(*x) * y;
            square += y * y;
        }
        let lengths = self.length * (square as f32).sqrt();
        if lengths > 0.0 { dot as f32 / lengths } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_a_dimension_keeps_the_cosine() {
        let a: Vec<f32> = (0..256).map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let b: Vec<f32> = (0..256).map(|i| ((i * 53 % 97) as f32 - 40.0) / 60.0).collect();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let exact = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
        let stored = Probe::new(&a).cosine(&encode(&b));
        assert!((exact - stored).abs() < 0.005, "{exact} {stored}");
        assert!((Probe::new(&a).cosine(&encode(&a)) - 1.0).abs() < 0.001);
        assert_eq!(Probe::new(&a).cosine(&encode(&[0.0; 256])), 0.0);
        assert_eq!(decode(&encode(&[0.5, -1.0])), [64.0, -127.0]);
    }
}
