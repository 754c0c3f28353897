//! The Content-Security-Policy of a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// Allows the page's one stylesheet and nothing else: no script, image, font, frame, form or request.
pub(crate) fn policy(style: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_style() {
        // The hash of the empty text, as FIPS 180-4 gives it.
        assert!(policy("").contains("'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"));
        assert_ne!(policy("a{}"), policy("b{}"));
    }
}
