//! Placeholder, replaced by the script-aware estimate.
#![allow(missing_docs)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    bytes: u64,
}
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    bytes: u64,
}
impl Measured {
    pub fn of(text: &str) -> Self {
        Self { bytes: text.len() as u64 }
    }
}
impl Meter {
    pub fn new() -> Self {
        Self::default()
    }
    pub fn feed(&mut self, text: &str) {
        self.bytes += text.len() as u64;
    }
    pub fn absorb(&mut self, m: &Measured) {
        self.bytes += m.bytes;
    }
    pub fn tokens(&self) -> u32 {
        u32::try_from(self.bytes.div_ceil(4)).unwrap_or(u32::MAX)
    }
}
pub fn estimate(text: &str) -> u32 {
    let mut m = Meter::new();
    m.feed(text);
    m.tokens()
}
