//! Writes small static tables for tests, so that none of them needs the real one.

use std::collections::BTreeMap;

use crate::tokenizer::double_array_build::build;

/// What goes into a table.
pub(crate) struct Recipe<'a> {
    pub(crate) dims: usize,
    pub(crate) bits: u32,
    /// Pieces with their scores and codes; piece 0 is added in front.
    pub(crate) pieces: &'a [(&'a str, f32, Vec<u8>)],
    /// What the normaliser replaces.
    pub(crate) map: &'a [(&'a str, &'a str)],
}

impl Recipe<'_> {
    /// The table: levels are -1 to 1 in even steps, every scale and gain is 1.
    pub(crate) fn write(&self) -> Vec<u8> {
        let keys = self.pieces.iter().map(|(name, ..)| name.as_bytes()).zip(1..).collect();
        let low = self.pieces.iter().map(|(_, score, _)| *score).fold(0.0, f32::min);
        let step = -low / 65535.0;
        let scores = self.pieces.iter().map(|(_, score, _)| ((score - low) / step) as u16);
        let mut replacements = Vec::new();
        let mut map: BTreeMap<&[u8], u32> = BTreeMap::new();
        for (from, to) in self.map {
            map.insert(from.as_bytes(), replacements.len() as u32);
            replacements.extend_from_slice(to.as_bytes());
            replacements.push(0);
        }
        let count = 1 << self.bits;
        let levels = (0..count).map(|i| 2.0 * i as f32 / (count - 1) as f32 - 1.0);
        let blank = vec![0; self.dims];
        let rows = std::iter::once(&blank).chain(self.pieces.iter().map(|(.., codes)| codes));
        let sections = [
            build(&keys).unwrap(),
            std::iter::once(0).chain(scores).flat_map(u16::to_le_bytes).collect(),
            build(&map).unwrap(),
            replacements,
            levels.flat_map(f32::to_le_bytes).collect(),
            std::iter::repeat_n(1.0_f32.to_le_bytes(), self.dims).flatten().collect(),
            std::iter::repeat_n(0x3C00_u16.to_le_bytes(), self.pieces.len() + 1)
                .flatten()
                .collect(),
            rows.flat_map(|row| pack(row, self.bits)).collect::<Vec<u8>>(),
        ];
        let mut body = Vec::new();
        let mut directory = Vec::new();
        for section in sections {
            body.resize(body.len().next_multiple_of(64), 0);
            directory.extend_from_slice(&(192 + body.len() as u32).to_le_bytes());
            directory.extend_from_slice(&(section.len() as u32).to_le_bytes());
            body.extend(section);
        }
        let mut file = b"FWSTATIC".to_vec();
        for number in [1, self.dims as u32, self.pieces.len() as u32 + 1, self.bits] {
            file.extend_from_slice(&number.to_le_bytes());
        }
        file.extend_from_slice(&low.to_le_bytes());
        file.extend_from_slice(&step.to_le_bytes());
        file.extend_from_slice(&48_u32.to_le_bytes());
        file.extend_from_slice(&192_u32.to_le_bytes());
        file.extend_from_slice(blake3::hash(&body).as_bytes());
        file.extend(directory);
        file.resize(192, 0);
        file.extend(body);
        file
    }
}

fn pack(codes: &[u8], bits: u32) -> Vec<u8> {
    let mut row = vec![0; (codes.len() * bits as usize).div_ceil(8)];
    for (place, code) in codes.iter().enumerate() {
        for bit in 0..bits as usize {
            let at = place * bits as usize + bit;
            row[at / 8] |= (code >> bit & 1) << (at % 8);
        }
    }
    row
}
