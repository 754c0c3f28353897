//! Writes a trie in the layout that [`crate::tokenizer::double_array`] reads.

use std::collections::BTreeMap;

/// How many slots are looked at together; also the size of a block, so that `position ^ label` of
/// any node stays inside the array.
const BLOCK: usize = 256;

/// Why a trie cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// A key is empty or holds a zero byte, which marks values.
    Key,
    /// The array grew past what offsets can hold.
    Size,
}

#[derive(Debug, Default)]
struct Node {
    value: Option<u32>,
    /// Labels and numbers of the children, in order of label.
    children: Vec<(u8, usize)>,
}

/// The units of a trie with these keys, as bytes.
pub(crate) fn build(keys: &BTreeMap<&[u8], u32>) -> Result<Vec<u8>, Unwritable> {
    let nodes = nodes(keys)?;
    let mut slots = Slots::default();
    slots.take(0);
    let mut position = vec![0_usize; nodes.len()];
    let mut units: Vec<u32> = Vec::new();
    // Parents are numbered before their children, so a node's position is known when it comes.
    for (number, node) in nodes.iter().enumerate() {
        let labels: Vec<u8> = (node.value.is_some().then_some(0).into_iter())
            .chain(node.children.iter().map(|(label, _)| *label))
            .collect();
        if labels.is_empty() {
            continue;
        }
        let base = slots.place(&labels);
        let here = position.get(number).copied().unwrap_or_default();
        let offset = u32::try_from(base ^ here).map_err(|_| Unwritable::Size)?;
        if offset >= 1 << 21 {
            return Err(Unwritable::Size);
        }
        let has_value = u32::from(node.value.is_some()) << 8;
        write(&mut units, here, offset << 10 | has_value);
        if let Some(value) = node.value {
            write(&mut units, base, 0x8000_0000 | value);
        }
        for (label, child) in &node.children {
            let place = base ^ usize::from(*label);
            write(&mut units, place, u32::from(*label));
            if let Some(slot) = position.get_mut(*child) {
                *slot = place;
            }
        }
    }
    units.resize(units.len().next_multiple_of(BLOCK), 0);
    Ok(units.iter().flat_map(|unit| unit.to_le_bytes()).collect())
}

fn nodes(keys: &BTreeMap<&[u8], u32>) -> Result<Vec<Node>, Unwritable> {
    let mut nodes = vec![Node::default()];
    // The path of the key before: keys come in order, so only its end changes.
    let mut path: Vec<(u8, usize)> = Vec::new();
    for (key, value) in keys {
        if key.is_empty() || key.contains(&0) || *value >> 31 != 0 {
            return Err(Unwritable::Key);
        }
        let shared = path.iter().zip(*key).take_while(|((label, _), byte)| label == *byte).count();
        path.truncate(shared);
        for byte in key.iter().skip(shared) {
            let child = nodes.len();
            let parent = path.last().map_or(0, |(_, node)| *node);
            nodes.push(Node::default());
            if let Some(parent) = nodes.get_mut(parent) {
                parent.children.push((*byte, child));
            }
            path.push((*byte, child));
        }
        if let Some(node) = path.last().and_then(|(_, node)| nodes.get_mut(*node)) {
            node.value = Some(*value);
        }
    }
    Ok(nodes)
}

fn write(units: &mut Vec<u32>, place: usize, bits: u32) {
    if units.len() <= place {
        units.resize((place + 1).next_multiple_of(BLOCK), 0);
    }
    if let Some(unit) = units.get_mut(place) {
        *unit |= bits;
    }
}

/// Which slots and bases are taken.
#[derive(Debug, Default)]
struct Slots {
    taken: Vec<bool>,
    based: Vec<bool>,
    /// No slot before this one is worth looking at.
    low: usize,
    misses: usize,
}

impl Slots {
    fn take(&mut self, place: usize) {
        if self.taken.len() <= place {
            self.taken.resize((place + 1).next_multiple_of(BLOCK), false);
        }
        if let Some(slot) = self.taken.get_mut(place) {
            *slot = true;
        }
    }

    fn is_free(&self, place: usize) -> bool {
        !self.taken.get(place).copied().unwrap_or(false)
    }

    /// A base whose slots for these labels are free and that no other node has; takes them.
    fn place(&mut self, labels: &[u8]) -> usize {
        let first = labels.first().copied().map_or(0, usize::from);
        let mut slot = self.low;
        let base = loop {
            let base = slot ^ first;
            if self.is_free(slot)
                && !self.based.get(base).copied().unwrap_or(false)
                && labels.iter().all(|label| self.is_free(base ^ usize::from(*label)))
            {
                break base;
            }
            slot += 1;
            self.misses += 1;
            if self.misses > 64 * BLOCK {
                // The lowest block is nearly full: the rest of it is not worth the search.
                self.low += BLOCK / 4;
                self.misses = 0;
            }
        };
        for label in labels {
            self.take(base ^ usize::from(*label));
        }
        if self.based.len() <= base {
            self.based.resize((base + 1).next_multiple_of(BLOCK), false);
        }
        if let Some(used) = self.based.get_mut(base) {
            *used = true;
        }
        base
    }
}
